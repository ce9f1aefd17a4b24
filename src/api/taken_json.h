/* A handoff as its receiver gets it, whether it fetches it or has it posted. */
#ifndef SPINE_API_TAKEN_JSON_H
#define SPINE_API_TAKEN_JSON_H

#include "api/describe/describe.h"
#include "store/store.h"

struct api;

struct taken_form {
	struct store_conn *conn;	/* what the envelope is read through */
	struct arena *arena;		/* for that reading */
	bool with_envelope;
	bool with_prompt;
	bool is_v1;			/* the envelope in version 1: the agent reads no newer one */
	/* May be NULL. What writing takes is added up; from where it takes long (op_takes_long) nothing is written. */
	size_t *weight;
	/* Both or none: set to what the receiver continues of the trace (traceparent.h), where the envelope is read. */
	const struct api *api;
	struct str *ret_traceparent;
};

/* A handoff, its lease, and what the form asks for: of a struct handoff_row, written with a struct taken_form. */
extern const struct shape shape_taken;
/* Its field envelope, with the news and the prompt. */
void taken_write_envelope(const struct field *f, const void *from, const void *form, struct json_writer *w);
/* The same as it is posted (outbound/webhook.h): with everything. ctx: a struct api. */
void taken_json_put_posted(void *ctx, struct json_writer *w, struct store_conn *c, const struct handoff_row *h,
			   bool is_v1, struct arena *arena, struct str *ret_traceparent);

#endif
