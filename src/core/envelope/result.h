/* The result of a handoff, which is a memory of its task.
 *
 * A completion makes the memory in its own transaction, and the text is stored once: the handoff's result names version
 * 1 of the memory, which never changes, and whoever asks for the result reads that. So forgetting the memory forgets
 * the result. A result that says nothing or that its agent keeps out stays in its row, and so does one that no memory
 * may hold, because it is too large or has a NUL; of that one the others are told where it is.
 */
#ifndef SPINE_CORE_RESULT_H
#define SPINE_CORE_RESULT_H

#include "core/delivery/delivery.h"
#include "core/memory/mention.h"

enum {
	RESULT_MAX_BYTES = 1024 * 1024,		/* as canonical JSON */
	RESULTS_MAX = 1000,			/* of one envelope that those behind it are told of */
};

/* What a completion makes of its result: sets a->memory and a->result.form. It only reads, before the transaction; the
 * draft lives in the arena. value is what a->result.result was made of. */
enum problem_code result_prepare(struct store_conn *c, int64_t space, uint64_t num, const struct json *value,
				 struct arena *arena, struct delivery_answer *a, struct problem *problem);

/* Within the completion of h: makes the memory, tells of it, and has *result name it. Sets d->made. */
enum problem_code result_remember(struct delivery *d, const struct handoff_row *h, const struct memory_draft *draft,
				  struct result_row *result, struct problem *problem);

/* The result of a handoff with its JSON, wherever it is. Where that was forgotten there is none, and is_forgotten says
 * so. */
enum store_status result_read(struct store_conn *c, int64_t space, uint64_t handoff, struct arena *arena,
			      struct result_row *ret);

/* The kind of a memory that is the result of a handoff. */
#define RESULT_KIND "output"

/* A result of a handoff that was completed, as those behind it are told. */
struct past_result {
	uint64_t handoff;
	struct str agent;
	int64_t at_ms;
	uint64_t memory;			/* 0: no memory may hold it */
};

/* The result of a handoff that is being completed. It is stored in the same transaction as the envelope that hands the
 * work on; so that envelope carries it, though nobody can read it yet. */
struct coming_result {
	struct past_result told;
	bool is_told;				/* there is something to tell */
	const struct memory *memory;		/* as it will be; NULL: no memory holds it */
};

/* What becomes of a->result when the handoff h is completed at that time; a was prepared (result_prepare), and the
 * draft of the memory has its number. */
struct coming_result result_coming(const struct handoff_row *h, const struct delivery_answer *a, int64_t now_ms,
				   struct arena *arena);

/* Those of an envelope's handoffs, by their numbers, about RESULTS_MAX at most. */
enum problem_code results_of(struct store_conn *c, int64_t space, uint64_t envelope, struct arena *arena,
			     struct past_result **ret, size_t *ret_count, struct problem *problem);
/* Is there a handoff of the envelope, other than `but`, that was not completed, and still may be? */
enum problem_code results_may_follow(struct store_conn *c, int64_t space, uint64_t envelope, uint64_t but,
				     struct arena *arena, bool *ret, struct problem *problem);

/* Where a result is that no memory may hold: "result of ho-12". */
struct str past_result_place(const struct past_result *r, struct arena *arena);
/* What the action of such a step begins with; what was to be done follows. */
#define PAST_RESULT_ACTION "completed: "
/* Does the step tell a result that says what the last one of that agent in the history had said? coming is not stored
 * yet; NULL: none. */
bool past_result_is_repeated(struct store_conn *c, int64_t space, const struct json *history, uint32_t index,
			     const struct coming_result *coming);
/* Notes the memories that the steps of a history name. */
void past_results_collect(struct mention_list *named, const struct json *history, struct arena *arena);
/* The same of the steps that tell a result. */
void result_steps_collect(struct mention_list *ret, const struct json *history, struct arena *arena);
/* Does a step of the history, whose memories were noted, name it? */
bool past_result_is_named(const struct past_result *r, const struct mention_list *named, const struct json *history,
			  struct arena *arena);

#endif
