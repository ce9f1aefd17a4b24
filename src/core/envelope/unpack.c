#include "core/envelope/unpack.h"

#include "codec/sha256.h"

#include <assert.h>

struct str unpack_redacted(struct arena *arena, struct str text, const struct envelope_redaction *redactions,
			   size_t count)
{
	struct buf out;
	struct str result;
	size_t at = 0;

	if (count == 0)
		return text;
	buf_init(&out, text.n + count * 64);
	for (size_t i = 0; i < count; i++) {
		const struct envelope_redaction *r = &redactions[i];

		if (r->at < at || (size_t)r->at + r->len > text.n)
			break;
		buf_append(&out, text.p + at, r->at - at);
		buf_printf(&out, "[redacted: %.*s]", STR_ARG(r->kind));
		at = (size_t)r->at + r->len;
	}
	buf_append(&out, text.p + at, text.n - at);
	result = arena_str(arena, buf_str(&out));
	buf_release(&out);
	return result;
}

/* Puts text and author back, and notes what became of the memory since. One that was forgotten leaves its reference
 * without them. */
static enum problem_code fill_ref(struct store_conn *c, int64_t space, struct envelope_ref *r, bool is_shown,
				  struct arena *arena, struct problem *problem)
{
	struct memory m;
	enum store_status status = store_memory_get(c, space, r->id.num, r->id.version, arena, &m);

	if (status != STORE_OK && status != STORE_NOT_FOUND)
		return problem_of_store(problem, status);
	if (status == STORE_NOT_FOUND)
		return P_OK;
	r->now.version = m.current_version;
	r->now.superseded_by = m.superseded_by;
	r->now.forgotten = m.forgotten_at_ms != 0;
	r->now.quarantined = m.quarantined_at_ms != 0;
	r->now.expires_at_ms = m.expires_at_ms;
	if (r->has_left_agent && !r->now.forgotten)
		r->agent = m.agent;
	if (r->form != FORM_REF && !r->now.forgotten && !(is_shown && r->now.quarantined))
		r->text = unpack_redacted(arena, r->form == FORM_FULL ? m.content : m.summary, r->redactions,
					  r->redaction_count);
	return P_OK;
}

enum problem_code unpack_skeleton(const struct envelope_row *row, struct arena *arena, struct envelope *ret,
				  struct problem *problem)
{
	if (envelope_read(row->body, arena, ret))
		return P_OK;
	return problem_set(problem, P_ENVELOPE_DAMAGED, NULL, "env-%llu is damaged in the store; run spine check and "
			   "restore a backup", (unsigned long long)row->num);
}

/* is_shown: to somebody who must not see what is in quarantine. */
static enum problem_code fill_refs(struct store_conn *c, int64_t space, bool is_shown, struct arena *arena,
				   struct envelope *e, struct problem *problem)
{
	enum problem_code code = P_OK;
	bool snapshot = store_snapshot_begin(c);

	for (size_t i = 0; code == P_OK && i < e->ref_count; i++)
		code = fill_ref(c, space, &e->refs[i], is_shown, arena, problem);
	if (snapshot)
		store_snapshot_end(c);
	return code;
}

static enum problem_code fill_row(struct store_conn *c, const struct envelope_row *row, bool is_shown,
				  struct arena *arena, struct envelope *ret, struct problem *problem)
{
	enum problem_code code = unpack_skeleton(row, arena, ret, problem);

	return code == P_OK ? fill_refs(c, row->space, is_shown, arena, ret, problem) : code;
}

enum problem_code unpack_texts(struct store_conn *c, int64_t space, struct arena *arena, struct envelope *e,
			       struct problem *problem)
{
	return fill_refs(c, space, true, arena, e, problem);
}

enum problem_code unpack_row(struct store_conn *c, const struct envelope_row *row, struct arena *arena,
			     struct envelope *ret, struct problem *problem)
{
	return fill_row(c, row, true, arena, ret, problem);
}

enum problem_code unpack_missing(struct store_conn *c, int64_t space, uint64_t num, const char *field,
				 struct problem *problem)
{
	struct pruned_envelope left;
	enum store_status status = space ? store_pruned_envelope(c, space, num, &left) : STORE_NOT_FOUND;

	if (status == STORE_OK)
		return problem_set(problem, P_ENVELOPE_PRUNED, field, "env-%llu is not kept any more: its "
				   "handoffs ended longer ago than this space keeps them. Its digest and parent are "
				   "left: GET /v1/envelopes/env-%llu/verify", (unsigned long long)num,
				   (unsigned long long)num);
	if (status != STORE_NOT_FOUND)
		return problem_of_store(problem, status);
	return problem_set(problem, P_ENVELOPE_NOT_FOUND, field, "there is no envelope env-%llu in this space",
			   (unsigned long long)num);
}

enum problem_code unpack_find(struct store_conn *c, int64_t space, uint64_t num, const char *field, struct arena *arena,
			      struct envelope_row *ret, struct problem *problem)
{
	enum store_status status = space ? store_envelope_get(c, space, num, arena, ret) : STORE_NOT_FOUND;
	enum problem_code missing;

	if (status == STORE_NOT_FOUND) {
		missing = unpack_missing(c, space, num, field, problem);
		assert(missing != P_OK);
		return missing;
	}
	return status == STORE_OK ? P_OK : problem_of_store(problem, status);
}

enum problem_code unpack(struct store_conn *c, int64_t space, uint64_t num, const char *field, struct arena *arena,
			 struct envelope *ret, struct problem *problem)
{
	struct envelope_row row;
	enum problem_code code = unpack_find(c, space, num, field, arena, &row, problem);

	return code == P_OK ? unpack_row(c, &row, arena, ret, problem) : code;
}

/* --- Verifying --- */

/* A text, or an author. */
static bool has_gone_part(const struct envelope *e)
{
	for (size_t i = 0; i < e->ref_count; i++) {
		const struct envelope_ref *r = &e->refs[i];

		if ((r->form != FORM_REF && r->text.p == NULL) || (r->has_left_agent && r->agent.p == NULL))
			return true;
	}
	return false;
}

/* The body as it is stored, without the texts and authors. Rows of older stores have no digest of it. */
static bool body_matches(const struct envelope_row *row)
{
	uint8_t digest[32];

	if (!row->has_body_digest)
		return true;
	sha256(row->body, digest);
	return memcmp(digest, row->body_digest, sizeof(digest)) == 0;
}

/* One envelope against its own digest, the store's copy of it, and what its child says of it (NULL: it has none). Its
 * digest is over these, too: where one is gone, that of the body is what there is to check the rest with. */
static enum unpack_verdict verify_one(const struct envelope *e, const struct envelope_row *row, const uint8_t *expected)
{
	uint8_t digest[32];

	if (expected && memcmp(e->digest, expected, 32) != 0)
		return UNPACK_UNCHAINED;
	if (memcmp(e->digest, row->digest, 32) != 0 || e->num != row->num || e->parent != row->parent ||
	    !body_matches(row))
		return UNPACK_DAMAGED;
	if (has_gone_part(e))
		return UNPACK_FORGOTTEN;
	envelope_digest(e, digest);
	return memcmp(digest, e->digest, 32) == 0 ? UNPACK_INTACT : UNPACK_DAMAGED;
}

/* A link of a chain. */
struct link {
	enum unpack_verdict verdict;
	uint64_t parent;
	uint8_t parent_digest[32];
	bool has_parent_digest;		/* what is left of a pruned one does not say it */
};

static enum problem_code verify_pruned(struct store_conn *c, int64_t space, uint64_t num, const uint8_t *expected,
				       struct link *ret, struct problem *problem)
{
	struct pruned_envelope left;
	enum store_status status = store_pruned_envelope(c, space, num, &left);

	if (status != STORE_OK)
		return problem_of_store(problem, status);
	*problem = (struct problem){0};
	*ret = (struct link){.verdict = UNPACK_PRUNED, .parent = left.parent};
	if (expected && memcmp(left.digest, expected, sizeof(left.digest)) != 0)
		ret->verdict = UNPACK_UNCHAINED;
	return P_OK;
}

/* expected: what its child says of it; NULL: it has none, or that does not say. */
static enum problem_code verify_link(struct store_conn *c, int64_t space, uint64_t num, bool is_first,
				     const uint8_t *expected, struct arena *arena, struct link *ret,
				     struct problem *problem)
{
	struct envelope_row row;
	struct envelope e;
	enum problem_code code = unpack_find(c, space, num, "id", arena, &row, problem);

	*ret = (struct link){.verdict = UNPACK_UNCHAINED};
	if (code == P_ENVELOPE_PRUNED)
		return verify_pruned(c, space, num, expected, ret, problem);
	if (code == P_ENVELOPE_NOT_FOUND && !is_first) {
		*problem = (struct problem){0};
		return P_OK;
	}
	if (code == P_OK)
		code = fill_row(c, &row, false, arena, &e, problem);
	if (code == P_ENVELOPE_DAMAGED) {
		*problem = (struct problem){0};
		ret->verdict = UNPACK_DAMAGED;
		return P_OK;
	}
	if (code != P_OK)
		return code;
	*ret = (struct link){verify_one(&e, &row, expected), e.parent, {0}, true};
	memcpy(ret->parent_digest, e.parent_digest, sizeof(ret->parent_digest));
	return P_OK;
}

static bool is_bad(enum unpack_verdict verdict)
{
	return verdict == UNPACK_DAMAGED || verdict == UNPACK_UNCHAINED;
}

static enum problem_code verify_chain(struct store_conn *c, int64_t space, uint64_t num, struct arena *arena,
				      enum unpack_verdict *ret, uint64_t *ret_at, size_t *ret_checked,
				      struct problem *problem)
{
	struct link link = {.verdict = UNPACK_INTACT}, before = {0};
	enum problem_code code = P_OK;
	uint64_t at = num;

	*ret = UNPACK_INTACT;
	*ret_at = num;
	for (*ret_checked = 0; at && code == P_OK && !is_bad(*ret); (*ret_checked)++) {
		code = verify_link(c, space, at, at == num, before.has_parent_digest ? before.parent_digest : NULL,
				   arena, &link, problem);
		/* A parent is always older; a store that says otherwise would lead in circles. */
		if (code == P_OK && !is_bad(link.verdict) && link.parent >= at)
			link.verdict = UNPACK_DAMAGED;
		if (code == P_OK && link.verdict != UNPACK_INTACT && (*ret == UNPACK_INTACT || is_bad(link.verdict))) {
			*ret = link.verdict;
			*ret_at = at;
		} else if (code == P_OK && link.verdict == UNPACK_PRUNED) {
			*ret = UNPACK_PRUNED;
		}
		before = link;
		at = link.parent;
	}
	return code;
}

static enum problem_code verify_alone(struct store_conn *c, int64_t space, uint64_t num, struct arena *arena,
				      enum unpack_verdict *ret, struct problem *problem)
{
	struct envelope_row row, parent;
	struct envelope e;
	enum problem_code code = unpack_find(c, space, num, "id", arena, &row, problem);

	if (code == P_OK)
		code = fill_row(c, &row, false, arena, &e, problem);
	if (code == P_ENVELOPE_DAMAGED) {
		*ret = UNPACK_DAMAGED;
		return P_OK;
	}
	if (code != P_OK)
		return code;
	*ret = verify_one(&e, &row, NULL);
	if (*ret == UNPACK_DAMAGED || e.parent == 0)
		return P_OK;
	code = unpack_find(c, space, e.parent, "parent", arena, &parent, problem);
	if (code == P_ENVELOPE_PRUNED) {
		struct link link = {0};

		code = verify_pruned(c, space, e.parent, e.parent_digest, &link, problem);
		if (code == P_OK && link.verdict == UNPACK_UNCHAINED)
			*ret = UNPACK_UNCHAINED;
		return code;
	}
	if (code != P_OK && code != P_ENVELOPE_NOT_FOUND)
		return code;
	if (code != P_OK || e.parent >= num || memcmp(parent.digest, e.parent_digest, sizeof(parent.digest)) != 0)
		*ret = UNPACK_UNCHAINED;
	return P_OK;
}

enum problem_code unpack_verify_one(struct store_conn *c, int64_t space, uint64_t num, struct arena *arena,
				    enum unpack_verdict *ret, struct problem *problem)
{
	enum problem_code code;

	store_set_direct(c, true);
	code = verify_alone(c, space, num, arena, ret, problem);
	store_set_direct(c, false);
	return code;
}

/* What is on the disk is asked for, not what somebody remembers of it. */
enum problem_code unpack_verify(struct store_conn *c, int64_t space, uint64_t num, struct arena *arena,
				enum unpack_verdict *ret, uint64_t *ret_at, size_t *ret_checked,
				struct problem *problem)
{
	enum problem_code code;

	store_set_direct(c, true);
	code = verify_chain(c, space, num, arena, ret, ret_at, ret_checked, problem);
	store_set_direct(c, false);
	return code;
}
