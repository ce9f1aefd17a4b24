#include "core/envelope/envelope.h"

#include "codec/json_member.h"
#include "codec/sha256.h"

#include <math.h>
#include <stdio.h>

enum { ENVELOPE_MAX_BYTES = 64 * 1024 * 1024 };

static const char *const why_names[] = {"cited", "pinned", "inherited", "relevant", "recent"};
static const char *const form_names[] = {"full", "summary", "ref"};
static const char *const strategy_names[] = {"priority", "full", "summary", "lazy"};
static const char *const fetch_names[] = {NULL, "mcp", "command", "http"};

const char *envelope_why_name(enum envelope_why why)
{
	return why_names[why];
}

const char *envelope_form_name(enum envelope_form form)
{
	return form_names[form];
}

const char *envelope_strategy_name(enum envelope_strategy strategy)
{
	return strategy_names[strategy];
}

bool envelope_strategy_parse(struct str name, enum envelope_strategy *ret)
{
	for (int i = 0; i < 4; i++) {
		if (!str_is(name, strategy_names[i]))
			continue;
		*ret = (enum envelope_strategy)i;
		return true;
	}
	return false;
}

const char *envelope_fetch_name(enum envelope_fetch fetch)
{
	return fetch_names[fetch];
}

bool envelope_fetch_parse(struct str name, enum envelope_fetch *ret)
{
	for (int i = FETCH_MCP; i <= FETCH_HTTP; i++) {
		if (!str_is(name, fetch_names[i]))
			continue;
		*ret = (enum envelope_fetch)i;
		return true;
	}
	return false;
}

enum trust envelope_trust(const struct envelope *e)
{
	enum trust trust = TRUST_AGENT;

	if (e->minor >= 2)
		return e->trust;
	for (size_t i = 0; i < e->ref_count; i++)
		if (e->refs[i].trust > trust)
			trust = e->refs[i].trust;
	return trust;
}

/* --- Writing: members stand in the order of their names, as RFC 8785 wants them --- */

void envelope_digest_format(const uint8_t digest[32], char ret[ENVELOPE_DIGEST_SIZE])
{
	static const char hex[] = "0123456789abcdef";

	memcpy(ret, "sha256:", 7);
	for (size_t i = 0; i < 32; i++) {
		ret[7 + 2 * i] = hex[digest[i] >> 4];
		ret[8 + 2 * i] = hex[digest[i] & 15];
	}
	ret[7 + 64] = '\0';
}

static void put_digest(struct json_writer *w, const char *key, const uint8_t digest[32])
{
	char text[ENVELOPE_DIGEST_SIZE];

	envelope_digest_format(digest, text);
	json_member_cstr(w, key, text);
}

static void put_envelope_id(struct json_writer *w, const char *key, uint64_t num)
{
	char id[ENVELOPE_ID_SIZE];

	json_key(w, key);
	if (num == 0) {
		json_put_null(w);
		return;
	}
	envelope_id_format(num, id);
	json_put_cstr(w, id);
}

static void put_memory_id(struct json_writer *w, const char *key, uint64_t num)
{
	char id[MEMORY_ID_SIZE];

	json_key(w, key);
	if (num == 0) {
		json_put_null(w);
		return;
	}
	memory_id_format(num, 0, id);
	json_put_cstr(w, id);
}

static double ratio(int64_t part, int64_t whole)
{
	int64_t digits;

	if (whole <= 0)
		return 1.0;
	/* Four digits are what a person or an alert can use, and the same everywhere. */
	digits = (part * 10000 + whole / 2) / whole;
	return (double)digits / 10000.0;
}

static void put_budget(struct json_writer *w, const struct envelope *e)
{
	json_key(w, "budget");
	json_begin_object(w);
	json_member_int(w, "max_tokens", e->max_tokens);
	json_member_cstr(w, "strategy", envelope_strategy_name(e->strategy));
	json_member_int(w, "token_count", e->token_count);
	json_member_str(w, "tokenizer", e->tokenizer);
	json_key(w, "trimmed");
	json_begin_array(w);
	for (size_t i = 0; i < e->trim_count; i++) {
		const struct envelope_trim *t = &e->trimmed[i];
		bool is_memory = e->minor >= 1 && str_has_prefix(t->id, STR("ms-"));

		json_begin_object(w);
		json_member_str(w, "form", t->form);
		json_member_str(w, "id", t->id);
		json_member_str(w, "reason", t->reason);
		if (is_memory)
			json_member_double(w, "relevance", round(t->relevance * 1000) / 1000);
		json_member_double(w, "score", t->score);
		json_member_int(w, "tokens", t->tokens);
		if (is_memory)
			json_member_cstr(w, "why", envelope_why_name(t->why));
		json_end_object(w);
	}
	json_end_array(w);
	json_member_double(w, "utilization", ratio(e->token_count, e->max_tokens));
	if (e->minor >= 1)
		json_member_double(w, "worth", e->worth);
	json_end_object(w);
}

static void put_completeness(struct json_writer *w, const struct envelope *e)
{
	json_key(w, "completeness");
	json_begin_object(w);
	json_member_int(w, "requested", e->requested);
	json_member_int(w, "resolved", e->resolved);
	json_member_double(w, "score", ratio(e->resolved, e->requested));
	json_end_object(w);
}

static void put_lineage(struct json_writer *w, const struct envelope *e)
{
	json_key(w, "lineage");
	json_begin_object(w);
	json_member_int(w, "hop", e->hop);
	json_member_int(w, "max_hops", e->max_hops);
	put_envelope_id(w, "parent", e->parent);
	if (e->parent) {
		put_digest(w, "parent_digest", e->parent_digest);
	} else {
		json_key(w, "parent_digest");
		json_put_null(w);
	}
	json_key(w, "path");
	json_put_canonical(w, &e->path);
	put_envelope_id(w, "root", e->root);
	json_end_object(w);
}

static void put_redactions(struct json_writer *w, const struct envelope_ref *r)
{
	json_key(w, "redactions");
	json_begin_array(w);
	for (size_t i = 0; i < r->redaction_count; i++) {
		json_begin_object(w);
		json_member_int(w, "at", r->redactions[i].at);
		json_member_str(w, "kind", r->redactions[i].kind);
		json_member_int(w, "len", r->redactions[i].len);
		json_end_object(w);
	}
	json_end_array(w);
}

/* What stands in the sealed envelope and not in the skeleton: texts of references, each with its name and the comma
 * before it, and their authors, with the comma behind. */
struct spans {
	struct span {
		size_t from;
		size_t to;
	} *spans;
	size_t count;
};

/* The first of its members. */
static void put_author(struct json_writer *w, const struct envelope_ref *r, struct spans *ret)
{
	size_t from = w->out->len;

	json_member_optional(w, "agent", r->agent);
	if (ret && r->agent.p && !r->is_renamed)
		ret->spans[ret->count++] = (struct span){from, w->out->len + 1};
}

static void put_text(struct json_writer *w, const struct envelope_ref *r, struct spans *ret)
{
	size_t from = w->out->len;

	json_member_str(w, "text", r->text);
	if (ret)
		ret->spans[ret->count++] = (struct span){from, w->out->len};
}

static void put_ref(struct json_writer *w, const struct envelope *e, const struct envelope_ref *r,
		    struct spans *ret_texts)
{
	json_begin_object(w);
	put_author(w, r, ret_texts);
	json_member_time(w, "created_at", r->created_at_ms);
	put_digest(w, "digest", r->digest);
	json_member_cstr(w, "form", envelope_form_name(r->form));
	put_memory_id(w, "id", r->id.num);
	json_member_cstr(w, "importance", memory_importance_name(r->importance));
	json_member_optional(w, "kind", r->kind);
	if (r->redaction_count)
		put_redactions(w, r);
	/* Three digits are as fine as anybody can tell, and the same everywhere. */
	if (e->minor >= 1)
		json_member_double(w, "relevance", round(r->relevance * 1000) / 1000);
	put_memory_id(w, "superseded_by", r->superseded_by);
	if (r->text.p)
		put_text(w, r, ret_texts);
	json_member_int(w, "tokens", r->tokens);
	json_member_cstr(w, "trust", memory_trust_name(r->trust));
	json_member_int(w, "version", r->id.version);
	json_member_cstr(w, "why", envelope_why_name(r->why));
	json_end_object(w);
}

static void put_memory(struct json_writer *w, const struct envelope *e, struct spans *ret_texts)
{
	json_key(w, "memory");
	json_begin_object(w);
	json_key(w, "missing");
	json_begin_array(w);
	for (size_t i = 0; i < e->missing_count; i++) {
		json_begin_object(w);
		json_member_str(w, "id", e->missing[i].id);
		json_member_str(w, "reason", e->missing[i].reason);
		json_end_object(w);
	}
	json_end_array(w);
	json_key(w, "refs");
	json_begin_array(w);
	for (size_t i = 0; i < e->ref_count; i++)
		put_ref(w, e, &e->refs[i], ret_texts);
	json_end_array(w);
	json_end_object(w);
}

static void put_task(struct json_writer *w, const struct envelope *e)
{
	json_key(w, "task");
	json_begin_object(w);
	json_member_str(w, "id", e->task);
	json_member_optional(w, "intent", e->intent);
	json_key(w, "open_decisions");
	json_put_canonical(w, &e->open_decisions);
	json_member_optional(w, "state", e->state);
	json_member_str(w, "summary", e->summary);
	json_end_object(w);
}

/* Returns where the digest stands, or would. ret_texts may be NULL. */
static size_t write_members(const struct envelope *e, enum envelope_part part, struct buf *out, struct spans *ret_texts)
{
	struct json_writer writer, *w = &writer;
	size_t digest_at;

	json_writer_init(w, out);
	json_begin_object(w);
	put_budget(w, e);
	put_completeness(w, e);
	json_key(w, "constraints");
	json_put_canonical(w, &e->constraints);
	json_member_time(w, "created_at", e->created_at_ms);
	digest_at = out->len;
	if (part != ENVELOPE_DIGESTED)
		put_digest(w, "digest", e->digest);
	json_member_int(w, "envelope_minor", e->minor);
	json_member_cstr(w, "envelope_version", ENVELOPE_VERSION);
	json_key(w, "expected_output");
	json_put_canonical(w, &e->expected_output);
	json_key(w, "extensions");
	json_put_canonical(w, &e->extensions);
	if (e->minor >= 1)
		json_member_optional(w, "fetch_hint", str_of(envelope_fetch_name(e->fetch_hint)));
	json_member_optional(w, "from", e->from);
	json_key(w, "guard");
	json_put_canonical(w, &e->guard);
	json_key(w, "history");
	json_put_canonical(w, &e->history);
	put_envelope_id(w, "id", e->num);
	put_lineage(w, e);
	if (e->locked.type == JSON_ARRAY && e->locked.count) {
		json_key(w, "locked");
		json_put_canonical(w, &e->locked);
	}
	put_memory(w, e, ret_texts);
	json_member_str(w, "space", e->space);
	put_task(w, e);
	json_member_str(w, "to", e->to);
	json_member_optional(w, "traceparent", e->traceparent);
	if (e->minor >= 2)
		json_member_cstr(w, "trust", memory_trust_name(e->trust));
	json_key(w, "waived");
	json_put_canonical(w, &e->waived);
	json_end_object(w);
	return digest_at;
}

void envelope_write(const struct envelope *e, enum envelope_part part, struct buf *out)
{
	write_members(e, part, out, NULL);
}

/* The sealed envelope without the texts and authors. Their places are those before the digest, which has `shift` bytes,
 * was put in before all of them. */
static struct str without_texts(struct str sealed, const struct spans *texts, size_t shift, struct arena *arena)
{
	char *out;
	size_t n = 0, at = 0;

	if (texts->count == 0)
		return sealed;
	out = arena_alloc(arena, sealed.n);
	for (size_t i = 0; i < texts->count; i++) {
		memcpy(out + n, sealed.p + at, texts->spans[i].from + shift - at);
		n += texts->spans[i].from + shift - at;
		at = texts->spans[i].to + shift;
	}
	memcpy(out + n, sealed.p + at, sealed.n - at);
	return (struct str){out, n + sealed.n - at};
}

void envelope_seal(struct envelope *e, struct arena *arena)
{
	struct buf text, digest;
	struct json_writer w;
	struct spans texts = {arena_calloc(arena, 2 * e->ref_count + 1, sizeof(*texts.spans)), 0};
	size_t at;
	char *sealed;

	buf_init(&text, ENVELOPE_MAX_BYTES);
	buf_init(&digest, 256);
	at = write_members(e, ENVELOPE_DIGESTED, &text, &texts);
	sha256(buf_str(&text), e->digest);
	json_writer_init(&w, &digest);
	w.comma = true;
	put_digest(&w, "digest", e->digest);
	sealed = arena_alloc(arena, text.len + digest.len);
	memcpy(sealed, text.data, at);
	memcpy(sealed + at, digest.data, digest.len);
	memcpy(sealed + at + digest.len, text.data + at, text.len - at);
	e->sealed = (struct str){sealed, text.len + digest.len};
	e->skeleton = without_texts(e->sealed, &texts, digest.len, arena);
	buf_release(&text);
	buf_release(&digest);
}

void envelope_digest(const struct envelope *e, uint8_t ret[32])
{
	struct buf text;

	buf_init(&text, ENVELOPE_MAX_BYTES);
	envelope_write(e, ENVELOPE_DIGESTED, &text);
	sha256(buf_str(&text), ret);
	buf_release(&text);
}
