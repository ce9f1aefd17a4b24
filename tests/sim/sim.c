/* The simulation of delivery: many seeds, each a run of the core among faults and crashes, watched by a checker.
 *
 *   sim                         2,000 seeds
 *   sim --seeds N --first N     so many, from there on
 *   sim --jobs N                in so many processes
 *   sim --handoffs N            about so many in a run
 *   sim --seed N [--verbose]    one, exactly as it was; every step of it
 *   sim --cluster …             several servers over one database (cluster.h)
 *   sim --cluster --broken N    with something left out on purpose: cluster.h has the numbers
 *
 * Ends with what was exercised and a line "N passed, N failed", and exits with 1 where something failed. A cluster is
 * also played with each thing left out, which must be found.
 */
#include "cluster.h"

#include "base/mem.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Where something is left out, it is found within so many seeds. */
enum { FOUND_WITHIN = 60 };

struct sim {
	uint64_t first, seeds;
	uint64_t jobs;
	size_t handoffs;		/* 0: by the seed */
	bool is_single, is_verbose, is_cluster;
	enum cluster_broken broken;
};

/* What plays: one server, or several. */
struct player {
	struct trace trace;
	struct world *world;
	struct cluster *cluster;
};

/* The run of this process, for the handler of SIGABRT: an assertion of the core must name its seed, too. */
static struct player *under_way;

static void on_abort(int signal_number)
{
	(void)signal_number;
	if (!under_way->trace.is_silent)
		trace_dump(&under_way->trace);
	_exit(1);
}

static struct player *new_player(const struct sim *sim, struct tally *tally)
{
	struct player *p = mem_zalloc(sizeof(*p));

	p->trace.is_verbose = sim->is_verbose;
	if (sim->is_cluster)
		p->cluster = cluster_new(tally, &p->trace);
	else
		p->world = world_new(tally, &p->trace);
	under_way = p;
	signal(SIGABRT, on_abort);
	return p;
}

static void free_player(struct player *p)
{
	if (p->cluster)
		cluster_free(p->cluster);
	else
		world_free(p->world);
	free(p);
}

static struct world_result play(const struct sim *sim, struct player *p, uint64_t seed, size_t handoffs)
{
	return p->cluster ? cluster_run(p->cluster, seed, handoffs, sim->broken)
			  : world_run(p->world, seed, handoffs);
}

/* A thousand handoffs, so that there can be many runs; one in a hundred has five thousand. Several servers take more
 * steps for the same. */
static size_t size_of_run(const struct sim *sim, uint64_t seed)
{
	size_t size = sim->is_cluster ? 400 : 1000;

	return sim->handoffs ? sim->handoffs : seed % 100 == 0 ? 5 * size : size;
}

/* The seeds of one process: every jobs-th. Stops after a few failures. */
static void run_share(const struct sim *sim, uint64_t which, struct tally *tally)
{
	struct player *p = new_player(sim, tally);

	for (uint64_t seed = sim->first + which; seed < sim->first + sim->seeds && tally->failed < 3; seed += sim->jobs)
		play(sim, p, seed, size_of_run(sim, seed));
	free_player(p);
}

/* One process for each share; a share that ends badly has failed. */
static void run_all(const struct sim *sim, struct tally *tallies)
{
	pid_t pids[64];

	fflush(stdout);
	for (uint64_t i = 0; i < sim->jobs; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			run_share(sim, i, &tallies[i]);
			fflush(stdout);
			_exit(0);
		}
	}
	for (uint64_t i = 0; i < sim->jobs; i++) {
		int status = 0;

		if (pids[i] < 0 || waitpid(pids[i], &status, 0) < 0 || status != 0)
			tallies[i].failed++;
	}
}

/* The same seed must give the same history, also after another one. */
static bool repeats(const struct sim *sim)
{
	struct tally *tally = mem_zalloc(sizeof(*tally));
	struct player *p = new_player(sim, tally);
	struct world_result a, b, other;

	a = play(sim, p, sim->first, 300);
	other = play(sim, p, sim->first + 1, 300);
	b = play(sim, p, sim->first, 300);
	free_player(p);
	free(tally);
	return a.is_good && b.is_good && other.is_good && a.hash == b.hash && a.hash != other.hash;
}

static int run_single(const struct sim *sim)
{
	struct tally *tally = mem_zalloc(sizeof(*tally));
	struct player *p = new_player(sim, tally);
	struct world_result result = play(sim, p, sim->first, size_of_run(sim, sim->first));

	tally_print(tally);
	printf("seed %llu: %s, history %016llx\n", (unsigned long long)sim->first, result.is_good ? "well" : "FAILED",
	       (unsigned long long)result.hash);
	free_player(p);
	free(tally);
	return result.is_good ? 0 : 1;
}

/* Of a process of its own: an assertion finds it as well. */
static bool finds_in(const struct sim *sim, uint64_t seed)
{
	struct tally *tally;
	struct player *p;
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		tally = mem_zalloc(sizeof(*tally));
		p = new_player(sim, tally);
		p->trace.is_silent = true;
		fclose(stderr);
		_exit(play(sim, p, seed, size_of_run(sim, seed)).is_good ? 0 : 1);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status != 0;
}

/* What is left out must be found. */
static bool finds(const struct sim *sim, enum cluster_broken broken)
{
	struct sim other = *sim;
	uint64_t seed = sim->first;

	other.broken = broken;
	fflush(stdout);
	while (seed < sim->first + FOUND_WITHIN && !finds_in(&other, seed))
		seed++;
	printf("without %s: %s %llu seeds\n", cluster_broken_name(broken),
	       seed < sim->first + FOUND_WITHIN ? "found within" : "NOT FOUND in",
	       (unsigned long long)(seed - sim->first + (seed < sim->first + FOUND_WITHIN)));
	return seed < sim->first + FOUND_WITHIN;
}

static int run_many(const struct sim *sim)
{
	struct tally *tallies = mmap(NULL, sim->jobs * sizeof(*tallies), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct tally *sum = mem_zalloc(sizeof(*sum));
	int counts[2] = {0, 0};		/* failed, passed */

	if (tallies == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	run_all(sim, tallies);
	for (uint64_t i = 0; i < sim->jobs; i++)
		tally_add(sum, &tallies[i]);
	tally_print(sum);
	counts[sum->failed == 0]++;
	counts[(sim->is_cluster ? tally_missing_of_cluster(sum) : tally_missing(sum)) == 0]++;
	counts[repeats(sim)]++;
	if (sim->is_cluster && sim->broken == CLUSTER_WELL)
		for (enum cluster_broken b = CLUSTER_WELL + 1; b < CLUSTER_BROKEN; b++)
			counts[finds(sim, b)]++;
	printf("%llu seeds from %llu: %llu failed\n", (unsigned long long)sum->runs, (unsigned long long)sim->first,
	       (unsigned long long)sum->failed);
	printf("%d passed, %d failed\n", counts[1], counts[0]);
	munmap(tallies, sim->jobs * sizeof(*tallies));
	free(sum);
	return counts[0] ? 1 : 0;
}

static bool read_flag(struct sim *sim, struct str name)
{
	if (str_is(name, "--verbose"))
		sim->is_verbose = true;
	else if (str_is(name, "--cluster"))
		sim->is_cluster = true;
	else
		return false;
	return true;
}

static bool read_options(int argc, char **argv, struct sim *sim)
{
	for (int i = 1; i < argc; i++) {
		struct str name = str_of(argv[i]);
		uint64_t value = 0;

		if (read_flag(sim, name))
			continue;
		if (i + 1 == argc || !str_to_u64(str_of(argv[++i]), &value))
			return false;
		if (str_is(name, "--seed")) {
			sim->is_single = true;
			sim->first = value;
		} else if (str_is(name, "--seeds")) {
			sim->seeds = value;
		} else if (str_is(name, "--first")) {
			sim->first = value;
		} else if (str_is(name, "--handoffs") && value >= 1 && value <= 100000) {
			sim->handoffs = (size_t)value;
		} else if (str_is(name, "--jobs") && value >= 1 && value <= 64) {
			sim->jobs = value;
		} else if (str_is(name, "--broken") && value < CLUSTER_BROKEN) {
			sim->broken = (enum cluster_broken)value;
		} else {
			return false;
		}
	}
	return true;
}

int main(int argc, char **argv)
{
	struct sim sim = {.first = 1, .seeds = 2000, .jobs = 1};

	if (!read_options(argc, argv, &sim)) {
		fprintf(stderr,
			"usage: sim [--cluster [--broken N]] [--seeds N] [--first N] [--jobs N] [--handoffs N]\n"
			"       sim [--cluster [--broken N]] --seed N [--verbose]\n");
		return 2;
	}
	return sim.is_single ? run_single(&sim) : run_many(&sim);
}
