/* GET /v1/memories: listing and search. */
#include "api/decode.h"
#include "api/memory_json.h"
#include "api/page.h"
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "codec/rfc3339.h"
#include "core/memory/memory.h"
#include "engine/memory/memory_search.h"

#include <math.h>

enum { QUERY_TEXT_MAX = 8192 };

/* --- Parameters --- */

static enum problem_code bad(struct call *call, const char *name, struct str value, const char *expected)
{
	return call_refuse(call, P_INVALID_FIELD, name, "%s is \"%.*s\"; expected %s", name,
			   (int)(value.n < 64 ? value.n : 64), value.p, expected);
}

static enum problem_code read_bool(struct call *call, const char *name, struct str value, bool *ret)
{
	if (!str_is(value, "true") && !str_is(value, "false"))
		return bad(call, name, value, "true or false");
	*ret = str_is(value, "true");
	return P_OK;
}

static enum problem_code read_state(struct call *call, struct str value, struct memory_search *s)
{
	static const char *const names[] = {"active", "superseded", "expired", "any"};

	for (int i = 0; i < 4; i++) {
		if (!str_is(value, names[i]))
			continue;
		s->query.state = (enum recall_state)i;
		return P_OK;
	}
	return bad(call, "state", value, "active, superseded, expired or any");
}

static enum problem_code read_order(struct call *call, struct str value, struct memory_search *s)
{
	if (!str_is(value, "newest") && !str_is(value, "oldest"))
		return bad(call, "order", value, "newest or oldest");
	s->query.oldest_first = str_is(value, "oldest");
	return P_OK;
}

static enum problem_code read_time(struct call *call, const char *name, struct str value, int64_t *ret)
{
	return rfc3339_parse(value, ret) ? P_OK
					 : bad(call, name, value, "an RFC 3339 time, as in 2026-01-30T12:00:00Z");
}

static enum problem_code add_filter(struct call *call, struct memory_search *s, enum recall_field field, struct str key,
				    struct str value)
{
	if (s->query.filter_count == RECALL_FILTERS_MAX)
		return call_refuse(call, P_TOO_LARGE, NULL, "there are more than %d filters",
				   RECALL_FILTERS_MAX);
	s->filters[s->query.filter_count++] = (struct recall_filter){field, key, value};
	return P_OK;
}

/* Values of fields with a fixed list are checked, so that a typing error does not look like an empty result. */
static enum problem_code read_filter(struct call *call, struct memory_search *s, const struct query_pair *pair,
				     bool *ret_known)
{
	static const struct {
		const char *name;
		enum recall_field field;
	} fields[] = {
		{"tag", RECALL_TAG}, {"kind", RECALL_KIND}, {"agent", RECALL_AGENT}, {"task", RECALL_TASK},
		{"importance", RECALL_IMPORTANCE}, {"trust", RECALL_TRUST}, {"pinned", RECALL_PINNED},
	};
	enum importance importance;
	enum trust trust;
	bool pinned;

	*ret_known = true;
	if (str_has_prefix(pair->name, STR("metadata.")) && pair->name.n > 9)
		return add_filter(call, s, RECALL_METADATA, str_sub(pair->name, 9, pair->name.n), pair->value);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (!str_is(pair->name, fields[i].name))
			continue;
		if (fields[i].field == RECALL_IMPORTANCE && !memory_importance_parse(pair->value, &importance))
			return bad(call, "importance", pair->value, "one of low, medium, high, critical");
		if (fields[i].field == RECALL_TRUST && !memory_trust_parse(pair->value, &trust))
			return bad(call, "trust", pair->value, "one of system, user, agent, external");
		if (fields[i].field == RECALL_PINNED && read_bool(call, "pinned", pair->value, &pinned) != P_OK)
			return call->op->problem.code;
		return add_filter(call, s, fields[i].field, STR_NULL, pair->value);
	}
	*ret_known = false;
	return P_OK;
}

static enum problem_code read_parameter(struct call *call, struct memory_search *s, const struct query_pair *pair)
{
	bool known;
	enum problem_code code = read_filter(call, s, pair, &known);

	if (known)
		return code;
	if (str_is(pair->name, "query")) {
		s->query.text = pair->value;
		return decode_check_text(pair->value, "query", 0, QUERY_TEXT_MAX, &call->op->problem);
	}
	if (str_is(pair->name, "state"))
		return read_state(call, pair->value, s);
	if (str_is(pair->name, "order"))
		return read_order(call, pair->value, s);
	if (str_is(pair->name, "explain"))
		return read_bool(call, "explain", pair->value, &s->query.explain);
	if (str_is(pair->name, "created_after"))
		return read_time(call, "created_after", pair->value, &s->query.created_from_ms);
	if (str_is(pair->name, "created_before")) {
		code = read_time(call, "created_before", pair->value, &s->query.created_to_ms);
		/* 0 stands for no bound; before 1970 there is nothing either way. */
		if (s->query.created_to_ms == 0)
			s->query.created_to_ms = -1;
		return code;
	}
	if (!str_is(pair->name, "page_size") && !str_is(pair->name, "page_token"))
		call_warn_unknown(call, pair->name);
	return P_OK;
}

static enum problem_code decode_search(struct call *call)
{
	struct memory_search *s = call_op(call);
	enum problem_code code = page_read(call, &s->page);
	double score;

	for (size_t i = 0; code == P_OK && i < call->query_count; i++)
		code = read_parameter(call, s, &call->query[i]);
	memcpy(&score, &s->page.extra, sizeof(score));
	if (code == P_OK && !isfinite(score))
		code = call_refuse(call, P_INVALID_PAGE_TOKEN, "page_token",
				   "page_token is not one that this list gave out");
	return code;
}

/* --- Answer --- */

static void put_explain(struct json_writer *w, const struct recall_hit *hit, const struct memory *m)
{
	json_key(w, "explain");
	json_begin_object(w);
	json_member_double(w, "text", hit->own);
	json_member_double(w, "neighbours", hit->text - hit->own);
	json_member_double(w, "importance", recall_importance_part(m->importance));
	json_member_double(w, "pinned", recall_pinned_part(m->pinned));
	json_member_double(w, "recency", hit->recency);
	json_key(w, "terms");
	json_begin_array(w);
	for (size_t i = 0; i < hit->term_count; i++) {
		json_begin_object(w);
		json_member_str(w, "term", hit->terms[i].term);
		json_member_double(w, "score", hit->terms[i].score);
		json_member_int(w, "count", hit->terms[i].count);
		json_member_double(w, "idf", hit->terms[i].idf);
		json_end_object(w);
	}
	json_end_array(w);
	json_end_object(w);
}

static void put_score(struct json_writer *w, const struct recall_hit *hit)
{
	json_member_double(w, "score", hit->score);
	json_member_double(w, "relevance", round(hit->relevance * 1000) / 1000);
}

static void encode_search(struct call *call)
{
	const struct memory_search *s = call_op(call);
	struct json_writer w;
	uint64_t next = 0, next_score = 0;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_key(&w, "memories");
	json_begin_array(&w);
	for (size_t i = 0; i < s->count; i++) {
		if (s->memories[i].num == 0)
			continue;
		memory_json_begin(&w, &s->memories[i], call->op->now_ms);
		if (s->query.text.p)
			put_score(&w, &s->hits[i]);
		if (s->query.text.p && s->query.explain)
			put_explain(&w, &s->hits[i], &s->memories[i]);
		json_end_object(&w);
	}
	json_end_array(&w);
	if (s->more) {
		next = s->hits[s->count - 1].num;
		memcpy(&next_score, &s->hits[s->count - 1].score, sizeof(next_score));
	}
	page_put_next(call, &s->page, &w, s->more, next, next_score);
	call_end_reply(call, &w);
}

const struct route search_routes[] = {
	{HTTP_GET, "/v1/memories", &memory_search_kind, &describe_list_memories, decode_search, encode_search},
	{0},
};
