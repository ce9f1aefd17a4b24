#include "engine/access/party.h"

#include "core/envelope/assemble.h"
#include "core/envelope/unpack.h"
#include "core/watch/event.h"
#include "engine/envelope/task.h"

/* LINKS: envelopes of a task that are read at a time; LOOKED_MAX: handoffs of an envelope whose events are looked
 * through; TOLD_MAX: of each, the newest. */
enum { LINKS = 100, LOOKED_MAX = 100, TOLD_MAX = 1000 };

enum store_status party_init(struct party *p, const struct access *access, int64_t space, struct store_conn *c)
{
	enum store_status status = STORE_NOT_FOUND;

	*p = (struct party){.agent = access_party(access), .sees_keys = access_sees_keys(access), .space = space,
			    .conn = c};
	if (p->agent.p && space)
		status = store_agent_id(c, space, p->agent, false, 0, &p->id);
	return status == STORE_NOT_FOUND ? STORE_OK : status;
}

void party_filter(const struct party *p, struct handoff_filter *filter)
{
	filter->party = p->agent;
	filter->party_id = p->id;
}

static bool is_its_name(const struct party *p, struct str name)
{
	return name.p && str_eq(name, p->agent);
}

/* --- Handoffs --- */

/* Its name stands in the events of the time in which it had the handoff. */
static enum store_status had(const struct party *p, uint64_t handoff, bool *ret)
{
	struct event_filter filter = {.space = p->space, .handoff = handoff, .newest_first = true};
	struct event_row *rows;
	struct arena arena;
	size_t count = 0;
	enum store_status status;

	arena_init(&arena);
	rows = arena_calloc(&arena, TOLD_MAX, sizeof(*rows));
	status = store_event_page(p->conn, &filter, 0, INT64_MAX, TOLD_MAX, &arena, rows, &count);
	*ret = false;
	for (size_t i = 0; i < count && !*ret; i++)
		*ret = is_its_name(p, rows[i].agent);
	arena_release(&arena);
	return status;
}

/* Has it packed this one, or is this addressed to it? One that is damaged names nobody. */
static bool is_named(const struct party *p, const struct envelope_row *row, bool as_sender_only, struct arena *arena)
{
	struct problem problem = {0};
	struct envelope e;

	if (unpack_skeleton(row, arena, &e, &problem) != P_OK)
		return false;
	return is_its_name(p, e.from) || (!as_sender_only && is_its_name(p, e.to));
}

/* Has it packed the envelope, or, hops later, one that this goes on from? */
static enum store_status has_begun(const struct party *p, uint64_t envelope, int hops, bool *ret)
{
	enum store_status status = STORE_OK;

	*ret = false;
	for (int i = 0; status == STORE_OK && envelope && i <= hops && !*ret; i++) {
		struct envelope_row row;
		struct arena arena;

		arena_init(&arena);
		status = store_envelope_get(p->conn, p->space, envelope, &arena, &row);
		if (status == STORE_OK) {
			*ret = is_named(p, &row, true, &arena);
			envelope = row.parent;
		}
		arena_release(&arena);
	}
	return status == STORE_NOT_FOUND ? STORE_OK : status;
}

static enum store_status look_at(struct party *p, const struct handoff_row *h, bool *ret)
{
	size_t at = h->num % PARTY_MEMO;
	enum store_status status;

	if (p->memo[at].handoff == h->num) {
		*ret = p->memo[at].sees;
		return STORE_OK;
	}
	status = has_begun(p, h->envelope, PACK_HOPS_MAX, ret);
	p->memo[at].handoff = status == STORE_OK ? h->num : 0;
	p->memo[at].sees = *ret;
	return status;
}

enum store_status party_sees_handoff(struct party *p, const struct handoff_row *h, bool was_its, bool *ret)
{
	enum store_status status;

	*ret = p->agent.p == NULL || is_its_name(p, h->from) || is_its_name(p, h->agent_name) ||
	       is_its_name(p, h->target_name);
	if (*ret)
		return STORE_OK;
	status = look_at(p, h, ret);
	return status == STORE_OK && was_its && !*ret ? had(p, h->num, ret) : status;
}

/* --- Envelopes --- */

/* Was it handed over by the agent, or to it? */
static enum store_status is_handed(const struct party *p, uint64_t envelope, bool *ret)
{
	struct handoff_filter filter = {.space = p->space, .envelope = envelope};
	struct handoff_row row;
	struct arena arena;
	size_t count = 0;
	enum store_status status;

	party_filter(p, &filter);
	arena_init(&arena);
	status = store_handoffs(p->conn, &filter, 0, 1, &arena, &row, &count);
	arena_release(&arena);
	*ret = count > 0;
	return status;
}

/* Had it the envelope for a while, before it was moved on? */
static enum store_status was_handed(const struct party *p, uint64_t envelope, bool *ret)
{
	struct handoff_filter filter = {.space = p->space, .envelope = envelope};
	struct handoff_row *rows;
	struct arena arena;
	size_t count = 0;
	enum store_status status;

	arena_init(&arena);
	rows = arena_calloc(&arena, LOOKED_MAX, sizeof(*rows));
	status = store_handoffs(p->conn, &filter, 0, LOOKED_MAX, &arena, rows, &count);
	*ret = false;
	for (size_t i = 0; status == STORE_OK && i < count && !*ret; i++)
		status = had(p, rows[i].num, ret);
	arena_release(&arena);
	return status;
}

static enum store_status is_party_to(const struct party *p, uint64_t envelope, bool *ret)
{
	enum store_status status = is_handed(p, envelope, ret);
	struct envelope_row row;
	struct arena arena;

	if (status != STORE_OK || *ret)
		return status;
	arena_init(&arena);
	status = store_envelope_get(p->conn, p->space, envelope, &arena, &row);
	*ret = status == STORE_OK && is_named(p, &row, false, &arena);
	arena_release(&arena);
	return status == STORE_NOT_FOUND ? STORE_OK : status;
}

enum store_status party_takes_part(struct party *p, struct op *op, struct str task, bool *ret)
{
	struct envelope_link links[LINKS];
	enum store_status status = STORE_OK;
	size_t count = LINKS;
	uint64_t after = 0;

	*ret = p->agent.p == NULL;
	while (status == STORE_OK && count == LINKS && !*ret) {
		count = 0;
		status = store_task_links(p->conn, p->space, task, after, LINKS, links, &count);
		for (size_t i = 0; status == STORE_OK && i < count && !*ret; i++)
			status = is_party_to(p, links[i].num, ret);
		after = count ? links[count - 1].num : after;
		if (count == LINKS && !*ret && op_is_too_much(op, SIZE_MAX))
			break;
	}
	return status;
}

static enum store_status sees_envelope(struct party *p, struct op *op, uint64_t num, bool *ret)
{
	enum store_status status = is_party_to(p, num, ret);
	struct envelope_row row;

	if (status == STORE_OK && !*ret)
		status = was_handed(p, num, ret);
	if (status != STORE_OK || *ret)
		return status;
	status = store_envelope_get(p->conn, p->space, num, op->arena, &row);
	*ret = status == STORE_NOT_FOUND;
	return status == STORE_OK ? party_takes_part(p, op, row.task, ret) : *ret ? STORE_OK : status;
}

enum store_status party_has_published(struct party *p, uint64_t envelope, int64_t channel, bool *ret)
{
	struct handoff_filter filter = {
		.space = p->space, .envelope = envelope, .channel = channel, .from = p->agent,
	};
	struct handoff_row row;
	struct arena arena;
	size_t count = 0;
	enum store_status status;

	*ret = p->agent.p == NULL;
	if (*ret)
		return STORE_OK;
	arena_init(&arena);
	status = store_handoffs(p->conn, &filter, 0, 1, &arena, &row, &count);
	arena_release(&arena);
	*ret = count > 0;
	return status == STORE_OK && !*ret ? has_begun(p, envelope, 0, ret) : status;
}

/* --- Events --- */

static enum store_status sees_event(struct party *p, const struct event_row *e, bool *ret)
{
	struct handoff_row row;
	struct arena arena;
	enum store_status status;

	*ret = (e->handoff == 0 && e->envelope == 0) || is_its_name(p, e->agent) || is_its_name(p, e->actor);
	if (*ret)
		return STORE_OK;
	if (e->handoff == 0)
		return is_party_to(p, e->envelope, ret);
	arena_init(&arena);
	status = store_handoff_get(p->conn, p->space, e->handoff, &arena, &row);
	if (status == STORE_OK)
		status = party_sees_handoff(p, &row, false, ret);
	arena_release(&arena);
	return status == STORE_NOT_FOUND ? STORE_OK : status;
}

enum store_status party_keep_events(struct party *p, struct event_row *rows, size_t *count)
{
	enum store_status status = STORE_OK;
	size_t kept = 0;

	if (p->agent.p == NULL && p->sees_keys)
		return STORE_OK;
	for (size_t i = 0; status == STORE_OK && i < *count; i++) {
		bool sees = p->sees_keys || !event_is_of_key(rows[i].kind);

		if (sees && p->agent.p)
			status = sees_event(p, &rows[i], &sees);
		if (status == STORE_OK && sees)
			rows[kept++] = rows[i];
	}
	*count = kept;
	return status;
}

/* --- Refusing --- */

enum problem_code party_check_envelope(struct op *op, struct store_conn *c, uint64_t num, const char *field)
{
	struct party p;
	enum store_status status = party_init(&p, op->access, op->space, c);
	bool sees = p.agent.p == NULL || op->space == 0;

	if (status == STORE_OK && !sees)
		status = sees_envelope(&p, op, num, &sees);
	if (status != STORE_OK)
		return problem_of_store(&op->problem, status);
	return sees ? P_OK : unpack_missing(c, op->space, num, field, &op->problem);
}

/* P_OK: it takes part, or there is no such task. */
static enum problem_code check_part(struct op *op, struct store_conn *c, struct str task, bool *ret)
{
	struct party p;
	enum store_status status = party_init(&p, op->access, op->space, c);

	*ret = p.agent.p == NULL || op->space == 0;
	if (status == STORE_OK && !*ret)
		status = store_task_find(c, op->space, task);
	if (status == STORE_OK && !*ret)
		return op_stored(op, party_takes_part(&p, op, task, ret));
	*ret = *ret || status == STORE_NOT_FOUND;
	return *ret ? P_OK : op_stored(op, status);
}

enum problem_code party_check_task(struct op *op, struct store_conn *c, struct str task)
{
	bool takes_part;
	enum problem_code code = check_part(op, c, task, &takes_part);

	return code == P_OK && !takes_part ? task_unknown(op, task) : code;
}

enum problem_code party_check_task_of_caller(struct op *op, struct store_conn *c)
{
	bool takes_part;
	enum problem_code code = check_part(op, c, op->task, &takes_part);

	return code == P_OK && !takes_part ? task_of_caller_unknown(op) : code;
}

enum problem_code party_check_joins(struct op *op, struct store_conn *c, struct str task)
{
	bool takes_part;
	enum problem_code code = check_part(op, c, task, &takes_part);

	if (code != P_OK || takes_part)
		return code;
	return problem_set(&op->problem, P_FORBIDDEN, "task", "the task \"%.*s\" is of others, and the agent \"%.*s\", "
			   "whose key key-%llu is, takes no part in it; name another task, or have one of them hand "
			   "it over", (int)(task.n < 100 ? task.n : 100), task.p, STR_ARG(op->access->agent),
			   (unsigned long long)op->access->key);
}
