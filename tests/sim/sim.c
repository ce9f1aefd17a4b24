/* The simulation of delivery: many seeds, each a run of the core among faults and crashes, watched by a checker.
 *
 *   sim                         2,000 seeds
 *   sim --seeds N --first N     so many, from there on
 *   sim --jobs N                in so many processes
 *   sim --handoffs N            about so many in a run
 *   sim --seed N [--verbose]    one, exactly as it was; every step of it
 *
 * Ends with what was exercised and a line "N passed, N failed", and exits with 1 where something failed.
 */
#include "world.h"

#include "base/mem.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct sim {
	uint64_t first, seeds;
	uint64_t jobs;
	size_t handoffs;		/* 0: by the seed */
	bool is_single, is_verbose;
};

/* The world of this process, for the handler of SIGABRT: an assertion of the core must name its seed, too. */
static struct world *world_under_way;

static void on_abort(int signal_number)
{
	(void)signal_number;
	world_dump(world_under_way);
	_exit(1);
}

/* A thousand handoffs, so that there can be many runs; one in a hundred has five thousand. */
static size_t size_of_run(const struct sim *sim, uint64_t seed)
{
	return sim->handoffs ? sim->handoffs : seed % 100 == 0 ? 5000 : 1000;
}

/* The seeds of one process: every jobs-th. Stops after a few failures. */
static void run_share(const struct sim *sim, uint64_t which, struct tally *tally)
{
	world_under_way = world_new(tally);
	signal(SIGABRT, on_abort);
	for (uint64_t seed = sim->first + which; seed < sim->first + sim->seeds && tally->failed < 3; seed += sim->jobs)
		world_run(world_under_way, seed, size_of_run(sim, seed), sim->is_verbose);
	world_free(world_under_way);
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
	struct world *w = world_new(tally);
	struct world_result a, b, other;

	world_under_way = w;
	signal(SIGABRT, on_abort);
	a = world_run(w, sim->first, 300, false);
	other = world_run(w, sim->first + 1, 300, false);
	b = world_run(w, sim->first, 300, false);
	world_free(w);
	free(tally);
	return a.is_good && b.is_good && other.is_good && a.hash == b.hash && a.hash != other.hash;
}

static int run_single(const struct sim *sim)
{
	struct tally *tally = mem_zalloc(sizeof(*tally));
	struct world_result result;

	world_under_way = world_new(tally);
	signal(SIGABRT, on_abort);
	result = world_run(world_under_way, sim->first, size_of_run(sim, sim->first), sim->is_verbose);
	tally_print(tally);
	printf("seed %llu: %s, history %016llx\n", (unsigned long long)sim->first, result.is_good ? "well" : "FAILED",
	       (unsigned long long)result.hash);
	world_free(world_under_way);
	free(tally);
	return result.is_good ? 0 : 1;
}

static int run_many(const struct sim *sim)
{
	struct tally *tallies = mmap(NULL, sim->jobs * sizeof(*tallies), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct tally *sum = mem_zalloc(sizeof(*sum));
	int failed = 0, passed = 0, missing;

	if (tallies == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	run_all(sim, tallies);
	for (uint64_t i = 0; i < sim->jobs; i++)
		tally_add(sum, &tallies[i]);
	tally_print(sum);
	missing = tally_missing(sum);
	*(sum->failed == 0 ? &passed : &failed) += 1;
	*(repeats(sim) ? &passed : &failed) += 1;
	*(missing == 0 ? &passed : &failed) += 1;
	printf("%llu seeds from %llu: %llu failed\n", (unsigned long long)sum->runs, (unsigned long long)sim->first,
	       (unsigned long long)sum->failed);
	printf("%d passed, %d failed\n", passed, failed);
	munmap(tallies, sim->jobs * sizeof(*tallies));
	free(sum);
	return failed ? 1 : 0;
}

static bool read_options(int argc, char **argv, struct sim *sim)
{
	for (int i = 1; i < argc; i++) {
		struct str name = str_of(argv[i]);
		uint64_t value = 0;

		if (str_is(name, "--verbose")) {
			sim->is_verbose = true;
			continue;
		}
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
			"usage: sim [--seeds N] [--first N] [--jobs N] [--handoffs N] | sim --seed N [--verbose]\n");
		return 2;
	}
	return sim.is_single ? run_single(&sim) : run_many(&sim);
}
