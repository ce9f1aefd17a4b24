/* The fences of the server, tried from within: each attempt is made in a process of its own, which is behind them. */
#include "serve/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char root[PATH_MAX], data[PATH_MAX + 8], outside[PATH_MAX + 8];

/* 0: it could be done; otherwise errno. */
typedef int attempt(void);

static int tried(bool could)
{
	return could ? 0 : errno;
}

static int open_in(const char *dir, int flags)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/file", dir);
	return tried(open(path, flags | O_CLOEXEC, 0600) >= 0);
}

static int write_data(void) { return open_in(data, O_RDWR | O_CREAT | O_TRUNC); }
static int read_outside(void) { return open_in(outside, O_RDONLY); }
static int write_outside(void) { return open_in(outside, O_WRONLY); }
static int read_names(void) { return tried(open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0); }
static int write_names(void) { return tried(open("/etc/passwd", O_WRONLY | O_CLOEXEC) >= 0); }
static int open_null(void) { return tried(open("/dev/null", O_RDWR | O_CLOEXEC) >= 0); }
static int list_root(void) { return tried(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) >= 0); }

static int run_program(void)
{
	return tried(execl("/bin/true", "true", (char *)NULL) == 0);
}

static int trace(void)
{
	return tried(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
}

static int mount_something(void)
{
	return tried(mount("none", data, "tmpfs", 0, NULL) == 0);
}

static void *read_in_thread(void *arg)
{
	*(int *)arg = read_outside();
	return NULL;
}

static int read_outside_in_a_thread(void)
{
	pthread_t thread;
	int result = -1;

	if (pthread_create(&thread, NULL, read_in_thread, &result) == 0)
		pthread_join(thread, NULL);
	return result;
}

/* What came of it in a child behind the fences; *ret_fences: which were up, as a bit each. */
static int try_it(attempt *run, bool *ret_landlock, bool *ret_seccomp)
{
	struct sandbox_config config = {.data_dir = data};
	char fences[SANDBOX_FENCES_SIZE];
	int status, ends[2];
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		sandbox_enter(&config, NULL, fences);
		(void)!write(ends[1], fences, sizeof(fences));
		_exit(run());
	}
	assert_int_equal(read(ends[0], fences, sizeof(fences)), sizeof(fences));
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	*ret_landlock = strstr(fences, "landlock") != NULL;
	*ret_seccomp = strstr(fences, "seccomp") != NULL;
	return WEXITSTATUS(status);
}

static void test_what_it_needs_can_be_opened(void **state)
{
	static attempt *const all[] = {write_data, read_names, open_null};
	bool files, calls;

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		assert_int_equal(try_it(all[i], &files, &calls), 0);
}

static void test_other_files_cannot_be_opened(void **state)
{
	static attempt *const all[] = {read_outside, write_outside, write_names, list_root, read_outside_in_a_thread};
	bool files, calls;

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		int result = try_it(all[i], &files, &calls);

		if (!files)
			skip();
		assert_int_equal(result, EACCES);
	}
}

static void test_no_program_is_started_and_no_process_looked_into(void **state)
{
	static attempt *const all[] = {run_program, trace, mount_something};
	bool files, calls;

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		int result = try_it(all[i], &files, &calls);

		if (!calls)
			skip();
		assert_int_equal(result, EPERM);
	}
}

static int set_up(void **state)
{
	const char *temp = getenv("TMPDIR");
	char file[PATH_MAX + 32];
	int fd;

	(void)state;
	snprintf(root, sizeof(root), "%s/sandbox-XXXXXX", temp ? temp : "/tmp");
	if (mkdtemp(root) == NULL)
		return -1;
	snprintf(data, sizeof(data), "%s/data", root);
	snprintf(outside, sizeof(outside), "%s/out", root);
	snprintf(file, sizeof(file), "%s/file", outside);
	if (mkdir(data, 0700) != 0 || mkdir(outside, 0700) != 0)
		return -1;
	fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
	char file[PATH_MAX + 32];

	(void)state;
	snprintf(file, sizeof(file), "%s/file", data);
	unlink(file);
	snprintf(file, sizeof(file), "%s/file", outside);
	unlink(file);
	return rmdir(data) | rmdir(outside) | rmdir(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_it_needs_can_be_opened),
		cmocka_unit_test(test_other_files_cannot_be_opened),
		cmocka_unit_test(test_no_program_is_started_and_no_process_looked_into),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
