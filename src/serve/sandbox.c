#include "serve/sandbox.h"

#include "store/store.h"

#include <stdio.h>

#if defined(__linux__) && !defined(SPINE_NO_FENCES)

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void add(char *ret, const char *fence)
{
	size_t n = strlen(ret);

	snprintf(ret + n, SANDBOX_FENCES_SIZE - n, "%s%s", n ? " " : "", fence);
}

/* --- Landlock: files --- */

/* Headers are often older than the kernel. */
#ifndef LANDLOCK_ACCESS_FS_REFER
#define LANDLOCK_ACCESS_FS_REFER (1ULL << 13)
#endif
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif

#define READS (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITES \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE | LANDLOCK_ACCESS_FS_REFER | \
	 LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE | \
	 LANDLOCK_ACCESS_FS_REMOVE_DIR)
/* What a file can have; the rest is for directories only. */
#define OF_A_FILE (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE)

/* Read while it serves. Directories, because files in them are replaced by others of the same name, and a rule is about
 * the file that is there now. What is not on this machine is left out. */
static const char *const readable[] = {
	"/etc",						/* names of hosts, certificates of authorities, the time zone */
	"/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager",	/* where resolv.conf may lead to */
	"/usr/share/ca-certificates", "/usr/local/share/ca-certificates", "/usr/share/pki", "/var/lib/ca-certificates",
	"/usr/share/zoneinfo",
	"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/nix/store",	/* what the C library loads */
	"/proc",					/* the boot's name, and its own memory */
	"/sys/devices/system/cpu",			/* how many there are, for malloc */
	"/dev/urandom", "/dev/random",
};

/* Of these versions of Landlock on, the kernel can forbid it. */
static unsigned long long handled(long abi)
{
	unsigned long long all = LANDLOCK_ACCESS_FS_MAKE_SYM * 2 - 1;	/* version 1: all bits up to this one */

	if (abi >= 2)
		all |= LANDLOCK_ACCESS_FS_REFER;
	if (abi >= 3)
		all |= LANDLOCK_ACCESS_FS_TRUNCATE;
	return all;
}

static bool allow(int rules, const char *path, unsigned long long access)
{
	struct landlock_path_beneath_attr rule = {.allowed_access = access};
	struct stat st;
	bool is_added;

	rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
	if (rule.parent_fd < 0)
		return false;
	if (fstat(rule.parent_fd, &st) == 0 && !S_ISDIR(st.st_mode))
		rule.allowed_access &= OF_A_FILE;
	is_added = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
	close(rule.parent_fd);
	return is_added;
}

/* The directory of a file, so that a new one in its place can be read; only the file where that would be everything. */
static void allow_beside(int rules, const char *file)
{
	char path[PATH_MAX];
	char *slash;

	if (snprintf(path, sizeof(path), "%s", file) >= (int)sizeof(path))
		return;
	slash = strrchr(path, '/');
	if (slash == path) {
		allow(rules, file, READS);
		return;
	}
	if (slash)
		*slash = '\0';
	allow(rules, slash ? path : ".", READS);
}

/* Also where a link leads to. */
static void allow_file(int rules, const char *file)
{
	char whole[PATH_MAX];

	allow_beside(rules, file);
	if (realpath(file, whole))
		allow_beside(rules, whole);
}

/* Of a file in the user's home only that one: everything else of the user is beside it. */
static void allow_of_store(const char *path, void *arg)
{
	const char *home = getenv("HOME"), *slash = strrchr(path, '/');
	size_t n = home ? strlen(home) : 0;
	int rules = *(int *)arg;

	if (n && slash == path + n && strncmp(path, home, n) == 0)
		allow(rules, path, READS);
	else
		allow_file(rules, path);
}

static bool fence_files(const struct sandbox_config *config, long abi)
{
	struct landlock_ruleset_attr attr = {.handled_access_fs = handled(abi)};
	int rules = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr.handled_access_fs), 0), error;
	bool is_up;

	if (rules < 0)
		return false;
	for (size_t i = 0; i < sizeof(readable) / sizeof(readable[0]); i++)
		allow(rules, readable[i], READS);
	allow(rules, "/dev/null", (READS | LANDLOCK_ACCESS_FS_WRITE_FILE));
	for (size_t i = 0; i < SANDBOX_FILES_MAX; i++)
		if (config->files[i])
			allow_file(rules, config->files[i]);
	if (config->store)
		store_files(config->store, allow_of_store, &rules);
	is_up = allow(rules, config->data_dir, (READS | WRITES) & attr.handled_access_fs) &&
		syscall(SYS_landlock_restrict_self, rules, 0) == 0;
	error = errno;
	close(rules);
	errno = error;
	return is_up;
}

static void enter_landlock(const struct sandbox_config *config, const struct log *log, char *ret)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	if (abi < 1)
		log_write(log, LOG_INFO, "no Landlock here: the server could open every file that its user can",
			  LOG_STR("error", strerror(errno)));
	else if (fence_files(config, abi))
		add(ret, "landlock");
	else
		log_write(log, LOG_WARN, "Landlock could not be set up: the server could open every file that its user "
			  "can", LOG_STR("error", strerror(errno)));
}

/* --- seccomp: calls of the system --- */

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCH AUDIT_ARCH_RISCV64
#endif

#ifdef ARCH

#define REFUSE BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
/* Equal: the next line, which refuses. Otherwise the one behind it. */
#define DENY(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), REFUSE

/* The server never calls these. What is denied fails as if the user were not allowed to. */
static const struct sock_filter denied[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0),
	REFUSE,		/* numbers of another architecture mean something else */
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#ifdef __x86_64__
	BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),	/* x32: the same calls by other numbers */
	REFUSE,
#endif
	/* other programs, other processes */
	DENY(SYS_execve), DENY(SYS_execveat), DENY(SYS_ptrace), DENY(SYS_process_vm_readv), DENY(SYS_process_vm_writev),
	/* another view of the system */
	DENY(SYS_mount), DENY(SYS_umount2), DENY(SYS_pivot_root), DENY(SYS_chroot), DENY(SYS_unshare), DENY(SYS_setns),
	DENY(SYS_move_mount), DENY(SYS_open_by_handle_at),
	/* the kernel itself */
	DENY(SYS_kexec_load), DENY(SYS_init_module), DENY(SYS_finit_module), DENY(SYS_delete_module), DENY(SYS_reboot),
	DENY(SYS_bpf), DENY(SYS_perf_event_open), DENY(SYS_userfaultfd),
	DENY(SYS_add_key), DENY(SYS_request_key), DENY(SYS_keyctl),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

static void enter_seccomp(const struct log *log, char *ret)
{
	struct sock_fprog program = {
		.len = sizeof(denied) / sizeof(denied[0]), .filter = (struct sock_filter *)denied,
	};

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0)
		add(ret, "seccomp");
	else
		log_write(log, LOG_INFO, "no seccomp here: the server could start programs",
			  LOG_STR("error", strerror(errno)));
}

#else

static void enter_seccomp(const struct log *log, char *ret)
{
	(void)ret;
	log_write(log, LOG_INFO, "no seccomp here: its calls are not known for this architecture");
}

#endif

void sandbox_enter(const struct sandbox_config *config, const struct log *log, char ret[SANDBOX_FENCES_SIZE])
{
	ret[0] = '\0';
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {	/* Linux before 3.5; the others need it */
		log_write(log, LOG_INFO, "no fences here: the kernel knows none");
	} else {
		add(ret, "no_new_privs");
		enter_landlock(config, log, ret);
		enter_seccomp(log, ret);
	}
	if (ret[0] == '\0')
		add(ret, "none");
}

#else

void sandbox_enter(const struct sandbox_config *config, const struct log *log, char ret[SANDBOX_FENCES_SIZE])
{
	(void)config;
	snprintf(ret, SANDBOX_FENCES_SIZE, "none");
	log_write(log, LOG_INFO, "no fences here: this system or this build has none");
}

#endif
