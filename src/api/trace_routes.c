/* GET /v1/tasks/{id}/trace: everything that happened to a task, in order: who handed what to whom, and what became
 * of it. */
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "engine/watch/trace_get.h"

const struct route trace_routes[] = {
	{HTTP_GET, "/v1/tasks/{}/trace", &trace_get_kind, &describe_trace_task, NULL, NULL},
	{0},
};
