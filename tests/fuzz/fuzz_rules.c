/* Settings that are kept as JSON: routes and their conditions, agents, constraints. Taken, or refused with a field. */
#include "fuzz.h"

#include "core/delivery/agent.h"
#include "core/delivery/route_rule.h"
#include "core/guard/redact.h"

enum { DEPTH = 64 };

static void check(enum problem_code code, const struct problem *problem)
{
	PROMISE((code == P_OK) == (problem->code == P_OK), "a problem has its code");
	PROMISE(code == P_OK || problem->detail[0], "a refusal has a reason");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct problem problem = {0};
	struct json_error error;
	struct agent agent = {0};
	struct arena arena;
	struct json tree;

	arena_init(&arena);
	if (json_parse(fuzz_str(data, size), DEPTH, &arena, &tree, &error) && tree.type == JSON_OBJECT) {
		check(route_rule_check(&tree, &problem), &problem);
		problem = (struct problem){0};
		check(agent_settings(&tree, &agent, &problem), &problem);
		redact_policy_of(&tree, REDACT_OFF);
	}
	arena_release(&arena);
	return 0;
}
