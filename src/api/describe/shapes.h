/* What several descriptions share: shapes, pieces of addresses, parameters of pages. */
#ifndef SPINE_API_DESCRIBE_SHAPES_H
#define SPINE_API_DESCRIBE_SHAPES_H

#include "api/describe/describe.h"
#include "api/describe/words.h"
#include "api/describe/write.h"

/* --- For writing tables --- */

#define FIELDS(...) .fields = (const struct field[]){__VA_ARGS__, FIELDS_END}
#define ANSWERS(...) .answers = (const struct answer[]){__VA_ARGS__, {.status = 0}}
#define ANSWER(n, text, what, ...) {.status = (n), .says = (text), .shape = (what), __VA_ARGS__}
/* One that has no shape; or, without a sentence, another form of the answer before it. */
#define OTHER(n, text, ...) {.status = (n), .says = (text), __VA_ARGS__}
#define REFUSES(...) .problems = (const enum problem_code[]){__VA_ARGS__, P_OK}
/* Parameters, or a body, that only this operation has. */
#define INPUT(...) &(const struct shape){.is_input = true, FIELDS(__VA_ARGS__)}
/* An answer that only this operation has. */
#define OUTPUT(...) &(const struct shape){.warns = true, FIELDS(__VA_ARGS__)}
/* An object within another. */
#define WITHIN(...) &(const struct shape){FIELDS(__VA_ARGS__)}
/* The same for one that is written from a struct. */
#define WITHIN_OF(s, ...) &(const struct shape){FIELDS(__VA_ARGS__), .size = sizeof(s)}
#define COUNT_OF(name, s, m, says, ...) FIELD_INT(name, s, m, 0, NO_MAX, says, __VA_ARGS__)
#define COUNT(name, says, ...) DOC_INT(name, 0, NO_MAX, says, __VA_ARGS__)

/* --- Pages --- */

enum { LIST_SIZE_MAX = 1000 };

#define PAGE_SIZE \
	DOC_INT("page_size", 1, LIST_SIZE_MAX, "How many to answer at most.", .otherwise = "20", \
		.component = "PageSize")
#define PAGE_SIZE_OF_TASK \
	DOC_INT("page_size", 1, LIST_SIZE_MAX, "How many envelopes to answer at most.", .otherwise = "1000", \
		.component = "PageSizeOfTask")
#define PAGE_TOKEN \
	DOC_TEXT("page_token", 0, 0, "next_page_token of the page before, with the same query.", \
		 .component = "PageToken")
/* The query of a list whose struct has a member page. */
#define LISTS(s) .query_kind = QUERY_LIST, .query_into = INTO(s, op), .page_into = INTO(s, page)
#define NEXT_PAGE DOC_TEXT("next_page_token", 0, 0, "Where the next page begins.", .component = "NextPageToken")

#define NOT_AN_ENVELOPE .refusal = "is not an id of an envelope; expected one as in env-17"

/* --- Of what is sent --- */

#define FIELD_QUEUE_TIMEOUT(s, m, whose) \
	FIELD_SECONDS("queue_timeout_s", s, m, 1, DELIVERY_LATER_MAX_MS, \
		      "How long nobody may take it until it is parked, counted from now, from not_before or from a " \
		      "redrive. Where absent: " whose ".", .usually = whose, \
		      .docs = "how long nobody may take it until it is parked; at most 31,622,400 (366 days)")
#define FIELD_NOT_BEFORE(s, m) \
	FIELD_TIME("not_before", s, m, "RFC 3339. Nobody gets it before; at most 366 days from now.", \
		   .usually = "at once", .docs = "a time; nobody gets it before")

/* --- Pieces of addresses --- */

extern const struct field path_memory, path_memory_ref, path_envelope, path_other_envelope, path_task,
	path_name, path_space, path_agent, path_receiver, path_queue, path_handoff, path_subscriber, path_alert,
	path_key, path_schema;

/* --- Shapes --- */

extern const struct shape shape_memory, shape_memory_input, shape_memory_patch, shape_found, shape_missing;
extern const struct shape shape_scored;		/* what a search says of a memory: included by it */
extern const struct shape shape_pack, shape_envelope_1_input, shape_envelope_2_input;
#define ORIGIN_OR_NULL "'anyOf':[{'$ref':'#/components/schemas/Origin'},{'type':'null'}]"
extern const struct shape shape_hop;		/* which envelope of a chain: included by others */
extern const struct shown handoff_blind[];	/* of one that is sent: how it stands, and nothing that was said */
extern const struct shape shape_handoff_row;	/* the same for what every handoff says */
extern const struct shape shape_result;		/* the same for what came of it */
extern const struct shape shape_settled;	/* what a settling answers, written from struct settling */
extern const struct shape shape_outcome;	/* the same for one of several */
field_read_fn settles_read;		/* of the field that lists several, into struct receive */
extern const struct shape shape_deliver;	/* what sending takes, read into struct send */
extern const struct shape shape_about;		/* the same for what a handoff is about */
extern const struct shape shape_presence;	/* the same for where an agent is */
extern const struct shape shape_breaker;
extern const struct shape shape_handoff, shape_event, shape_decision, shape_queue;

#endif
