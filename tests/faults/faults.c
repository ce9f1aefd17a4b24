/* Faults at every call: the day of a store (tests/power/workload.h) is played again and again, and each time another
 * call of the C library fails, once or from then on. What was acknowledged is there afterwards, what was refused is
 * not, nothing is half there, and nobody waits for ever.
 *
 *   faults                                   some of the calls, chosen by the seed 1
 *   faults --calls N --seed N                at most so many calls of each kind
 *   faults --calls 0                         all of them
 *   faults --fault NAME --at N [--stays 1]   one, exactly as it was
 *
 * Each play is a process of its own. Ends with "N passed, N failed", and exits with 1 where something failed.
 */
#include "injector.h"

#include "power/workload.h"
#include "sim/random.h"
#include "store/embedded.h"

#include <errno.h>
#include <execinfo.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STATES_MAX = 1024, HANG_S = 30, FAILURES_MAX = 12 };

/* What must come of it. */
enum outcome {
	GOES_ON,	/* nobody notices */
	REFUSES,	/* operations may be refused, or the store cannot be opened, which it says */
	STOPS,		/* the process may end, and says why */
};

struct fault {
	const char *name;
	enum call_kind kind;
	int error;
	enum outcome outcome;
	bool may_stay;		/* it is also tried for good */
};

static const struct fault fault_list[] = {
	{"write-full", CALL_WRITE, ENOSPC, REFUSES, true},
	{"write-error", CALL_WRITE, EIO, REFUSES, true},
	{"write-short", CALL_WRITE, 0, GOES_ON, true},
	{"write-interrupted", CALL_WRITE, EINTR, GOES_ON, false},
	{"sync-error", CALL_SYNC, EIO, REFUSES, true},
	{"truncate-error", CALL_TRUNCATE, EIO, REFUSES, true},
	{"truncate-interrupted", CALL_TRUNCATE, EINTR, GOES_ON, false},
	{"open-too-many", CALL_OPEN, EMFILE, REFUSES, true},
	{"open-interrupted", CALL_OPEN, EINTR, GOES_ON, false},
	{"read-error", CALL_READ, EIO, REFUSES, true},
	{"read-interrupted", CALL_READ, EINTR, GOES_ON, false},
	{"read-short", CALL_READ, 0, GOES_ON, true},
	{"name-error", CALL_NAME, EIO, REFUSES, true},
	{"name-full", CALL_NAME, ENOSPC, REFUSES, true},
	{"memory", CALL_MEMORY, ENOMEM, STOPS, false},
};
enum { FAULTS = sizeof(fault_list) / sizeof(fault_list[0]) };

/* What a play has to tell, in memory that it shares with whoever looks on. */
struct told {
	uint64_t calls, hits;
	uint64_t states[STATES_MAX];
	size_t state_count;
	uint64_t maybe;			/* the state that a restore was about to make; 0: none */
	uint64_t acked, refused;
	bool is_failed;			/* the store said so */
	bool is_over;			/* it was played to the end */
};

struct faults {
	char root[128], live[160], said[160];
	struct told clean;		/* without any fault */
	struct told *told;
	size_t passed, failed;
};

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void empty_directory(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	if (mkdir(path, 0700) != 0)
		workload_fail("cannot make %s", path);
}

/* --- A play, in a process of its own --- */

/* Whoever looks on is not disturbed. */
static uint64_t state_of(const char *file, bool is_open)
{
	uint64_t state;

	injector_pause(true);
	state = workload_state(file, is_open);
	injector_pause(false);
	return state;
}

static void note_state(struct workload *w)
{
	struct told *t = w->ctx;

	if (t->state_count == STATES_MAX)
		workload_fail("more than %d commits", STATES_MAX);
	t->states[t->state_count++] = state_of(w->file, w->engine != NULL);
	t->maybe = 0;
}

static void note_restore(struct workload *w)
{
	((struct told *)w->ctx)->maybe = state_of(w->backup, false);
}

/* For an end that nobody has explained. */
static void on_abort(int signal_number)
{
	void *frames[32];

	(void)signal_number;
	injector_disarm();
	backtrace_symbols_fd(frames, backtrace(frames, 32), STDERR_FILENO);
}

static void play(struct faults *f, const struct injection *i, bool may_fail)
{
	struct told *t = f->told;
	struct workload w;

	if (freopen(f->said, "w", stderr) == NULL)
		_exit(3);
	setvbuf(stderr, NULL, _IONBF, 0);
	signal(SIGABRT, on_abort);
	alarm(HANG_S);
	workload_init(&w, f->live);
	w.committed = note_state;
	w.restoring = note_restore;
	w.ctx = t;
	w.may_fail = may_fail;
	injector_arm(i, f->live);
	workload_play(&w);
	t->calls = injector_calls();
	t->hits = injector_hits();
	injector_disarm();
	t->acked = w.acked;
	t->refused = w.refused;
	t->is_over = true;
	_exit(0);
}

/* Returns how it ended, as waitpid says. */
static int play_apart(struct faults *f, const struct injection *i, bool may_fail)
{
	const struct rlimit none = {0, 0};
	int status = 0;
	pid_t pid;

	empty_directory(f->live);
	memset(f->told, 0, sizeof(*f->told));
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &none);
		play(f, i, may_fail);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		workload_fail("cannot start a process");
	return status;
}

/* --- Looking at what is left --- */

static void read_said(const struct faults *f, char *ret, size_t size)
{
	FILE *file = fopen(f->said, "r");
	size_t n = file ? fread(ret, 1, size - 1, file) : 0;

	ret[n] = '\0';
	if (file)
		fclose(file);
}

/* The last commit that succeeded; or the one that was under way, where the store could not say what became of it. */
static bool may_be(const struct faults *f, uint64_t state)
{
	const struct told *t = f->told, *clean = &f->clean;
	size_t n = t->state_count;

	if (n == 0)
		return state == clean->states[0];
	if (state == t->states[n - 1] || (t->maybe && state == t->maybe))
		return true;
	return n < clean->state_count && memcmp(t->states, clean->states, n * sizeof(t->states[0])) == 0 &&
	       state == clean->states[n];
}

/* NULL: all is well. */
static const char *look_at_store(const struct faults *f, struct buf *text)
{
	char dir[272], file[272];
	struct store_check result;
	struct store_conn *c;
	const char *wrong = NULL;
	uint64_t state;

	snprintf(dir, sizeof(dir), "%s/data", f->live);
	snprintf(file, sizeof(file), "%s/data/spine.db", f->live);
	c = store_open(dir, STORE_WRITE, text);
	if (c == NULL)
		return text->data;
	state = workload_state(file, true);
	if (state == 0)
		wrong = "the state cannot be read";
	else if (store_check(c, &result, text) != STORE_OK)
		wrong = "the store cannot be checked";
	else if (result.problems)
		wrong = text->data;
	else if (!may_be(f, state))
		wrong = "what was acknowledged is lost, or what was refused is there";
	store_close(c);
	return wrong;
}

static const char *judge(const struct faults *f, const struct fault *fault, int status, struct buf *text, char *said)
{
	bool said_so = strstr(said, "out of memory") != NULL;

	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		return "it hangs";
	if (WIFSIGNALED(status) && !(fault->outcome == STOPS && WTERMSIG(status) == SIGABRT && said_so)) {
		buf_printf(text, "it ended with signal %d: %s", WTERMSIG(status), said);
		return text->data;
	}
	if (!WIFSIGNALED(status) && !f->told->is_over)
		return "it ended without a word";
	if (fault->outcome == GOES_ON && f->told->is_over &&
	    (f->told->refused || f->told->state_count != f->clean.state_count))
		return "something was refused";
	return look_at_store(f, text);
}

static void try_fault(struct faults *f, const struct fault *fault, uint64_t at, bool stays)
{
	struct injection i = {.kind = fault->kind, .error = fault->error, .at = at, .stays = stays};
	int status = play_apart(f, &i, fault->outcome != GOES_ON);
	const char *wrong;
	struct buf text;
	char said[2048];

	buf_init(&text, 65536);
	read_said(f, said, sizeof(said));
	wrong = judge(f, fault, status, &text, said);
	if (wrong) {
		f->failed++;
		fprintf(stderr, "FAILED: %s. Again with: faults --fault %s --at %llu --stays %d\n", wrong, fault->name,
			(unsigned long long)at, stays);
	} else {
		f->passed++;
	}
	buf_release(&text);
	if (f->failed >= FAILURES_MAX) {
		printf("%zu passed, %zu failed\n", f->passed, f->failed);
		exit(1);
	}
}

/* --- All of them --- */

/* How many calls of that kind a day has. */
static uint64_t count_calls(struct faults *f, enum call_kind kind)
{
	struct injection i = {.kind = kind};
	int status = play_apart(f, &i, false);
	char said[2048];

	read_said(f, said, sizeof(said));
	if (status != 0 || !f->told->is_over)
		workload_fail("the day does not end well without a fault: %s", said);
	f->clean = *f->told;
	return f->told->calls;
}

/* Every call; or, where there are more than are wanted, one of each stretch, by chance. */
static void try_kind(struct faults *f, const struct fault *fault, uint64_t wanted, uint64_t *random)
{
	uint64_t calls = count_calls(f, fault->kind), count = wanted && wanted < calls ? wanted : calls;
	size_t before = f->failed;

	for (uint64_t n = 0; n < count; n++) {
		uint64_t from = n * calls / count, to = (n + 1) * calls / count;
		uint64_t at = from + 1 + (to - from > 1 ? random_below(random, to - from) : 0);

		try_fault(f, fault, at, false);
		if (fault->may_stay)
			try_fault(f, fault, at, true);
	}
	printf("%-22s %5llu calls, %4llu of them failed%s%s\n", fault->name, (unsigned long long)calls,
	       (unsigned long long)count, fault->may_stay ? ", once and for good" : ", once",
	       f->failed > before ? ": FAILED" : "");
}

struct choice {
	uint64_t calls, seed;
	const char *fault;
	uint64_t at;
	bool stays;
};

static bool read_choice(struct choice *c, int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i += 2) {
		unsigned long long n = strtoull(argv[i + 1], NULL, 10);

		if (strcmp(argv[i], "--calls") == 0)
			c->calls = n;
		else if (strcmp(argv[i], "--seed") == 0)
			c->seed = n;
		else if (strcmp(argv[i], "--fault") == 0)
			c->fault = argv[i + 1];
		else if (strcmp(argv[i], "--at") == 0)
			c->at = n;
		else if (strcmp(argv[i], "--stays") == 0)
			c->stays = n != 0;
		else
			return false;
	}
	return argc % 2 == 1;
}

static void run(struct faults *f, const struct choice *c)
{
	uint64_t random = c->seed;

	for (size_t i = 0; i < FAULTS; i++) {
		const struct fault *fault = &fault_list[i];

#ifdef __SANITIZE_ADDRESS__
		if (fault->kind == CALL_MEMORY)
			continue;	/* the sanitizer has the memory */
#endif
		if (c->fault && strcmp(c->fault, fault->name) != 0)
			continue;
		if (c->fault && c->at) {
			count_calls(f, fault->kind);
			try_fault(f, fault, c->at, c->stays);
		} else {
			try_kind(f, fault, c->calls, &random);
		}
	}
}

int main(int argc, char **argv)
{
	static struct faults f;
	struct choice choice = {.calls = 12, .seed = 1};
	const char *temp = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";

	if (!read_choice(&choice, argc, argv)) {
		fprintf(stderr, "usage: faults [--calls N] [--seed N] [--fault NAME --at N --stays 0|1]\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	f.told = mmap(NULL, sizeof(*f.told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	snprintf(f.root, sizeof(f.root), "%.64s/spine-faults-XXXXXX", temp);
	if (f.told == MAP_FAILED || mkdtemp(f.root) == NULL)
		workload_fail("no directory below %s", temp);
	snprintf(f.live, sizeof(f.live), "%s/live", f.root);
	snprintf(f.said, sizeof(f.said), "%s/said", f.root);
	run(&f, &choice);
	nftw(f.root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	printf("%zu passed, %zu failed\n", f.passed, f.failed);
	return f.failed ? 1 : 0;
}
