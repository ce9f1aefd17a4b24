#include "core/access/space_policy.h"

#include "codec/json.h"

static enum problem_code damaged(struct problem *problem, const char *setting)
{
	return problem_set(problem, P_STORE_DAMAGED, NULL, "what the space has for %s cannot be read; set it again "
			   "(PUT /v1/space, spine space)", setting);
}

enum problem_code space_policy_check_floor(const struct space_row *row, struct problem *problem)
{
	if ((int)row->trust_floor >= TRUST_SYSTEM && row->trust_floor <= TRUST_EXTERNAL)
		return P_OK;
	return damaged(problem, "trust_floor");
}

enum problem_code space_policy_floor(struct store_conn *c, int64_t space, struct arena *arena, enum trust *ret,
				     struct problem *problem)
{
	struct space_row row = {.trust_floor = TRUST_EXTERNAL};
	enum store_status status = space ? store_space_get(c, space, arena, &row) : STORE_OK;
	enum problem_code code = P_OK;

	if (status != STORE_OK && status != STORE_NOT_FOUND)
		code = problem_of_store(problem, status);
	else if (status == STORE_OK)
		code = space_policy_check_floor(&row, problem);
	*ret = code == P_OK ? row.trust_floor : TRUST_SYSTEM;
	return code;
}

enum problem_code space_policy_check_quota(const struct space_row *row, struct problem *problem)
{
	const struct {
		const char *name;
		int64_t value;
	} quotas[] = {
		{"quota_memories", row->quota.memories}, {"quota_bytes", row->quota.bytes},
		{"quota_handoffs_per_minute", row->quota.handoffs}, {"quota_waiting", row->quota.waiting},
		{"quota_agents", row->quota.agents},
	};

	for (size_t i = 0; i < sizeof(quotas) / sizeof(quotas[0]); i++)
		if (quotas[i].value < 0 && quotas[i].value != QUOTA_AS_SERVER)
			return damaged(problem, quotas[i].name);
	return P_OK;
}

enum problem_code space_policy_check(const struct space_row *row, struct problem *problem)
{
	enum problem_code code = space_policy_check_floor(row, problem);

	return code == P_OK ? space_policy_check_quota(row, problem) : code;
}

bool space_policy_locked_is_sound(struct str locked)
{
	struct json_error error;
	struct arena arena;
	struct json list;
	bool is_sound;

	arena_init(&arena);
	is_sound = locked.p == NULL ||
		   (json_parse(locked, JSON_DEPTH_MAX, &arena, &list, &error) && list.type == JSON_ARRAY);
	arena_release(&arena);
	return is_sound;
}
