/* Tasks: their envelopes, and what each hop kept. (Where something was lost is in blame_routes.c.) */
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "engine/envelope/task_get.h"
#include "engine/envelope/waive.h"
#include "engine/board/task_list.h"

const struct route task_routes[] = {
	{HTTP_GET, "/v1/tasks", &task_list_kind, &describe_list_tasks, NULL, NULL},
	{HTTP_GET, "/v1/tasks/{}", &task_get_kind, &describe_read_task, NULL, NULL},
	{HTTP_GET, "/v1/tasks/{}/fidelity", &task_fidelity_kind, &describe_read_fidelity, NULL, NULL},
	{HTTP_POST, "/v1/tasks/{}/waive", &waive_kind, &describe_waive, NULL, NULL},
	{0},
};
