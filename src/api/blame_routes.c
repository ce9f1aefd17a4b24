/* Where something came into a task and where it was lost; and what one envelope kept of another. */
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "engine/envelope/blame.h"
#include "engine/envelope/envelope_get.h"

const struct route blame_routes[] = {
	{HTTP_GET, "/v1/tasks/{}/blame", &blame_kind, &describe_blame, NULL, NULL},
	{HTTP_GET, "/v1/envelopes/{}/diff/{}", &envelope_diff_kind, &describe_compare_envelopes, NULL, NULL},
	{0},
};
