/* Memories that a request names by their ids: those that were found, and those that were not, with the reason. */
#ifndef SPINE_API_LOOKUP_H
#define SPINE_API_LOOKUP_H

#include "api/call.h"
#include "core/envelope/envelope.h"
#include "core/memory/mention.h"

struct lookup {
	struct mention_list seen;	/* an id that is named twice is answered once */
	struct memory *found;
	size_t found_count;
	struct envelope_missing *missing;
	size_t missing_count;
};

/* For at most room ids, MENTION_MAX of them at the most. Memory from the call's arena. */
void lookup_init(struct call *call, size_t room, struct lookup *ret);
enum problem_code lookup_one(struct call *call, struct store_conn *c, struct memory_id id, struct lookup *l);
/* All of an array of texts, the field of that name; the problem names the item that is not an id. */
enum problem_code lookup_list(struct call *call, struct store_conn *c, const struct json *ids, const char *field,
			      struct lookup *ret);
/* What goes to the receiver of an envelope goes by its guard. */
enum problem_code lookup_guard(struct call *call, struct store_conn *c, uint64_t envelope, struct lookup *l);
/* The members "memories" and "missing" of the reply. */
void lookup_put(struct call *call, struct json_writer *w, const struct lookup *l);

#endif
