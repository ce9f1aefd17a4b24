/* An operation: one use of the protocol, whoever brought it and however it came.
 *
 *     owner's thread    the translator makes it, fills in who asks and the input, and gives it to engine_run
 *     then either       kind->read, with the owner's own reader
 *     or                kind->prepare (optional), like a read, then
 *                       kind->run, on the writer's thread, in a transaction shared with others, maybe more than once;
 *                       after its commit kind->done, still there
 *     owner's thread    owner->finish: the output is there, or the problem
 *
 * A read or prepare that turns out to be a lot of work is given up, and done by a worker's thread instead (workers.h).
 *
 * A run that finds nothing to answer yet may wait (waiting.h): it is run again when that has changed. A step that
 * returns a problem ends the way. Everything lives in the operation's arena.
 *
 * Each kind has a struct of its own, with struct op as its first member, then what goes in and what comes out. It knows
 * no HTTP, no JSON of a request or an answer, no socket.
 */
#ifndef SPINE_ENGINE_OP_H
#define SPINE_ENGINE_OP_H

#include "core/access/access.h"
#include "core/problem.h"
#include "engine/wait.h"
#include "engine/writer.h"
#include "store/store.h"

struct engine;
struct engine_reader;
struct op;

enum op_flags {
	OP_TAKES_KEY = 1 << 0,		/* once per key: the answer is kept, and given again */
	OP_MAKES_SPACE = 1 << 1,	/* makes the space where it does not exist */
	OP_INDEX = 1 << 2,		/* needs the index of the space */
	OP_NO_SPACE = 1 << 3,		/* is not about a space */
	OP_ASIDE = 1 << 4,		/* may take long, and is rare: always read by one of the workers (workers.h) */
	/* What a quota may stand against; see quota.h. */
	OP_ADDS_MEMORIES = 1 << 5,
	OP_ADDS_BYTES = 1 << 6,
	OP_ADDS_HANDOFFS = 1 << 7,
	OP_ADDS_AGENTS = 1 << 8,
	OP_ADDS = OP_ADDS_MEMORIES | OP_ADDS_BYTES | OP_ADDS_HANDOFFS | OP_ADDS_AGENTS,
	OP_MAY_ADD_NOTHING = 1 << 9,	/* of what it is said to add; only the run shows it */
	OP_KEYS = 1 << 10,		/* changes keys: answered when that holds wherever they are (engine_spread) */
	OP_CREATES = OP_TAKES_KEY | OP_MAKES_SPACE,
};

struct op_kind {
	const char *name;
	size_t size;			/* of its struct */
	unsigned flags;
	/* With the owner's reader: this or run. */
	enum problem_code (*read)(struct op *op, struct store_conn *c);
	/* Optional, before run: what needs no transaction. Where it sets is_answered there is nothing to run. */
	enum problem_code (*prepare)(struct op *op, struct store_conn *c);
	/* Optional: has this one anything to prepare? Where most have not, the others go to the writer at once. */
	bool (*prepares)(const struct op *op);
	/* In a transaction. Sets all of its output anew, and touches nothing outside of the transaction. */
	enum problem_code (*run)(struct op *op, struct store_conn *c);
	/* Optional: on the writer's thread, after the commit of a run that had no problem. */
	void (*done)(struct op *op);
	/* Optional: the same for a run that began to wait. */
	void (*began)(struct op *op);
	/* Optional, of one that OP_ADDS: what it asks for is there already, as far as a look shows. Only asked where
	 * the space is full; what is added all the same is refused after the run. */
	bool (*adds_nothing)(struct op *op, struct store_conn *c);
	/* Optional: nobody is left who could be told what was committed. Undoes it, in a transaction of its own. */
	enum problem_code (*undo)(struct op *op, struct store_conn *c);
};

/* What the engine asks of whoever brought an operation. */
struct op_owner {
	/* From any thread: has fn(op) called on the owner's thread. */
	void (*post)(struct op *op, void (*fn)(void *op));
	/* On the owner's thread, once for each engine_run: it is over. The operation is the owner's again. */
	void (*finish)(struct op *op);
	/* On the owner's thread: the answer will reach nobody. */
	bool (*is_gone)(const struct op *op);
	/* On the writer's thread: the answer as bytes, to be kept for the key. */
	void (*keep)(struct op *op, struct kept_reply *ret);
	/* On the owner's thread: engine_nudge is to be called when so much time has passed, or when the owner has gone.
	 * A nudge that comes too late does nothing. */
	void (*wait)(struct op *op, int64_t wait_ms);
	/* May be NULL. On a worker's thread, after the read of an operation that writes nothing: makes the answer's
	 * bytes, so that finish need not. */
	void (*encode)(struct op *op);
};

/* ROWS_HERE: about a millisecond, at 5 us for each. */
enum { OP_WARNINGS_MAX = 32, OP_ROWS_HERE = 200 };

/* Something that the caller should know, though it did not stop the operation. */
struct op_warning {
	const char *code;
	struct str field;
	struct str detail;
};

struct op {
	const struct op_kind *kind;
	const struct op_owner *owner;
	void *ctx;			/* the owner's own */
	struct engine *engine;
	struct engine_reader *reader;	/* of the owner's thread */
	struct arena *arena;

	/* Who asks, and where. */
	int64_t now_ms;			/* of arrival; in run and after it, of the transaction */
	struct str space_name;
	int64_t space;			/* 0: does not exist (yet) */
	bool space_is_new;
	const struct access *access;	/* what the key of who is asking allows; NULL: the server has no keys */
	uint64_t client;		/* a number for who is asking: large work is shared out among clients */
	size_t page_rows;		/* of the page that is asked for; 0: of none. A large one is read by a worker */
	struct str agent;		/* who is asking; p == NULL: unknown */
	const char *protocol;		/* how it came: "http", "mcp"; NULL: by nobody outside */
	struct str client_name;	/* what the client calls itself; p == NULL: not told */
	struct str person;		/* who says to be a person, for what only persons do; p == NULL: nobody */
	struct str task;		/* of what is stored and names none; p == NULL: none */
	bool uses_task;			/* something that is stored gets that task */
	uint32_t if_version;		/* 0: any */
	struct str if_tag;		/* p == NULL: none; else "*", or a tag with its quotes */
	struct str key;			/* p == NULL: none */
	uint8_t digest[32];		/* of what was asked, where there is a key */
	struct str claim;		/* what an operation with this key has begun; p == NULL: nothing */
	bool skips_index;		/* this one does without OP_INDEX */
	bool prepares_again;		/* set by run, which has written nothing: what prepare has found does not hold
					 * any more */
	int preparations;

	/* What came of it. */
	struct problem problem;
	bool is_answered;		/* by prepare */
	bool is_replayed;		/* the answer is `kept`: the key was used before */
	struct kept_reply kept;
	/* Set by run: what is told of it, where kind is not 0; who and when is filled in. */
	struct event_row told;
	const uint64_t *shown;		/* numbers of the memories whose text is in the answer; set by run */
	size_t shown_count;
	struct op_warning *warnings;	/* NULL: none yet */
	size_t warning_count;
	size_t asked_warnings;		/* of them, what was warned of before it was prepared */

	/* The engine's own. */
	struct {
		struct op *next;
		void (*fn)(struct op *op, struct engine_reader *reader);
		void (*work)(struct op *op);	/* of engine_aside */
		void (*then)(void *op);
		int64_t wait_ms;	/* op_may_wait was asked for there; 0: it was not */
		enum problem_code code;	/* what came of it */
		bool is_wanted;		/* it is too much for the owner's thread */
		bool is_now;		/* a worker has it */
	} aside;
	struct writer_job job;
	struct wait wait;
};

/* Does nothing: for an owner that has the answer itself, and asks only so that everything goes the same way. */
extern const struct op_kind nothing_kind;

/* On the owner's thread: takes the operation up. It is the engine's until owner->finish. */
void engine_run(struct op *op);
/* The same, for one that is over: it is run once more, without prepare. A stream goes on this way. */
void engine_run_again(struct op *op);
/* From the owner's thread: the operation is answered now, whether something has happened or not. */
void engine_nudge(struct op *op);
/* The same, because the server that it came through stops, though this one does not. */
void engine_cut(struct op *op);

/* Within read or prepare, before the work is begun: is so much text to be counted or rendered that nobody else should
 * wait for it? Then the step returns at once, with any problem, and is begun again elsewhere. */
bool op_is_too_much(struct op *op, size_t bytes);
/* The same for text that is only read and written into the answer. */
bool op_is_too_large(struct op *op, size_t bytes);
/* Is it so much text, to be read and written? Whoever asks may be on any thread. */
bool op_takes_long(size_t bytes);
/* The same where so many rows are to be looked at. Once it was true it stays so until the step is begun again. */
bool op_is_too_long(struct op *op, size_t rows);
/* Within read or prepare: is it the owner's thread that waits, and could a worker do it instead? Who cannot know how
 * many rows a filter has it look at looks at some of them here, and says op_is_too_long where these were not enough. */
bool op_is_here(const struct op *op);
/* On the owner's thread, while the operation is the owner's: has work(op) called by a worker, then then(op) on the
 * owner's thread. False where there are no workers, or too many wait already: then op->problem says so. */
bool engine_aside(struct op *op, void (*work)(struct op *op), void (*then)(void *op));
/* Within prepare, or before engine_run: the operation may wait so long. 0: it answers at once. */
void op_may_wait(struct op *op, int64_t wait_ms);
/* Within the run of an operation that may wait: this is what its key stands for until there is an answer. An operation
 * with the same key finds it in op->claim, in prepare or in run, and goes on with it. */
enum problem_code op_claim(struct op *op, struct store_conn *c, struct str what);
/* Those beyond OP_WARNINGS_MAX are dropped. */
void op_warn(struct op *op, const char *code, struct str field, struct str detail);
/* For waiting.c: the answer is there. On the owner's thread. */
void op_finish(void *op);
/* The number of the key that let in who asks, for what is told without op_tell; 0: the server has no keys. */
uint64_t op_access_key(const struct op *op);
/* Within a run that tells more than one thing: writes op->told now. */
enum problem_code op_tell(struct op *op, struct store_conn *c);
/* P_OK, or the problem of a store that did not do what it was asked. */
enum problem_code op_stored(struct op *op, enum store_status status);

#endif
