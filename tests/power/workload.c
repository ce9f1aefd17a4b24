#include "workload.h"

#include "base/hash.h"
#include "base/mem.h"
#include "engine/delivery/receive.h"
#include "engine/delivery/send.h"
#include "engine/memory/memory_change.h"
#include "engine/memory/memory_store.h"
#include "engine/space_delete.h"
#include "store/embedded.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define T0 INT64_C(1700000000000)
enum { HOUR_MS = 3600 * 1000, LARGE_BYTES = 256 * 1024, LARGE_COUNT = 18, STEPS_MAX = 4000 };

void workload_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	abort();
}

/* --- The state --- */

static uint64_t hash_row(sqlite3_stmt *s, uint64_t hash)
{
	for (int i = 0; i < sqlite3_column_count(s); i++) {
		int type = sqlite3_column_type(s, i);
		const void *p = sqlite3_column_blob(s, i);

		hash = hash_bytes(p ? p : "", (size_t)sqlite3_column_bytes(s, i), hash + (uint64_t)type + 1);
	}
	return hash;
}

static uint64_t hash_query(sqlite3 *db, const char *sql, uint64_t hash)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db, sql, -1, &s, NULL);

	while (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		hash = hash_row(s, hash);
		rc = SQLITE_OK;
	}
	sqlite3_finalize(s);
	return rc == SQLITE_DONE ? hash : 0;
}

uint64_t workload_state(const char *file, bool is_open)
{
	static const char tables[] = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
	char path[512], sql[256];
	sqlite3 *db = NULL;
	sqlite3_stmt *s = NULL;
	uint64_t hash = 0;

	/* Beside nobody SQLite would make a log, and remove it. */
	snprintf(path, sizeof(path), is_open ? "%s" : "file:%s?immutable=1", file);
	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | (is_open ? 0 : SQLITE_OPEN_URI), NULL) == SQLITE_OK) {
		sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)NULL);
		hash = hash_query(db, "SELECT sql FROM sqlite_schema ORDER BY name", 1);
		sqlite3_prepare_v2(db, tables, -1, &s, NULL);
		while (hash && sqlite3_step(s) == SQLITE_ROW) {
			snprintf(sql, sizeof(sql), "SELECT * FROM \"%s\"", (const char *)sqlite3_column_text(s, 0));
			hash = hash_query(db, sql, hash + 1);
		}
		sqlite3_finalize(s);
	}
	sqlite3_close(db);
	return hash;
}

/* --- Opening and closing --- */

/* The verbs of a store know no workload. There is one at a time in a process. */
static struct workload *playing;

static enum store_status commit(struct store_conn *c)
{
	struct workload *w = playing;
	enum store_status status = w->real_verbs->commit(c);

	if (status == STORE_OK) {
		w->commits++;
		w->committed(w);
	}
	return status;
}

static int64_t clock_now(void *ctx)
{
	return ((const struct workload *)ctx)->now_ms;
}

static void open_engine(struct workload *w)
{
	struct engine_config config = {
		.data_dir = w->dir, .log = &w->log, .key_ttl_ms = 60000, .max_queue = 100, .seed = 7,
		.token_entries = 1 << 10, .rules = alert_rules_default, .is_stepped = true, .now_ms = clock_now,
		.ctx = w, .keep = w->keep,
	};
	struct buf error;

	buf_init(&error, 4096);
	w->engine = engine_open(&config, &error);
	w->reader = w->engine ? engine_reader_open(w->engine, &error) : NULL;
	if (w->reader == NULL && !w->may_fail)
		workload_fail("the engine cannot be opened: %.*s", STR_ARG(buf_str(&error)));
	w->cannot_open = w->reader == NULL;
	if (w->cannot_open && error.len == 0)
		workload_fail("the engine cannot be opened, and does not say why");
	buf_release(&error);
	if (w->cannot_open) {
		engine_free(w->engine);
		w->engine = NULL;
		return;
	}
	w->real_verbs = w->engine->store->verbs;
	w->verbs = *w->real_verbs;
	w->verbs.commit = commit;
	w->engine->store->verbs = &w->verbs;
	w->committed(w);
	engine_start(w->engine);
}

static void close_engine(struct workload *w)
{
	if (w->engine) {
		engine_reader_close(w->reader);
		engine_stop(w->engine);
		engine_free(w->engine);
	}
	w->engine = NULL;
	w->reader = NULL;
}

/* --- Operations --- */

struct caller {
	struct workload *w;
	struct arena arena;
	uint64_t commits;	/* there were when it began */
	bool is_done;
};

static void post(struct op *op, void (*fn)(void *op))
{
	fn(op);
}

/* The answer: what it says is committed. */
static void finish(struct op *op)
{
	struct caller *caller = op->ctx;

	caller->is_done = true;
	if (op->problem.code == P_OK && op->kind->run && !op->is_replayed && !op->is_answered &&
	    caller->w->commits == caller->commits)
		workload_fail("%s was answered before it was committed", op->kind->name);
}

static bool is_gone(const struct op *op)
{
	(void)op;
	return false;
}

static void keep(struct op *op, struct kept_reply *ret)
{
	ret->status = 201;
	ret->body = arena_str(op->arena, STR("kept"));
}

static void wait_for(struct op *op, int64_t wait_ms)
{
	(void)op;
	(void)wait_ms;
}

static const struct op_owner owner = {post, finish, is_gone, keep, wait_for, NULL};

static void set_op(struct workload *w, struct op *op, const struct op_kind *kind, struct caller *caller)
{
	*caller = (struct caller){.w = w, .commits = w->commits};
	arena_init(&caller->arena);
	op->kind = kind;
	op->owner = &owner;
	op->ctx = caller;
	op->engine = w->engine;
	op->reader = w->reader;
	op->arena = &caller->arena;
	op->now_ms = w->now_ms;
	op->space_name = STR("default");
	op->agent = STR("boss");
}

/* Steps until it is answered. True: it was done; false: it was refused, and may have been. */
static bool finish_op(struct workload *w, struct op *op, struct caller *caller)
{
	for (int i = 0; !caller->is_done && i < 4; i++)
		engine_step(w->engine);
	if (!caller->is_done)
		workload_fail("%s is not answered", op->kind->name);
	if (op->problem.code == P_OK) {
		w->acked++;
		return true;
	}
	if (!w->may_fail || (op->problem.code != P_STORE_FULL && op->problem.code != P_STORE_FAILED &&
			      op->problem.code != P_OUTCOME_UNKNOWN && op->problem.code != P_STORE_DAMAGED))
		workload_fail("%s: %s (%s)", op->kind->name, problem_kind(op->problem.code)->name, op->problem.detail);
	w->refused++;
	return false;
}

static bool run_op(struct workload *w, struct op *op, struct caller *caller)
{
	engine_run(op);
	return finish_op(w, op, caller);
}

static uint64_t store_text(struct workload *w, struct str text, const char *key)
{
	struct memory_store op = {.draft = {.has = MEMORY_HAS_CONTENT, .content = text}};
	struct caller caller;
	uint64_t num;

	if (w->engine == NULL)
		return 0;
	set_op(w, &op.op, &memory_store_kind, &caller);
	op.op.key = key ? str_of(key) : STR_NULL;
	num = run_op(w, &op.op, &caller) ? op.op.is_replayed ? 0 : op.made.num : 0;
	arena_release(&caller.arena);
	return num;
}

static uint64_t store_letters(struct workload *w, char letter, size_t bytes)
{
	char *text = mem_alloc(bytes + 1);
	uint64_t num;

	memset(text, letter, bytes);
	num = store_text(w, (struct str){text, bytes}, NULL);
	free(text);
	return num;
}

static void change(struct workload *w, const struct op_kind *kind, uint64_t num, const char *text)
{
	struct memory_change op = {.num = num};
	struct caller caller;

	if (w->engine == NULL || num == 0)
		return;
	if (text)
		op.draft = (struct memory_draft){.has = MEMORY_HAS_CONTENT | MEMORY_HAS_PINNED,
						 .content = str_of(text), .pinned = true};
	set_op(w, &op.op, kind, &caller);
	run_op(w, &op.op, &caller);
	arena_release(&caller.arena);
}

static void send_work(struct workload *w, const char *to, const char *summary, const char *space)
{
	struct packing *packing = mem_zalloc(sizeof(*packing));
	struct send send = {.pack = packing, .order = {.priority = -1}};
	struct caller caller;

	packing->draft = (struct envelope_draft){
		.from = STR("boss"), .to = str_of(to), .summary = str_of(summary), .include_recent = 3,
		.include_pins = true};
	set_op(w, &send.op, &send_kind, &caller);
	send.op.space_name = str_of(space);
	run_op(w, &send.op, &caller);
	arena_release(&caller.arena);
	free(packing);
}

/* Takes one handoff; num 0 where there is none. */
static struct handoff_row receive_work(struct workload *w, const char *agent)
{
	struct receive receive = {.agent = str_of(agent), .max = 1};
	struct handoff_row row = {0};
	struct caller caller;

	set_op(w, &receive.op, &receive_kind, &caller);
	op_may_wait(&receive.op, 0);
	if (run_op(w, &receive.op, &caller) && receive.count)
		row = receive.rows[0];
	arena_release(&caller.arena);
	return row;
}

/* A receiver waits, work is sent, and both are answered by one commit. */
static struct handoff_row serve_waiting(struct workload *w, const char *agent)
{
	struct receive receive = {.agent = str_of(agent), .max = 1, .wait_ms = 1000};
	struct handoff_row row = {0};
	struct caller caller;

	set_op(w, &receive.op, &receive_kind, &caller);
	op_may_wait(&receive.op, receive.wait_ms);
	engine_run(&receive.op);
	engine_step(w->engine);
	send_work(w, agent, "somebody waits for this", "default");
	if (!caller.is_done)
		engine_nudge(&receive.op);
	if (finish_op(w, &receive.op, &caller) && receive.count)
		row = receive.rows[0];
	arena_release(&caller.arena);
	return row;
}

static void settle(struct workload *w, const struct handoff_row *h, enum handoff_verb verb, const char *then_to)
{
	struct packing *packing = mem_zalloc(sizeof(*packing));
	struct then then = {.pack = packing, .order = {.priority = -1}};
	struct json result = {.type = JSON_STRING, .s = STR("the result")};
	struct settle op = {.one = {.num = h->num, .answer = {.verb = verb, .lease = h->leases, .delay_ms = -1}}};
	struct caller caller;

	if (verb == VERB_COMPLETE) {
		op.one.result = &result;
		op.one.answer.has_result = true;
		op.one.answer.result = (struct result_row){.result = STR("\"the result\"")};
	}
	if (then_to) {
		op.one.then = &then;
		packing->draft = (struct envelope_draft){.to = str_of(then_to), .summary = STR("go on")};
	}
	set_op(w, &op.op, &settle_kind, &caller);
	if (h->num)
		run_op(w, &op.op, &caller);
	arena_release(&caller.arena);
	free(packing);
}

/* Lets so much time pass, and all happen that is due in it. */
static void pass_time(struct workload *w, int64_t ms)
{
	int64_t end = w->now_ms + ms, wake = engine_wake_at(w->engine);

	for (int steps = 0; wake && wake <= end && steps < STEPS_MAX; steps++) {
		w->now_ms = wake > w->now_ms ? wake : w->now_ms;
		engine_step(w->engine);
		if (store_is_failed(w->engine->store))
			break;
		wake = engine_wake_at(w->engine);
		if (wake && wake <= w->now_ms)
			wake = w->now_ms + 1;
	}
	w->now_ms = end;
}

/* --- The day --- */

static void play_memories(struct workload *w)
{
	uint64_t first = store_text(w, STR("the gateway times out after thirty seconds"), "key-1");

	store_text(w, STR("the gateway times out after thirty seconds"), "key-1");
	store_letters(w, 'b', 9000);
	store_text(w, STR("invoices are sent on Mondays"), NULL);
	change(w, &memory_update_kind, first, "the gateway times out after sixty seconds");
	store_letters(w, 'c', 30000);
}

static void play_delivery(struct workload *w)
{
	struct handoff_row h = serve_waiting(w, "worker");

	settle(w, &h, VERB_ACK, NULL);
	settle(w, &h, VERB_COMPLETE, "reviewer");
	h = receive_work(w, "reviewer");
	settle(w, &h, VERB_NACK, NULL);
	pass_time(w, 5000);
	h = receive_work(w, "reviewer");
	settle(w, &h, VERB_COMPLETE, NULL);
	send_work(w, "nobody", "nobody takes this one", "default");
	send_work(w, "worker", "this lease runs out", "default");
	receive_work(w, "worker");
	pass_time(w, 20000);
}

static void play_forgetting(struct workload *w)
{
	change(w, &memory_forget_kind, store_letters(w, 'd', 5000), NULL);
	store_text(w, STR("after what was forgotten"), NULL);
}

static void play_space(struct workload *w)
{
	struct space_delete op = {.confirm = STR("brief")};
	struct caller caller;

	send_work(w, "worker", "in a space of its own", "brief");
	set_op(w, &op.op, &space_delete_kind, &caller);
	op.op.space_name = STR("brief");
	if (w->refused == 0)	/* else it may not be there */
		run_op(w, &op.op, &caller);
	arena_release(&caller.arena);
	pass_time(w, 2000);
}

/* What has ended is older than the engine keeps it. The hours pass at once: nobody was there. */
static void play_pruning(struct workload *w)
{
	w->now_ms += 3 * (int64_t)HOUR_MS;
	engine_step(w->engine);
	pass_time(w, 900);
}

static void reopen(struct workload *w)
{
	close_engine(w);
	open_engine(w);
}

/* The store becomes what it was when the backup was made. */
static void play_restore(struct workload *w)
{
	struct buf kept, error;
	enum store_status status;

	buf_init(&kept, 4096);
	buf_init(&error, 4096);
	unlink(w->backup);
	status = store_backup(w->engine->store, w->backup, &error);
	if (status != STORE_OK && !w->may_fail)
		workload_fail("backup: %.*s", STR_ARG(buf_str(&error)));
	store_text(w, STR("lost by restoring, as it should be"), NULL);
	if (status == STORE_OK) {
		close_engine(w);
		buf_clear(&error);
		if (w->restoring)
			w->restoring(w);
		status = store_restore(w->dir, w->backup, true, &kept, &error);
		if (status != STORE_OK && (!w->may_fail || error.len == 0))
			workload_fail("restore: %.*s", STR_ARG(buf_str(&error)));
		if (status == STORE_OK)
			w->committed(w);
		open_engine(w);
	}
	buf_release(&kept);
	buf_release(&error);
}

static void play_words(struct workload *w)
{
	store_text(w, STR("a few words"), NULL);
}

/* More than a log holds before a checkpoint. */
static void play_large(struct workload *w)
{
	for (int i = 0; i < LARGE_COUNT; i++)
		store_letters(w, (char)('a' + i), LARGE_BYTES);
	store_text(w, STR("behind the checkpoint"), NULL);
}

void workload_init(struct workload *w, const char *root)
{
	memset(w, 0, sizeof(*w));
	snprintf(w->dir, sizeof(w->dir), "%s/data", root);
	snprintf(w->file, sizeof(w->file), "%s/data/spine.db", root);
	snprintf(w->backup, sizeof(w->backup), "%s/backup.db", root);
	w->now_ms = T0;
	w->keep = (struct space_keep){.handoffs_ms = HOUR_MS, .events_ms = 2 * (int64_t)HOUR_MS};
	log_init(&w->log, open("/dev/null", O_WRONLY | O_CLOEXEC), LOG_ERROR, LOG_TEXT);
}

static void play_parts(struct workload *w, void (*const *parts)(struct workload *w), size_t count)
{
	playing = w;
	open_engine(w);
	for (size_t i = 0; i < count && w->engine && !store_is_failed(w->engine->store); i++)
		parts[i](w);
	close_engine(w);
	close(w->log.fd);
}

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

void workload_play(struct workload *w)
{
	static void (*const parts[])(struct workload *w) = {
		play_memories, play_delivery, play_forgetting, reopen, play_space, play_pruning, play_restore,
		play_delivery,
	};

	play_parts(w, parts, COUNT(parts));
}

void workload_play_start(struct workload *w)
{
	static void (*const parts[])(struct workload *w) = {play_words, reopen, play_words};

	play_parts(w, parts, COUNT(parts));
}

void workload_play_large(struct workload *w)
{
	static void (*const parts[])(struct workload *w) = {play_words, play_large, reopen, play_words};

	play_parts(w, parts, COUNT(parts));
}
