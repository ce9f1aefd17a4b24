/* One level of the load test: N lanes, each with one handoff under way. One thread. */
#include "base/clock.h"
#include "base/mem.h"
#include "cli/ask.h"
#include "cli/bench/bench.h"
#include "cli/progress.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	/* The shortest ack timeout that the original text calls typical, and more than once the default: whoever has
	 * not got it by then has failed. */
	RECEIVE_WAIT_S = 30,
	CALL_TIMEOUT_MS = 30000,
	REPLY_MAX_BYTES = 16 << 20,
	REPLY_DEPTH = 64,
	TURN_MS = 100,
	NAME_SIZE = 32,
	PATH_SIZE = 96,
	BODY_SIZE = 1024,
	ID_SIZE = 32,
};

const char *const bench_stage_names[] = {"pack", "queue", "deliver", "ack", "whole"};

struct lane;

/* Of a sender or a receiver: the call that it has under way. */
struct side {
	struct lane *lane;
	struct client *client;
	struct client_request request;
	char path[PATH_SIZE];
	char body[BODY_SIZE];
	int64_t began_ns;
	bool is_busy;
};

struct lane {
	struct run *run;
	size_t number;
	char agent[NAME_SIZE];
	struct side sender, receiver;
	int64_t left;			/* handoffs still to be begun */
	/* Of the handoff under way. */
	char envelope[ID_SIZE];
	bool is_under_way;
	bool is_taking;			/* the receiver waits for something */
	bool is_stray;			/* what it acks is of an earlier handoff, which had failed */
	bool is_acked;
	bool has_failed;
};

struct run {
	struct bench *bench;
	struct bench_level *level;
	struct client_many *many;
	struct lane *lanes;
	size_t busy;			/* lanes with a handoff under way */
	bool is_closing;		/* no more are begun */
};

static void begin(struct lane *l);

/* --- Measuring --- */

static void note(struct run *r, enum bench_stage stage, int64_t from_ns)
{
	struct bench_level *level = r->level;
	int64_t us = (clock_mono_ns() - from_ns) / 1000;

	if (level->counts[stage] < (size_t)level->planned)
		level->us[stage][level->counts[stage]++] = us < 0 ? 0 : us > UINT32_MAX ? UINT32_MAX : (uint32_t)us;
}

static void fail(struct lane *l, const char *what, enum client_status status, const struct client_reply *reply)
{
	struct bench_level *level = l->run->level;
	struct arena *arena = l->run->bench->cli->arena;

	l->has_failed = true;
	if (level->first_failure)
		return;
	if (reply)
		level->first_failure = arena_printf(arena, "%s: HTTP status %d, %.*s", what, reply->status,
						    (int)(reply->body.len < 200 ? reply->body.len : 200),
						    reply->body.len ? reply->body.data : "").p;
	else
		level->first_failure = arena_printf(arena, "%s: %s", what, status == CLIENT_TIMED_OUT ?
						    "no answer in time" : "the connection broke").p;
}

/* Both sides are done with the handoff: the next one. */
static void advance(struct lane *l)
{
	struct run *r = l->run;

	if (!l->is_under_way || l->sender.is_busy || !(l->is_acked || l->has_failed) ||
	    (l->receiver.is_busy && !l->is_taking))
		return;
	l->is_under_way = false;
	r->busy--;
	if (l->has_failed)
		r->level->failed++;
	else
		r->level->acked++;
	if (l->left > 0 && !r->is_closing)
		begin(l);
}

/* --- Calls --- */

static void call(struct side *s, client_done *done)
{
	s->request = (struct client_request){
		.method = "POST", .path = s->path, .body = str_of(s->body),
		.wait_ms = s == &s->lane->receiver && s->lane->is_taking ? RECEIVE_WAIT_S * 1000 : 0,
	};
	s->is_busy = true;
	s->began_ns = clock_mono_ns();
	client_many_start(s->lane->run->many, s->client, &s->request, done, s->lane);
}

/* A 2xx whose body was read. The tree lives in *arena, which is to be released either way. */
static bool read_answer(enum client_status status, const struct client_reply *reply, struct arena *arena,
			struct json *ret)
{
	struct json_error error;

	arena_init(arena);
	return status == CLIENT_OK && reply->status / 100 == 2 &&
	       json_parse(buf_str(&reply->body), REPLY_DEPTH, arena, ret, &error);
}

static void copy_id(char to[ID_SIZE], struct str id)
{
	snprintf(to, ID_SIZE, "%.*s", (int)(id.n < ID_SIZE - 1 ? id.n : ID_SIZE - 1), id.n ? id.p : "");
}

static void receive(struct lane *l);

static void on_acked(void *arg, enum client_status status, const struct client_reply *reply)
{
	struct lane *l = arg;
	struct side *s = &l->receiver;
	bool was_stray = l->is_stray;

	s->is_busy = l->is_stray = false;
	if (status != CLIENT_OK || reply->status / 100 != 2) {
		fail(l, "ack", status, reply);
	} else if (!was_stray) {
		note(l->run, BENCH_ACK, s->began_ns);
		note(l->run, BENCH_WHOLE, l->sender.began_ns);
		l->is_acked = true;
	}
	if (was_stray)
		receive(l);
	advance(l);
}

static void ack(struct lane *l, const struct json *handoff)
{
	char id[ID_SIZE], lease[ID_SIZE];

	copy_id(id, ask_str(handoff, "id"));
	copy_id(lease, ask_str(handoff, "lease"));
	snprintf(l->receiver.path, PATH_SIZE, "/v1/handoffs/%s/ack", id);
	snprintf(l->receiver.body, BODY_SIZE, "{\"lease\":\"%s\"}", lease);
	call(&l->receiver, on_acked);
}

static void on_received(void *arg, enum client_status status, const struct client_reply *reply)
{
	struct lane *l = arg;
	const struct json *handoffs;
	struct json answer = {0};
	struct arena arena;

	l->receiver.is_busy = l->is_taking = false;
	if (!read_answer(status, reply, &arena, &answer)) {
		fail(l, "receive", status, reply);
	} else {
		handoffs = ask_array(&answer, "handoffs");
		if (handoffs->count == 0) {
			fail(l, "receive", CLIENT_TIMED_OUT, NULL);
		} else {
			l->is_stray = !str_is(ask_str(&handoffs->items[0], "envelope_id"), l->envelope);
			if (!l->is_stray)
				note(l->run, BENCH_DELIVER, l->sender.began_ns);
			ack(l, &handoffs->items[0]);
		}
	}
	arena_release(&arena);
	advance(l);
}

static void receive(struct lane *l)
{
	snprintf(l->receiver.path, PATH_SIZE, "/v1/agents/%s/receive", l->agent);
	snprintf(l->receiver.body, BODY_SIZE, "{\"wait_s\":%d}", RECEIVE_WAIT_S);
	l->is_taking = true;
	call(&l->receiver, on_received);
}

static void on_sent(void *arg, enum client_status status, const struct client_reply *reply)
{
	struct lane *l = arg;

	l->sender.is_busy = false;
	if (status == CLIENT_OK && reply->status / 100 == 2)
		note(l->run, BENCH_QUEUE, l->sender.began_ns);
	else
		fail(l, "send", status, reply);
	advance(l);
}

static void on_packed(void *arg, enum client_status status, const struct client_reply *reply)
{
	struct lane *l = arg;
	struct bench_level *level = l->run->level;
	struct json envelope = {0};
	struct arena arena;

	l->sender.is_busy = false;
	if (!read_answer(status, reply, &arena, &envelope)) {
		fail(l, "pack", status, reply);
	} else {
		double score = ask_number(json_get(&envelope, "completeness"), "score");

		note(l->run, BENCH_PACK, l->sender.began_ns);
		level->completeness_sum += score;
		level->completeness_min = level->packed == 0 || score < level->completeness_min ? score :
					  level->completeness_min;
		level->packed++;
		copy_id(l->envelope, ask_str(&envelope, "id"));
		snprintf(l->sender.path, PATH_SIZE, "/v1/handoffs");
		snprintf(l->sender.body, BODY_SIZE, "{\"envelope_id\":\"%s\"}", l->envelope);
		call(&l->sender, on_sent);
	}
	arena_release(&arena);
	advance(l);
}

/* A new handoff. The receiver waits already, or begins to. */
static void begin(struct lane *l)
{
	size_t first = (l->number * 7 + (size_t)l->left) % (BENCH_MEMORIES - BENCH_CITED) + 1;

	l->left--;
	l->run->level->begun++;
	l->run->busy++;
	l->is_under_way = true;
	l->is_acked = l->has_failed = false;
	l->envelope[0] = '\0';
	if (!l->receiver.is_busy)
		receive(l);
	snprintf(l->sender.path, PATH_SIZE, "/v1/envelopes");
	snprintf(l->sender.body, BODY_SIZE,
		 "{\"target_agent\":\"%s\",\"from\":\"bench\",\"task_summary\":\"Go on with step %zu of the gateway's "
		 "retry policy, as ms-%zu through ms-%zu say.\",\"constraints\":{\"max_tokens\":4000,\"language\":"
		 "\"python\"}}", l->agent, first, first, first + BENCH_CITED - 1);
	call(&l->sender, on_packed);
}

/* --- The level --- */

static bool make_side(struct lane *l, struct side *s, struct buf *error)
{
	const struct bench *b = l->run->bench;
	struct client_config config = cli_client_config(b->cli);

	config.url = client_url(b->cli->client);
	config.space = b->space;
	config.agent = NULL;
	config.timeout_ms = CALL_TIMEOUT_MS;
	config.max_reply_bytes = REPLY_MAX_BYTES;
	s->lane = l;
	s->client = client_new(&config, error);
	return s->client != NULL;
}

static bool make_lanes(struct run *r, struct buf *error)
{
	struct bench_level *level = r->level;
	bool good = true;

	r->lanes = mem_calloc((size_t)level->concurrent, sizeof(*r->lanes));
	for (size_t i = 0; good && i < (size_t)level->concurrent; i++) {
		struct lane *l = &r->lanes[i];

		*l = (struct lane){.run = r, .number = i, .left = level->planned / level->concurrent};
		snprintf(l->agent, NAME_SIZE, "bench-%zu", i + 1);
		good = make_side(l, &l->sender, error) && make_side(l, &l->receiver, error);
	}
	for (int stage = 0; stage < BENCH_STAGES; stage++)
		level->us[stage] = arena_calloc(r->bench->cli->arena, (size_t)level->planned, sizeof(uint32_t));
	return good;
}

static void free_lanes(struct run *r)
{
	client_many_free(r->many);
	for (size_t i = 0; r->lanes && i < (size_t)r->level->concurrent; i++) {
		client_free(r->lanes[i].sender.client);
		client_free(r->lanes[i].receiver.client);
	}
	free(r->lanes);
}

/* Until all are done, the time is over, or somebody stops it. */
static void drive(struct run *r, int64_t max_ms)
{
	struct bench_level *level = r->level;
	int64_t began_ns = clock_mono_ns(), until_ns = began_ns + max_ms * 1000000;
	struct progress progress;

	progress_init(&progress, r->bench->cli,
		      arena_printf(r->bench->cli->arena, "handoffs, %lld at a time", (long long)level->concurrent).p,
		      level->planned);
	for (size_t i = 0; i < (size_t)level->concurrent; i++)
		begin(&r->lanes[i]);
	while (r->busy > 0 && !level->is_cut) {
		if (!client_many_run(r->many, TURN_MS)) {
			r->bench->is_stopped = true;
			level->is_cut = true;
		}
		level->is_cut = level->is_cut || clock_mono_ns() >= until_ns;
		r->is_closing = level->is_cut;
		progress_show(&progress, level->acked + level->failed, level->acked + level->failed);
	}
	progress_end(&progress);
	level->ns = clock_mono_ns() - began_ns;
}

bool bench_run_level(struct bench *b, struct bench_level *level, int64_t max_ms)
{
	struct run r = {.bench = b, .level = level};
	struct buf error;
	bool good;

	buf_init(&error, 4096);
	good = make_lanes(&r, &error);
	if (good) {
		r.many = client_many_new(2 * (size_t)level->concurrent, b->stop.fd);
		good = r.many != NULL;
		if (!good)
			buf_puts(&error, strerror(errno));
	}
	if (good)
		drive(&r, max_ms);
	else
		cli_error(b->cli, "cannot make %lld lanes: %s", (long long)level->concurrent, buf_str(&error).p);
	free_lanes(&r);
	buf_release(&error);
	return good;
}
