/* Power cuts: a scripted day of a store is recorded at its files, and then the disk is rebuilt as a power cut at every
 * place may have left it. The store that is opened on it stands at the last commit that was acknowledged, or at the one
 * that was under way: as a whole, and with nothing wrong in it.
 *
 *   power                        a cut behind every write and sync, and 1,000 random ones
 *   power --cuts N               so many random ones
 *   power --seeds N --first N    so many rounds of random ones, each with a seed of its own
 *   power --day NAME --at N --seed N   one cut, exactly as it was; the files stay
 *
 * Ends with "N passed, N failed", and exits with 1 where something failed.
 */
#include "recorder.h"
#include "workload.h"

#include "base/mem.h"
#include "old_store.h"
#include "sim/random.h"
#include "store/embedded.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STATES_MAX = 4096, NESTED_CUTS = 8, FAILURES_MAX = 5 };

/* What is recorded. */
struct day {
	const char *name;
	bool (*prepare)(const char *root);	/* what is there before; NULL: nothing */
	void (*play)(struct workload *w);
	/* Of the random cuts so many in a thousand. */
	unsigned share;
	bool every;				/* a cut behind every record */
};

struct power {
	char root[128], live[160], scratch[160], again[160];
	const struct day *day;
	struct recording recording;
	size_t start;				/* what is before it was there */
	uint64_t states[STATES_MAX];
	size_t state_count;
	size_t passed, failed;
	bool keeps_files;
};

/* --- Files --- */

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

/* --- The recording --- */

static void note_state(struct workload *w)
{
	struct power *p = w->ctx;

	recorder_pause(true);
	if (p->state_count == STATES_MAX)
		workload_fail("more than %d commits", STATES_MAX);
	p->states[p->state_count] = workload_state(w->file, w->engine != NULL);
	if (p->states[p->state_count] == 0)
		workload_fail("the state cannot be read");
	recorder_pause(false);
	recorder_mark((int64_t)p->state_count++);
}

static void record_day(struct power *p, const struct day *day)
{
	struct workload w;

	p->day = day;
	p->state_count = 0;
	empty_directory(p->live);
	if (day->prepare && !day->prepare(p->live))
		workload_fail("%s: cannot be prepared", day->name);
	workload_init(&w, p->live);
	w.committed = note_state;
	w.ctx = p;
	recorder_begin(&p->recording, p->live);
	p->start = p->recording.count;
	day->play(&w);
	recorder_end();
	printf("%s: %zu writes, syncs and names, %llu commits, %llu operations acknowledged\n", day->name,
	       p->recording.count - p->start, (unsigned long long)w.commits, (unsigned long long)w.acked);
}

/* --- A cut --- */

static void complain(struct power *p, size_t at, uint64_t seed, const char *what)
{
	p->failed++;
	fprintf(stderr, "FAILED: %s. Again with: power --day %s --at %zu --seed %llu\n", what, p->day->name, at,
		(unsigned long long)seed);
	if (p->failed >= FAILURES_MAX) {
		printf("%zu passed, %zu failed\n", p->passed, p->failed);
		exit(1);
	}
}

/* Of the last commit that somebody was told of, and the one after it. */
static bool may_be(const struct power *p, size_t at, uint64_t state)
{
	size_t last = 0;

	for (size_t i = at; i > 0; i--) {
		const struct record *r = &p->recording.records[i - 1];

		if (r->kind == RECORD_MARK) {
			last = (size_t)r->at;
			break;
		}
	}
	return state == p->states[last] || (last + 1 < p->state_count && state == p->states[last + 1]);
}

/* NULL: nothing is wrong. */
static const char *look_at(struct store_conn *c, struct buf *problems)
{
	struct store_check result;

	if (store_check(c, &result, problems) != STORE_OK)
		return "the store cannot be checked";
	return result.problems ? problems->data : NULL;
}

/* The store goes on: what is written now is there. */
static const char *write_on(struct store_conn *c)
{
	int64_t space;

	if (store_begin(c) != STORE_OK || store_space_create(c, STR("after the cut"), 1, &space) != STORE_OK ||
	    store_commit(c) != STORE_OK)
		return "the store cannot be written any more";
	return store_space_find(c, STR("after the cut"), &space) == STORE_OK ? NULL : "what is written now is lost";
}

static void check_store(struct power *p, const char *directory, size_t at, uint64_t seed, bool writes)
{
	char dir[272], file[272], what[1024];
	struct buf text;
	struct store_conn *c;
	const char *wrong = NULL;
	uint64_t state = 0;

	snprintf(dir, sizeof(dir), "%s/data", directory);
	snprintf(file, sizeof(file), "%s/data/spine.db", directory);
	buf_init(&text, 65536);
	c = store_open(dir, STORE_WRITE, &text);
	if (c == NULL)
		wrong = text.data;
	if (c && (state = workload_state(file, true)) == 0)
		wrong = "the state cannot be read";
	if (c && wrong == NULL)
		wrong = look_at(c, &text);
	if (c && wrong == NULL && !may_be(p, at, state))
		wrong = "the store is at no commit, or an acknowledged one is lost";
	if (c && wrong == NULL && writes)
		wrong = write_on(c);
	snprintf(what, sizeof(what), "%s", wrong ? wrong : "");
	store_close(c);
	buf_release(&text);
	if (wrong)
		complain(p, at, seed, what);
	else
		p->passed++;
}

/* The power goes again, while the store is opened after the first cut. */
static void cut_again(struct power *p, size_t at, uint64_t seed)
{
	struct recording second;
	struct disk *disk;
	uint64_t random = seed + 1;
	char dir[272];
	struct buf error;
	size_t start;

	snprintf(dir, sizeof(dir), "%s/data", p->scratch);
	buf_init(&error, 4096);
	recorder_begin(&second, p->scratch);
	start = second.count;
	store_close(store_open(dir, STORE_WRITE, &error));
	recorder_end();
	buf_release(&error);
	disk = disk_new(&second);
	while (disk_at(disk) < start)
		disk_step(disk);
	for (int i = 0; i < NESTED_CUTS; i++) {
		size_t place = start + (size_t)random_below(&random, second.count - start + 1);

		if (place < disk_at(disk))
			continue;
		while (disk_at(disk) < place)
			disk_step(disk);
		empty_directory(p->again);
		disk_cut(disk, random_next(&random), p->again);
		check_store(p, p->again, at, seed, false);
	}
	disk_free(disk);
	recording_release(&second);
}

static void cut(struct power *p, const struct disk *disk, uint64_t seed)
{
	empty_directory(p->scratch);
	disk_cut(disk, seed, p->scratch);
	if (p->keeps_files) {
		printf("the files are in %s\n", p->scratch);
		return;
	}
	if (seed % 16 == 5)
		cut_again(p, disk_at(disk), seed);
	else
		check_store(p, p->scratch, disk_at(disk), seed, seed % 4 == 2);
}

/* --- All of them --- */

struct random_cut {
	size_t at;
	uint64_t seed;
};

static int compare_cuts(const void *a, const void *b)
{
	const struct random_cut *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static struct random_cut *draw_cuts(const struct power *p, size_t count, uint64_t seed)
{
	struct random_cut *cuts = mem_calloc(count + 1, sizeof(*cuts));
	uint64_t random = seed;

	for (size_t i = 0; i < count; i++) {
		cuts[i].at = p->start + (size_t)random_below(&random, p->recording.count - p->start + 1);
		cuts[i].seed = random_next(&random) | 2;
	}
	qsort(cuts, count, sizeof(*cuts), compare_cuts);
	return cuts;
}

/* A record that changes nothing behind a mark needs no cut of its own. */
static bool is_worth_a_cut(const struct power *p, size_t at)
{
	return at > p->start && p->recording.records[at - 1].kind != RECORD_MARK;
}

static void cut_everywhere(struct power *p, size_t count, uint64_t seed, bool every)
{
	struct random_cut *cuts = draw_cuts(p, count, seed), *next = cuts;
	struct disk *disk = disk_new(&p->recording);
	uint64_t random = seed;

	do {
		size_t at = disk_at(disk);

		if (at < p->start)
			continue;
		if (every && is_worth_a_cut(p, at)) {
			cut(p, disk, 0);
			cut(p, disk, random_next(&random) | 2);
		}
		for (; next < cuts + count && next->at == at; next++)
			cut(p, disk, next->seed);
	} while (disk_step(disk));
	disk_free(disk);
	free(cuts);
}

static void cut_once(struct power *p, size_t at, uint64_t seed, bool keeps_files)
{
	struct disk *disk = disk_new(&p->recording);

	while (disk_at(disk) < at && disk_step(disk))
		;
	cut(p, disk, seed);
	p->keeps_files = keeps_files;
	if (keeps_files)
		cut(p, disk, seed);
	disk_free(disk);
}

/* --- The days --- */

static const struct day days[] = {
	{"first", NULL, workload_play, 550, true},
	{"migration", old_store_make, workload_play_start, 150, true},
	{"large", NULL, workload_play_large, 300, false},
};

struct choice {
	size_t cuts;
	uint64_t seeds, first;
	const char *day;
	size_t at;
	uint64_t seed;
};

static bool read_choice(struct choice *c, int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i += 2) {
		unsigned long long n = strtoull(argv[i + 1], NULL, 10);

		if (strcmp(argv[i], "--cuts") == 0)
			c->cuts = (size_t)n;
		else if (strcmp(argv[i], "--seeds") == 0)
			c->seeds = n;
		else if (strcmp(argv[i], "--first") == 0)
			c->first = n;
		else if (strcmp(argv[i], "--day") == 0)
			c->day = argv[i + 1];
		else if (strcmp(argv[i], "--at") == 0)
			c->at = (size_t)n;
		else if (strcmp(argv[i], "--seed") == 0)
			c->seed = n;
		else
			return false;
	}
	return argc % 2 == 1;
}

static void run_day(struct power *p, const struct day *day, const struct choice *c)
{
	record_day(p, day);
	if (c->day) {
		cut_once(p, c->at, c->seed, true);
	} else {
		for (uint64_t seed = c->first; seed < c->first + c->seeds; seed++)
			cut_everywhere(p, c->cuts * day->share / 1000, seed, day->every && seed == c->first);
	}
	recording_release(&p->recording);
}

int main(int argc, char **argv)
{
	static struct power p;
	struct choice choice = {.cuts = 1000, .seeds = 1, .first = 1};
	const char *temp = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";

	if (!read_choice(&choice, argc, argv)) {
		fprintf(stderr, "usage: power [--cuts N] [--seeds N] [--first N] [--day NAME --at N --seed N]\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	snprintf(p.root, sizeof(p.root), "%.64s/spine-power-XXXXXX", temp);
	if (mkdtemp(p.root) == NULL)
		workload_fail("no directory below %s", temp);
	snprintf(p.live, sizeof(p.live), "%s/live", p.root);
	snprintf(p.scratch, sizeof(p.scratch), "%s/cut", p.root);
	snprintf(p.again, sizeof(p.again), "%s/again", p.root);
	for (size_t i = 0; i < sizeof(days) / sizeof(days[0]); i++)
		if (choice.day == NULL || strcmp(choice.day, days[i].name) == 0)
			run_day(&p, &days[i], &choice);
	if (choice.day == NULL)
		nftw(p.root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	printf("%zu passed, %zu failed\n", p.passed, p.failed);
	return p.failed ? 1 : 0;
}
