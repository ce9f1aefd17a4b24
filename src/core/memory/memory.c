#include "core/memory/memory.h"

#include "codec/sha256.h"
#include "core/memory/memory_keys.h"
#include "core/memory/memory_signing.h"
#include "core/watch/event.h"

#include <stdio.h>

enum { VERSIONS_PAGE = 16 };

static const char *const state_names[] = {"active", "superseded", "expired", "forgotten", "quarantined"};
static const char *const importance_names[] = {"low", "medium", "high", "critical"};
static const char *const trust_names[] = {"system", "user", "agent", "external"};

enum memory_state memory_state(const struct memory *m, int64_t now_ms)
{
	if (m->forgotten_at_ms)
		return MEMORY_GONE;
	if (m->quarantined_at_ms)
		return MEMORY_QUARANTINED;
	if (m->superseded_by)
		return MEMORY_SUPERSEDED;
	if (m->expires_at_ms && m->expires_at_ms <= now_ms)
		return MEMORY_EXPIRED;
	return MEMORY_ACTIVE;
}

void memory_withhold(struct memory *m)
{
	if (m->quarantined_at_ms == 0)
		return;
	m->content = m->summary = STR_NULL;
	m->tags = STR("[]");
	m->metadata = STR("{}");
}

const char *memory_state_name(enum memory_state state)
{
	return state_names[state];
}

const char *memory_importance_name(enum importance importance)
{
	return importance_names[importance];
}

const char *memory_trust_name(enum trust trust)
{
	return trust_names[trust];
}

static bool find_name(const char *const names[4], struct str name, int *ret)
{
	for (int i = 0; i < 4; i++) {
		if (!str_is(name, names[i]))
			continue;
		*ret = i;
		return true;
	}
	return false;
}

bool memory_importance_parse(struct str name, enum importance *ret)
{
	int i;

	if (!find_name(importance_names, name, &i))
		return false;
	*ret = (enum importance)i;
	return true;
}

bool memory_trust_parse(struct str name, enum trust *ret)
{
	int i;

	if (!find_name(trust_names, name, &i))
		return false;
	*ret = (enum trust)i;
	return true;
}

/* Puts the fields of the draft that belong to a version onto m. */
static void apply_draft(struct memory *m, const struct memory_draft *d, int64_t now_ms)
{
	if (d->has & MEMORY_HAS_CONTENT) {
		m->content = d->content;
		sha256(m->content, m->digest);
	}
	if (d->has & MEMORY_HAS_SUMMARY)
		m->summary = d->summary;
	if (d->has & MEMORY_HAS_KIND)
		m->kind = d->kind;
	if (d->has & MEMORY_HAS_TAGS)
		m->tags = d->tags;
	if (d->has & MEMORY_HAS_IMPORTANCE)
		m->importance = d->importance;
	if (d->has & MEMORY_HAS_AGENT)
		m->agent = d->agent;
	if (d->has & MEMORY_HAS_TASK)
		m->task = d->task;
	if (d->has & MEMORY_HAS_TRUST)
		m->trust = d->trust;
	if (d->has & MEMORY_HAS_METADATA)
		m->metadata = d->metadata;
	if (d->has & MEMORY_HAS_EXPIRES_AT)
		m->expires_at_ms = d->expires_at_ms;
	if (d->has & MEMORY_HAS_TTL)
		m->expires_at_ms = now_ms + d->ttl_s * 1000;
	/* The lowest comes last. Pinning says nothing, and so changes no trust. */
	if ((d->has & ~(unsigned)MEMORY_HAS_PINNED) && m->trust < d->trust_max)
		m->trust = d->trust_max;
}

static enum problem_code not_found(struct problem *p, const char *field, uint64_t num, uint32_t version)
{
	char id[MEMORY_ID_SIZE];

	memory_id_format(num, version, id);
	return problem_set(p, P_MEMORY_NOT_FOUND, field, "there is no memory %s in this space", id);
}

static enum problem_code forgotten(struct problem *p, const char *field, uint64_t num)
{
	return problem_set(p, P_MEMORY_FORGOTTEN, field,
			   "ms-%llu was forgotten; it cannot be changed or replaced any more", (unsigned long long)num);
}

static enum problem_code quarantined(struct problem *p, const char *field, uint64_t num)
{
	return problem_set(p, P_MEMORY_QUARANTINED, field,
			   "ms-%llu is in quarantine; it cannot be changed or replaced until it is released",
			   (unsigned long long)num);
}

enum problem_code memory_read(struct store_conn *c, int64_t space, struct memory_id id, struct arena *arena,
			      struct memory *ret, struct problem *problem)
{
	enum store_status status = store_memory_get(c, space, id.num, id.version, arena, ret);

	if (status == STORE_NOT_FOUND)
		return not_found(problem, NULL, id.num, id.version);
	return status == STORE_OK ? P_OK : problem_of_store(problem, status);
}

/* May the new memory take the place of the one it names? */
static enum problem_code check_supersedes(struct store_conn *c, int64_t space, uint64_t num, struct problem *problem)
{
	enum problem_code code = P_OK;
	struct arena arena;
	struct memory old;
	enum store_status status;

	arena_init(&arena);
	status = store_memory_get(c, space, num, 0, &arena, &old);
	if (status == STORE_NOT_FOUND)
		code = not_found(problem, "supersedes", num, 0);
	else if (status != STORE_OK)
		code = problem_of_store(problem, status);
	else if (old.forgotten_at_ms)
		code = forgotten(problem, "supersedes", num);
	else if (old.quarantined_at_ms)
		code = quarantined(problem, "supersedes", num);
	else if (old.superseded_by)
		code = problem_set(problem, P_ALREADY_SUPERSEDED, "supersedes",
				   "ms-%llu was already superseded by ms-%llu; supersede that one",
				   (unsigned long long)num, (unsigned long long)old.superseded_by);
	arena_release(&arena);
	return code;
}

static enum problem_code check_times(const struct memory_draft *d, int64_t now_ms, struct problem *problem)
{
	if ((d->has & MEMORY_HAS_CREATED_AT) && d->created_at_ms > now_ms)
		return problem_set(problem, P_INVALID_FIELD, "created_at", "created_at is in the future");
	return P_OK;
}

/* Half of all numbers is for the space to give: whatever was chosen, there is a next one. */
static enum problem_code check_chosen(const struct memory_draft *d, struct problem *problem)
{
	if (!(d->has & MEMORY_HAS_ID) || d->is_promised || d->num <= MEMORY_NUM_CHOSEN_MAX)
		return P_OK;
	return problem_set(problem, P_INVALID_FIELD, "id", "an id that is chosen is at most ms-%llu, so that the space "
			   "always has a next one to give; choose a lower one, or leave id out",
			   (unsigned long long)MEMORY_NUM_CHOSEN_MAX);
}

struct memory memory_of_draft(int64_t space, const struct memory_draft *draft, int64_t now_ms)
{
	struct memory m = {
		.space = space,
		.num = draft->has & MEMORY_HAS_ID ? draft->num : 0,
		.pinned = draft->pinned,
		.created_at_ms = draft->has & MEMORY_HAS_CREATED_AT ? draft->created_at_ms : now_ms,
		.updated_at_ms = now_ms,
		.supersedes = draft->supersedes,
		.importance = IMPORTANCE_MEDIUM,
		.trust = TRUST_AGENT,
		.kind = STR("note"),
		.tags = STR("[]"),
		.metadata = STR("{}"),
		.origin = draft->origin,
	};

	apply_draft(&m, draft, now_ms);
	return m;
}

/* Numbers below num_min may be promised to memories that are not stored yet. */
static enum store_status insert(struct store_conn *c, struct memory *m, uint64_t num_min)
{
	enum store_status status = STORE_OK;
	uint64_t next = 0;

	if (m->num == 0 && num_min)
		status = store_memory_next(c, m->space, &next);
	if (status == STORE_OK && m->num == 0 && next < num_min)
		m->num = num_min;
	return status == STORE_OK ? store_memory_insert(c, m) : status;
}

enum problem_code memory_create(struct store_conn *c, int64_t space, const struct memory_draft *draft, int64_t now_ms,
				struct memory *ret, struct problem *problem)
{
	struct memory m = memory_of_draft(space, draft, now_ms);
	enum problem_code code = check_times(draft, now_ms, problem);
	enum store_status status;

	if (code == P_OK)
		code = check_chosen(draft, problem);
	if (code == P_OK && draft->supersedes)
		code = check_supersedes(c, space, draft->supersedes, problem);
	if (code != P_OK)
		return code;
	status = insert(c, &m, draft->num_min);
	if (status == STORE_EXISTS && m.num == 0)
		return problem_set(problem, P_ID_TAKEN, "id",
				   "the highest id of this space is taken, so there is no next one; give a free id");
	if (status == STORE_EXISTS)
		return problem_set(problem, P_ID_TAKEN, "id", "ms-%llu is taken; leave id out to get the next free one",
				   (unsigned long long)m.num);
	if (status == STORE_OK && m.supersedes)
		status = store_memory_set_superseded(c, space, m.supersedes, m.num);
	if (status != STORE_OK)
		return problem_of_store(problem, status);
	*ret = m;
	return P_OK;
}

enum problem_code memory_create_many(struct store_conn *c, int64_t space, const struct memory_draft *drafts,
				     size_t count, int64_t now_ms, struct memory *ret, struct problem *problem)
{
	enum store_status status = store_savepoint(c);
	enum problem_code code = status == STORE_OK ? P_OK : problem_of_store(problem, status);
	struct problem undo;

	for (size_t i = 0; code == P_OK && i < count; i++) {
		code = memory_create(c, space, &drafts[i], now_ms, &ret[i], problem);
		if (code != P_OK)
			problem_prefix(problem, "memories", i);
	}
	if (problem_store_status(code) != STORE_OK)
		return code;
	status = code == P_OK ? store_release(c) : store_rollback_to(c);
	if (status != STORE_OK) {
		code = problem_of_store(&undo, status);
		*problem = undo;
	}
	return code;
}

/* Reads the newest version for a change, and checks that it may be changed. */
static enum problem_code open_for_change(struct store_conn *c, int64_t space, uint64_t num, uint32_t if_version,
					 struct arena *arena, struct memory *ret, struct problem *problem)
{
	enum problem_code code = memory_read(c, space, (struct memory_id){num, 0}, arena, ret, problem);

	if (code != P_OK)
		return code;
	if (if_version && if_version != ret->current_version) {
		code = problem_set(problem, P_PRECONDITION_FAILED, NULL,
				   "ms-%llu is at version %u by now, not %u; read it again and decide anew",
				   (unsigned long long)num, ret->current_version, if_version);
		problem->extra_key = "current_version";
		problem->extra = ret->current_version;
	}
	return code;
}

/* Stores what differs between before and after, and makes *ret the memory as it then is. */
static enum problem_code store_change(struct store_conn *c, const struct memory *before, struct memory *after,
				      int64_t now_ms, struct memory *ret, bool *ret_changed, struct problem *problem)
{
	bool new_version = !memory_is_same(before, after), new_pin = before->pinned != after->pinned;
	enum store_status status = STORE_OK;

	after->version = after->current_version = before->current_version;
	after->updated_at_ms = before->updated_at_ms;
	if (new_version) {
		after->version = after->current_version = before->current_version + 1;
		after->updated_at_ms = now_ms;
		status = store_memory_add_version(c, after);
	} else {
		after->origin = before->origin;
	}
	if (status == STORE_OK && new_pin)
		status = store_memory_set_pinned(c, after->space, after->num, after->pinned);
	if (status != STORE_OK)
		return problem_of_store(problem, status);
	*ret = *after;
	*ret_changed = new_version || new_pin;
	return P_OK;
}

enum problem_code memory_update(struct store_conn *c, int64_t space, uint64_t num, uint32_t if_version,
				const struct memory_draft *draft, int64_t now_ms, struct arena *arena,
				struct memory *ret, bool *ret_changed, struct problem *problem)
{
	struct memory before, after;
	struct memory_draft said = *draft;
	enum problem_code code = open_for_change(c, space, num, if_version, arena, &before, problem);

	if (code != P_OK)
		return code;
	if (before.forgotten_at_ms)
		return forgotten(problem, NULL, num);
	if (before.quarantined_at_ms)
		return quarantined(problem, NULL, num);
	after = before;
	after.origin = draft->origin;
	said.trust_max = TRUST_SYSTEM;
	apply_draft(&after, &said, now_ms);
	memory_sign(&before, &after, draft);
	if (draft->has & MEMORY_HAS_PINNED)
		after.pinned = draft->pinned;
	return store_change(c, &before, &after, now_ms, ret, ret_changed, problem);
}

enum problem_code memory_revert(struct store_conn *c, int64_t space, uint64_t num, uint32_t if_version,
				uint32_t to_version, const struct memory_draft *by, int64_t now_ms,
				struct arena *arena, struct memory *ret, bool *ret_changed, struct problem *problem)
{
	struct memory before, after;
	enum problem_code code = open_for_change(c, space, num, if_version, arena, &before, problem);

	if (code != P_OK)
		return code;
	if (before.forgotten_at_ms)
		return forgotten(problem, NULL, num);
	if (before.quarantined_at_ms)
		return quarantined(problem, NULL, num);
	code = memory_read(c, space, (struct memory_id){num, to_version}, arena, &after, problem);
	if (code == P_MEMORY_NOT_FOUND)
		return problem_set(problem, P_INVALID_FIELD, "version",
				   "ms-%llu has versions 1 to %u; there is no version %u", (unsigned long long)num,
				   before.current_version, to_version);
	if (code != P_OK)
		return code;
	after.origin = by->origin;
	memory_sign(&before, &after, by);
	return store_change(c, &before, &after, now_ms, ret, ret_changed, problem);
}

/* Who wrote it stands in the events of its writing, too. Each has the time of its version, and times grow with the ids
 * of events. The event of a batch is about all of it: it loses its actor with the first that is forgotten, and the
 * others have their author themselves. */
static enum store_status unname(struct store_conn *c, const int64_t *times, size_t count, struct event_filter *filter)
{
	enum store_status status = STORE_OK;

	for (size_t i = 0; status == STORE_OK && i < count; i++) {
		int64_t after = 0, until = 0;

		status = store_event_before(c, filter->space, times[i], &after);
		if (status == STORE_OK)
			status = store_event_before(c, filter->space, times[i] + 1, &until);
		if (status == STORE_OK && until > after)
			status = store_events_unname(c, filter, after, until);
	}
	return status;
}

/* Forgets it with its authors, a page of versions after the other. The numbers of their keys stay. */
static enum store_status forget(struct store_conn *c, const struct memory *m, int64_t now_ms, struct arena *arena)
{
	struct event_filter filter = event_filter_writing(m->space, m->num);
	struct memory page[VERSIONS_PAGE];
	struct arena texts;		/* of a page: all of them may be large */
	struct memory_keys keys = {0};
	int64_t *times = arena_calloc(arena, m->current_version, sizeof(*times));
	enum store_status status = STORE_OK;
	size_t count = 0, found = VERSIONS_PAGE;
	uint32_t below = 0;

	while (status == STORE_OK && found == VERSIONS_PAGE && count < m->current_version) {
		arena_init(&texts);
		status = store_memory_versions(c, m->space, m->num, below, VERSIONS_PAGE, &texts, page, &found);
		for (size_t i = 0; status == STORE_OK && i < found && count < m->current_version; i++) {
			times[count++] = page[i].updated_at_ms;
			below = page[i].version;
			memory_keys_add(&keys, memory_keys_origin(page[i].origin, &texts), below, arena);
		}
		arena_release(&texts);
	}
	if (status == STORE_OK)
		status = store_memory_forget(c, m->space, m->num, now_ms);
	if (status == STORE_OK && keys.count)
		status = store_memory_set_keys(c, m->space, m->num, memory_keys_text(&keys, arena));
	return status == STORE_OK ? unname(c, times, count, &filter) : status;
}

enum problem_code memory_forget(struct store_conn *c, int64_t space, uint64_t num, uint32_t if_version, int64_t now_ms,
				struct arena *arena, struct memory *ret, bool *ret_changed, struct problem *problem)
{
	struct memory m;
	enum problem_code code = open_for_change(c, space, num, if_version, arena, &m, problem);
	enum store_status status;

	if (code != P_OK)
		return code;
	*ret_changed = m.forgotten_at_ms == 0;
	if (*ret_changed) {
		status = forget(c, &m, now_ms, arena);
		if (status == STORE_OK)
			status = store_memory_get(c, space, num, 0, arena, &m);
		if (status != STORE_OK)
			return problem_of_store(problem, status);
	}
	*ret = m;
	return P_OK;
}
