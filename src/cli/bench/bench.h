/* spine bench: a load test of handoffs against a running server.
 *
 * A lane is a sender and a receiver that waits, each with a connection of its own. N lanes are N handoffs at a time:
 *
 *     sender     pack ---------> send --------->
 *     receiver   receive (waits) --------------> ack ->
 *                |<-- pack -->|<-- queue -->|
 *                             |<- deliver -->|<-ack->|
 *                             |<------ whole ------->|
 *
 * queue is until the server has said that it is queued for good, deliver until the receiver has it in hand; both begin
 * with sending, and so does whole: from initiating a handoff to its ack, as everywhere here. Nothing is tried again:
 * a call that is refused, breaks or gets no answer is a handoff that failed. */
#ifndef SPINE_CLI_BENCH_H
#define SPINE_CLI_BENCH_H

#include "cli/cli.h"
#include "cli/stop.h"
#include "client/client_many.h"

enum bench_stage { BENCH_PACK, BENCH_QUEUE, BENCH_DELIVER, BENCH_ACK, BENCH_WHOLE, BENCH_STAGES };

extern const char *const bench_stage_names[];

enum {
	BENCH_LEVELS_MAX = 8,
	BENCH_MEMORIES = 200,		/* in the space: what is packed is looked for among them */
	BENCH_CITED = 3,		/* by each handoff */
};

/* What was measured with so many at a time. */
struct bench_level {
	int64_t concurrent;
	int64_t planned;			/* handoffs */
	int64_t begun;
	int64_t acked;
	int64_t failed;
	int64_t ns;				/* how long it took */
	bool is_cut;				/* its time was over, or somebody stopped it */
	double completeness_sum;		/* of what was packed */
	double completeness_min;
	int64_t packed;
	uint32_t *us[BENCH_STAGES];		/* microseconds, room for `planned` each */
	size_t counts[BENCH_STAGES];
	const char *first_failure;		/* in the arena; NULL: none */
};

struct bench {
	struct cli *cli;			/* borrowed */
	struct stop stop;
	const char *space;
	struct bench_level levels[BENCH_LEVELS_MAX];
	size_t level_count;
	bool is_stopped;
	bool is_removed;			/* the space is */
	const char *left;			/* why it is not; NULL: it is */
};

/* Runs one level, whose concurrent and planned are set. False where it could not be begun, with the reason told. */
bool bench_run_level(struct bench *b, struct bench_level *level, int64_t max_ms);

/* How it compares with what the original text calls healthy. */
enum bench_health { BENCH_HEALTHY, BENCH_DOUBTFUL, BENCH_SICK };

enum bench_health bench_failure_health(const struct bench_level *level);
enum bench_health bench_completeness_health(const struct bench_level *level);
enum bench_health bench_latency_health(const struct bench_level *level);
/* All levels are healthy, and whole. Sorts the samples. */
bool bench_is_healthy(const struct bench *b);
/* The report, as text or with --json as a document. */
void bench_report(struct bench *b);

#endif
