/* Version 1: the flat form that old agents read. */
#include "core/envelope/render.h"

/* What version 1 says itself, and what a body says of where it belongs. Extensions come from outside: they must not say
 * the one a second time, nor the other for an agent that sends back what it got. */
static bool is_own(struct str key)
{
	static const char *const names[] = {"version", "target", "summary", "constraints", "history", "memory_ids",
					    "context", "envelope_id", "digest", "parent", "new_root", "locked",
					    "from", "extensions", "envelope_version"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_is(key, names[i]))
			return true;
	return false;
}

/* Fields of a version 1 envelope that the server does not know are kept in extensions.v1 and given back at the top. */
static void put_extensions(struct json_writer *w, const struct envelope *e)
{
	const struct json *v1 = json_get(&e->extensions, "v1");

	for (uint32_t i = 0; v1 && v1->type == JSON_OBJECT && i < v1->count; i++) {
		if (is_own(v1->members[i].key))
			continue;
		json_key_str(w, v1->members[i].key);
		json_put_canonical(w, &v1->members[i].value);
	}
}

/* Which envelope this is, so that an agent that hands it on with another target and summary goes on with the chain. */
static void put_identity(struct json_writer *w, const struct envelope *e)
{
	char id[ENVELOPE_ID_SIZE], digest[ENVELOPE_DIGEST_SIZE];

	if (e->num == 0)
		return;
	envelope_id_format(e->num, id);
	envelope_digest_format(e->digest, digest);
	json_member_cstr(w, "envelope_id", id);
	json_member_cstr(w, "digest", digest);
}

void render_v1(const struct envelope *e, struct buf *out)
{
	char id[MEMORY_ID_SIZE];
	struct json_writer w;
	struct buf prompt;

	buf_init(&prompt, RENDER_MAX_BYTES);
	render_prompt(e, &prompt);
	json_writer_init(&w, out);
	json_begin_object(&w);
	json_member_int(&w, "version", 1);
	json_member_str(&w, "target", e->to);
	json_member_str(&w, "summary", e->summary);
	json_key(&w, "constraints");
	json_put_canonical(&w, &e->constraints);
	json_key(&w, "history");
	json_put_canonical(&w, &e->history);
	json_key(&w, "memory_ids");
	json_begin_array(&w);
	for (size_t i = 0; i < e->ref_count; i++) {
		memory_id_format(e->refs[i].id.num, 0, id);
		json_put_cstr(&w, id);
	}
	json_end_array(&w);
	json_member_str(&w, "context", buf_str(&prompt));
	put_identity(&w, e);
	put_extensions(&w, e);
	json_end_object(&w);
	buf_release(&prompt);
}
