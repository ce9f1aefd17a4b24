#include "api/taken_json.h"

#include "api/describe/write.h"
#include "api/since_json.h"
#include "api/traceparent.h"
#include "codec/json_member.h"
#include "core/envelope/render.h"
#include "core/envelope/unpack.h"
#include "engine/envelope/large_envelope.h"
#include "text/invisible.h"

/* The news beside the envelope, where there are some. */
static void put_since(struct json_writer *w, const struct envelope *e, const struct since_result *results, size_t count,
		      int64_t now_ms)
{
	struct json_writer inner;
	struct buf news;

	buf_init(&news, RENDER_MAX_BYTES);
	json_writer_init(&inner, &news);
	since_json_put(&inner, e, results, count, now_ms);
	if (news.len > 2) {
		json_key(w, "since");
		json_put_raw(w, buf_str(&news));
	}
	buf_release(&news);
}

/* The prompt shows such characters; the envelope has them as they are. Neither may change: it is said beside them.
 * What is stored may be without the texts of its memories: e has them, unless it is NULL. */
static void put_flags(struct json_writer *w, struct str stored, const struct envelope *e)
{
	bool is_flagged = invisible_is_flagged(stored);

	for (size_t i = 0; e && i < e->ref_count && !is_flagged; i++)
		is_flagged = invisible_is_flagged(e->refs[i].text);
	if (!is_flagged)
		return;
	json_key(w, "flags");
	json_put_raw(w, STR("[\"" INVISIBLE_FLAG "\"]"));
}

/* Either is NULL: what of it is known by now. */
static bool takes_long(const struct taken_form *form, const struct envelope_row *row, const struct envelope *e)
{
	if (form->weight == NULL)
		return false;
	*form->weight += envelope_weight(row, e);
	return op_takes_long(*form->weight);
}

/* The envelope in the newest form that the agent accepts, the news, and the prompt, which ends with them. A damaged
 * envelope is no reason to lose the others. */
void taken_write_envelope(const struct field *f, const void *from, const void *with, struct json_writer *w)
{
	const struct handoff_row *h = from;
	const struct taken_form *form = with;
	struct arena *arena = form->arena;
	struct problem problem = {0};
	struct envelope_row row = {.texts = -1};
	struct since_result *results = NULL;
	size_t count = 0;
	struct envelope e;
	struct buf text;

	(void)f;
	if (!form->with_envelope && !form->with_prompt)
		return;
	/* What is stored is the envelope as it is, where no text has to be put back; of a root there are no news. */
	if (store_envelope_get(form->conn, h->space, h->envelope, arena, &row) == STORE_OK && row.texts == 0 &&
	    row.parent == 0 && !form->is_v1 && !form->with_prompt) {
		json_key(w, "envelope");
		json_put_raw(w, row.body);
		put_flags(w, row.body, NULL);
		return;
	}
	if (takes_long(form, &row, NULL))
		return;
	if (row.body.p && unpack_skeleton(&row, arena, &e, &problem) == P_OK && takes_long(form, NULL, &e))
		return;
	if (row.body.p == NULL || problem.code != P_OK ||
	    unpack_texts(form->conn, h->space, arena, &e, &problem) != P_OK) {
		json_key(w, "envelope");
		json_put_null(w);
		json_member_cstr(w, "problem", row.body.p ? problem.detail : "the envelope cannot be read");
		return;
	}
	if (form->ret_traceparent)
		*form->ret_traceparent = traceparent_of(form->api, &e, h->num, h->leases, arena);
	/* That the news cannot be read is no reason not to give the work. */
	if (since_results(form->conn, h->space, &e, h->changed_at_ms, arena, &results, &count, &problem) != P_OK)
		count = 0;
	buf_init(&text, RENDER_MAX_BYTES);
	if (form->with_envelope) {
		if (form->is_v1)
			render_v1(&e, &text);
		else
			envelope_write(&e, ENVELOPE_WHOLE, &text);
		json_key(w, "envelope");
		json_put_raw(w, buf_str(&text));
		buf_clear(&text);
	}
	put_flags(w, row.body, &e);
	put_since(w, &e, results, count, h->changed_at_ms);
	if (form->with_prompt) {
		render_prompt(&e, &text);
		since_render(&e, results, count, &text);
		json_member_str(w, "prompt", buf_str(&text));
	}
	buf_release(&text);
}

void taken_json_put_posted(void *ctx, struct json_writer *w, struct store_conn *c, const struct handoff_row *h,
			   bool is_v1, struct arena *arena, struct str *ret_traceparent)
{
	struct taken_form form = {
		.conn = c, .arena = arena, .with_envelope = true, .with_prompt = true, .is_v1 = is_v1,
		.api = ctx, .ret_traceparent = ret_traceparent,
	};

	shape_write_with(&shape_taken, h, &form, w);
}
