/* The way of an operation, step by step; see op.h for the picture. */
#include "engine/op.h"

#include "engine/access/keyring.h"
#include "engine/damage.h"
#include "engine/engine.h"
#include "engine/indexer.h"
#include "engine/key.h"
#include "engine/quota.h"
#include "engine/waiting.h"
#include "engine/watch/watch.h"
#include "engine/workers.h"

#include <stddef.h>

/* The slowest texts that are known, random letters, are counted at about 10 bytes a microsecond: what is done on the
 * owner's thread holds it up for a few milliseconds at the most. A usual envelope has a few thousand bytes. */
enum { OVERLOADED_RETRY_MS = 1000, PREPARATIONS_MAX = 8, HERE_BYTES_MAX = 32 * 1024 };
/* To read a mebibyte from the store and to write it as JSON takes about as long. */
enum { READ_HERE_BYTES_MAX = 1 << 20 };

void op_warn(struct op *op, const char *code, struct str field, struct str detail)
{
	if (op->warnings == NULL)
		op->warnings = arena_calloc(op->arena, OP_WARNINGS_MAX, sizeof(*op->warnings));
	if (op->warning_count < OP_WARNINGS_MAX)
		op->warnings[op->warning_count++] = (struct op_warning){code, field, detail};
}

/* Told by the thread that has just met it: the connection says where, or the problem what cannot be what it says. */
static void note_damage(struct op *op, const struct store_conn *c)
{
	const char *where = store_error(c)[0] ? store_error(c) : op->problem.detail;

	if (op->problem.code == P_STORE_DAMAGED && damage_note(op->engine->damage, where))
		watch_wake(op->engine->watch);
}

enum problem_code op_stored(struct op *op, enum store_status status)
{
	return status == STORE_OK ? P_OK : problem_of_store(&op->problem, status);
}

static enum problem_code read_nothing(struct op *op, struct store_conn *c)
{
	(void)op;
	(void)c;
	return P_OK;
}

const struct op_kind nothing_kind = {
	.name = "nothing", .size = sizeof(struct op), .flags = OP_NO_SPACE, .read = read_nothing,
};

static struct op *op_of(struct writer_job *job)
{
	return (struct op *)((char *)job - offsetof(struct op, job));
}

/* --- Writing --- */

/* Finds the space, or makes it: in a savepoint, so that a refusal leaves no empty space behind. Where it does not exist
 * op->space is 0, and nothing will be found in it. */
static enum store_status open_space(struct op *op, struct store_conn *c)
{
	enum store_status status;

	op->space = 0;
	op->space_is_new = false;
	/* Where a space goes in this very transaction only the store knows. */
	if (op->engine->is_removing)
		status = store_space_find(c, op->space_name, &op->space);
	else
		status = spaces_find(op->engine->spaces, c, op->space_name, &op->space);
	if (status != STORE_NOT_FOUND)
		return status;
	if (!(op->kind->flags & OP_MAKES_SPACE))
		return STORE_OK;
	op->space_is_new = true;
	status = store_savepoint(c);
	return status == STORE_OK ? store_space_create(c, op->space_name, op->now_ms, &op->space) : status;
}

uint64_t op_access_key(const struct op *op)
{
	return op->access ? op->access->key : 0;
}

/* Every write leaves an event: the history that figures and the audit trail are read from. */
enum problem_code op_tell(struct op *op, struct store_conn *c)
{
	struct event_row event = op->told;

	if (event.kind == 0)
		return P_OK;
	event.space = op->space;
	event.at_ms = op->now_ms;
	event.access_key = op_access_key(op);
	if (op->agent.p)
		event.actor = op->agent;
	else if (op->access && event.actor.p == NULL)
		event.actor = access_actor(op->access, op->arena);
	op->told = (struct event_row){0};
	return op_stored(op, store_event_add(c, &event));
}

/* What goes beyond what the space may have is undone, and refused. One that is run again has done its work before. */
static enum problem_code run_within_quota(struct op *op, struct store_conn *c)
{
	struct quota_run quota = {0};
	enum problem_code code = op->wait.is_again ? P_OK : quota_begin(op, c, &quota);

	if (code != P_OK)
		return code;
	return quota_end(op, c, &quota, op->kind->run(op, c));
}

/* Who was let in before a space was deleted, and is run after it, does not make it anew with a key that went with it.
 * The store knows: keys of the same transaction are not in the keyring yet. */
static enum problem_code check_still_valid(struct op *op, struct store_conn *c)
{
	struct access_key_row key = {0};
	enum store_status status = store_access_key_get(c, op->access->key, op->arena, &key);

	if (status != STORE_OK && status != STORE_NOT_FOUND)
		return op_stored(op, status);
	if (status == STORE_OK && key.revoked_at_ms == 0)
		return P_OK;
	return problem_set(&op->problem, P_UNAUTHORIZED, "Authorization", "key-%llu was revoked meanwhile, and nothing "
			   "was written; ask who runs the server for another", (unsigned long long)op->access->key);
}

/* before: the space that it has looked at already; 0: none. */
static enum problem_code run_in_space(struct op *op, struct store_conn *c, int64_t before)
{
	enum problem_code code = P_OK;

	if (before && op->space != before)
		return problem_set(&op->problem, P_SPACE_DELETED, NULL, "the space \"%.*s\" was deleted "
				   "meanwhile; what was asked for is gone with it, and a new request begins with an "
				   "empty space", STR_ARG(op->space_name));

	if (op->space_is_new && op->access)
		code = check_still_valid(op, c);
	if (code != P_OK)
		return code;
	/* One that was run before would find its own claim. */
	if (op->key.p && !op->wait.is_again && (code = key_replay(op, c)) != P_NOT_FOUND)
		return code;
	op->told = (struct event_row){0};
	code = run_within_quota(op, c);
	if (op->prepares_again) {
		op->problem = (struct problem){0};
		return P_OK;
	}
	if (code == P_OK)
		code = op_tell(op, c);
	if (code == P_OK && op->key.p && !op->wait.is_waiting)
		code = key_keep(op, c);
	return code;
}

/* On the writer's thread, maybe more than once: everything is set anew. */
static enum store_status job_run(struct writer_job *job, struct store_conn *c, int64_t now_ms)
{
	struct op *op = op_of(job);
	enum store_status status;
	/* A space that was made by a transaction which was undone is none that it has looked at. */
	int64_t before = op->wait.is_again || !op->space_is_new ? op->space : 0;
	enum problem_code code;

	waiting_forget(op);
	op->now_ms = now_ms;
	op->problem = (struct problem){0};
	op->is_replayed = false;
	op->prepares_again = false;
	status = open_space(op, c);
	if (status != STORE_OK)
		return status;
	code = run_in_space(op, c, op->kind->flags & OP_NO_SPACE ? 0 : before);
	status = problem_store_status(code);
	if (status == STORE_OK && op->space_is_new)
		status = code == P_OK ? store_release(c) : store_rollback_to(c);
	return status;
}

/* --- The end, on the owner's thread --- */

static enum store_status undo_run(struct writer_job *job, struct store_conn *c, int64_t now_ms)
{
	struct op *op = op_of(job);

	op->now_ms = now_ms;
	return problem_store_status(op->kind->undo(op, c));
}

static void tell_owner(void *arg)
{
	struct op *op = arg;

	op->owner->finish(op);
}

static void undo_done(struct writer_job *job, enum store_status status)
{
	struct op *op = op_of(job);

	(void)status;	/* where it failed, time will undo it */
	op->owner->post(op, tell_owner);
}

/* Where nobody is there to be told, what was done is undone. */
void op_finish(void *arg)
{
	struct op *op = arg;

	if (!waiting_may_finish(op))
		return;
	if (op->kind->undo && op->problem.code == P_OK && op->owner->is_gone(op)) {
		op->job.run = undo_run;
		op->job.done = undo_done;
		writer_submit_always(op->engine->writer, &op->job);
		return;
	}
	op->owner->finish(op);
}

static void read_now(void *op);

/* What was prepared was out of date by the time of the run. Others were faster so often that it has no end? Then there
 * is too much to do. */
static void prepare_again(struct op *op)
{
	if (op->preparations++ < PREPARATIONS_MAX) {
		op->owner->post(op, read_now);
		return;
	}
	problem_set(&op->problem, P_OVERLOADED, NULL, "others changed what this depends on again and again; nothing "
		    "was changed: try again in a moment");
	op->problem.retry_after_ms = OVERLOADED_RETRY_MS;
	op->owner->post(op, op_finish);
}

static void keys_are_spread(void *arg)
{
	struct op *op = arg;

	op->owner->post(op, op_finish);
}

/* Also what is only answered again: nobody knows whether the first answer has come this far. */
static bool is_to_spread(const struct op *op)
{
	return (op->kind->flags & OP_KEYS) && op->problem.code == P_OK && op->engine->config.spread.wait &&
	       keyring_needs_key(op->engine->keyring);
}

/* On the writer's thread, after the commit. */
static void job_done(struct writer_job *job, enum store_status status)
{
	struct op *op = op_of(job);

	if (op->wait.is_waiting) {
		if (status == STORE_OK && op->kind->began)
			op->kind->began(op);
		return;
	}
	if (status == STORE_OK && op->prepares_again) {
		prepare_again(op);
		return;
	}
	if (status == STORE_UNKNOWN)
		problem_of_unknown(&op->problem, op->key);
	/* Its own run has said what is wrong, unless it was the transaction's end that was refused. */
	else if (status != STORE_OK && !(store_is_answer(status) && op->problem.code == P_INTERNAL))
		problem_of_store(&op->problem, status);
	note_damage(op, op->engine->store);
	if (op->problem.code == P_INTERNAL)
		log_write(op->engine->log, LOG_ERROR, "a write was undone", LOG_STR("operation", op->kind->name),
			  LOG_STR("error", op->problem.detail));
	if (op->problem.code == P_OK && !op->is_replayed) {
		if (op->space_is_new)
			spaces_remember(op->engine->spaces, op->space_name, op->space);
		if (op->kind->done)
			op->kind->done(op);
	}
	if (is_to_spread(op))
		op->engine->config.spread.wait(op->engine->config.spread.ctx, keys_are_spread, op);
	else
		op->owner->post(op, op_finish);
}

/* From a successful submit on the operation is the writer's: nothing here may look at it any more. */
static void submit(struct op *op)
{
	op->job.run = job_run;
	op->job.done = job_done;
	if (atomic_load(&op->engine->failed)) {
		problem_of_store(&op->problem, STORE_FAILED);
		op->owner->finish(op);
	} else if (!writer_submit(op->engine->writer, &op->job)) {
		problem_set(&op->problem, P_OVERLOADED, NULL, "too many writes are waiting; try again in a moment");
		op->problem.retry_after_ms = OVERLOADED_RETRY_MS;
		op->owner->finish(op);
	}
}

void engine_run_again(struct op *op)
{
	waiting_again(op);
	submit(op);
}

/* --- Reading --- */

/* What was answered before is answered again, also where it would be refused by now. */
static bool was_answered(struct op *op, struct store_conn *c)
{
	return op->key.p && op->space && key_replay(op, c) != P_NOT_FOUND;
}

bool op_is_here(const struct op *op)
{
	return op->engine->workers && !op->aside.is_now;
}

bool op_is_too_much(struct op *op, size_t bytes)
{
	op->aside.is_wanted = bytes > HERE_BYTES_MAX && op_is_here(op);
	return op->aside.is_wanted;
}

bool op_takes_long(size_t bytes)
{
	return bytes > READ_HERE_BYTES_MAX;
}

bool op_is_too_large(struct op *op, size_t bytes)
{
	op->aside.is_wanted = op_takes_long(bytes) && op_is_here(op);
	return op->aside.is_wanted;
}

bool op_is_too_long(struct op *op, size_t rows)
{
	op->aside.is_wanted = op->aside.is_wanted || (rows > OP_ROWS_HERE && op_is_here(op));
	return op->aside.is_wanted;
}

static enum problem_code read_or_prepare(struct op *op)
{
	enum problem_code code;

	/* One that prepares again warns again. */
	op->warning_count = op->asked_warnings;
	code = op->kind->prepare ? op->kind->prepare(op, op->reader->conn) : op->kind->read(op, op->reader->conn);
	note_damage(op, op->reader->conn);
	return code;
}

static void go_on(struct op *op, enum problem_code code)
{
	if (code == P_OK && op->kind->run && !op->is_answered)
		submit(op);
	else
		op->owner->finish(op);
}

/* On the owner's thread again. */
static void back_from_aside(void *arg)
{
	struct op *op = arg;

	op->aside.is_now = false;
	if (op->aside.wait_ms)
		op_may_wait(op, op->aside.wait_ms);
	go_on(op, op->aside.code);
}

/* On a worker's thread. */
static void read_aside(struct op *op, struct engine_reader *reader)
{
	struct engine_reader *own = op->reader;

	op->reader = reader;
	op->aside.code = read_or_prepare(op);
	if (op->aside.code == P_OK && op->kind->read && op->owner->encode)
		op->owner->encode(op);
	op->reader = own;
	op->owner->post(op, back_from_aside);
}

static bool refuse_more(struct op *op)
{
	problem_set(&op->problem, P_OVERLOADED, NULL, "too many large requests are waiting, of this client or of all; "
		    "try again in a moment");
	op->problem.retry_after_ms = OVERLOADED_RETRY_MS;
	return false;
}

static void work_aside(struct op *op, struct engine_reader *reader)
{
	struct engine_reader *own = op->reader;

	op->reader = reader;
	op->aside.work(op);
	op->reader = own;
	op->owner->post(op, op->aside.then);
}

bool engine_aside(struct op *op, void (*work)(struct op *op), void (*then)(void *op))
{
	op->aside.work = work;
	op->aside.then = then;
	if (op->engine->workers == NULL)
		return false;
	return workers_submit(op->engine->workers, op, work_aside) || refuse_more(op);
}

static void go_aside(struct op *op)
{
	op->aside.is_wanted = false;
	op->aside.is_now = true;
	op->aside.wait_ms = 0;
	op->problem = (struct problem){0};
	if (!workers_submit(op->engine->workers, op, read_aside) && !refuse_more(op))
		op->owner->finish(op);
}

static void read_now(void *arg)
{
	struct op *op = arg;
	bool goes_aside = ((op->kind->flags & OP_ASIDE) || op->page_rows > OP_ROWS_HERE) && op->engine->workers;
	enum problem_code code = P_OK;

	if (op->kind->prepare && was_answered(op, op->reader->conn)) {
		op->owner->finish(op);
		return;
	}
	if (op->preparations == 0)
		op->asked_warnings = op->warning_count;
	if (!goes_aside)
		code = read_or_prepare(op);
	if (goes_aside || op->aside.is_wanted)
		go_aside(op);
	else
		go_on(op, code);
}

/* Without the index it goes on as well as it can, and says what it lacks. But what is damaged is told as damage. */
static void index_is_ready(void *arg, enum store_status status, const char *why)
{
	struct op *op = arg;

	if (status == STORE_DAMAGED) {
		problem_of_store(&op->problem, status);
		if (damage_note(op->engine->damage, why))
			watch_wake(op->engine->watch);
	}
	op->owner->post(op, status == STORE_DAMAGED ? op_finish : read_now);
}

static bool lacks_index(const struct op *op)
{
	return (op->kind->flags & OP_INDEX) && !op->skips_index && op->space &&
	       !recall_is_ready(op->engine->recall, op->space);
}

static void start_read(struct op *op)
{
	struct engine *e = op->engine;
	enum store_status status = STORE_OK;

	if (!(op->kind->flags & OP_NO_SPACE))
		status = spaces_find(e->spaces, op->reader->conn, op->space_name, &op->space);
	if (status != STORE_OK && status != STORE_NOT_FOUND) {
		problem_of_store(&op->problem, status);
		note_damage(op, op->reader->conn);
		op->owner->finish(op);
	} else if (lacks_index(op) && e->indexer) {
		indexer_request(e->indexer, op->space, index_is_ready, op);
	} else {
		if (lacks_index(op))
			recall_build(e->recall, op->reader->conn, op->space, &(size_t){0});
		read_now(op);
	}
}

/* A space that is full refuses new work here, before it is prepared and before the writer is asked. What was accepted
 * before, with the same key, is answered again, or goes on, or is refused for what is wrong with the key. */
static bool is_refused_at_once(struct op *op)
{
	struct store_conn *c = op->reader ? op->reader->conn : NULL;
	struct problem full;

	if (!(op->kind->flags & OP_ADDS) || c == NULL ||
	    spaces_find(op->engine->spaces, c, op->space_name, &op->space) != STORE_OK)
		return false;
	if (quota_may_begin(op, c) == P_OK)
		return false;
	full = op->problem;
	op->problem = (struct problem){0};
	if (was_answered(op, c))
		return true;
	if (op->claim.p == NULL)
		op->problem = full;
	return op->claim.p == NULL;
}

static bool is_prepared(const struct op *op)
{
	return op->kind->prepare == NULL || (op->kind->prepares && !op->kind->prepares(op));
}

void engine_run(struct op *op)
{
	if (is_refused_at_once(op))
		op->owner->finish(op);
	else if (op->kind->run && is_prepared(op))
		submit(op);
	else
		start_read(op);
}
