/* Parking an envelope, and what a person does with what is parked or queued, one or many; and the breaker, which a
 * person may close. */
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "engine/board/bulk.h"
#include "engine/board/parked_list.h"
#include "engine/board/queue_list.h"
#include "engine/delivery/reset.h"
#include "engine/delivery/shrink.h"

const struct route parked_routes[] = {
	{HTTP_POST, "/v1/envelopes/{}/park", &decide_park_kind, &describe_park, NULL, NULL},
	{HTTP_GET, "/v1/parked", &parked_list_kind, &describe_list_parked, NULL, NULL},
	{HTTP_POST, "/v1/parked/redrive", &bulk_redrive_kind, &describe_redrive_many, NULL, NULL},
	{HTTP_POST, "/v1/parked/reroute", &bulk_reroute_kind, &describe_reroute_many, NULL, NULL},
	{HTTP_POST, "/v1/parked/discard", &bulk_discard_kind, &describe_discard_many, NULL, NULL},
	{HTTP_POST, "/v1/parked/restore", &bulk_restore_kind, &describe_restore_many, NULL, NULL},
	{HTTP_POST, "/v1/parked/{}/restore", &decide_restore_kind, &describe_restore, NULL, NULL},
	{HTTP_POST, "/v1/queued/cancel", &bulk_cancel_kind, &describe_cancel_many, NULL, NULL},
	{HTTP_POST, "/v1/queued/move", &bulk_move_kind, &describe_move_many, NULL, NULL},
	{HTTP_GET, "/v1/queues", &queue_list_kind, &describe_list_queues, NULL, NULL},
	{HTTP_GET, "/v1/queues/{}", &queue_get_kind, &describe_read_queue, NULL, NULL},
	{HTTP_POST, "/v1/parked/{}/redrive", &decide_redrive_kind, &describe_redrive, NULL, NULL},
	{HTTP_POST, "/v1/parked/{}/reroute", &decide_reroute_kind, &describe_reroute, NULL, NULL},
	{HTTP_POST, "/v1/parked/{}/discard", &decide_discard_kind, &describe_discard, NULL, NULL},
	{HTTP_POST, "/v1/handoffs/{}/cancel", &decide_cancel_kind, &describe_cancel, NULL, NULL},
	{HTTP_POST, "/v1/handoffs/{}/move", &decide_move_kind, &describe_move, NULL, NULL},
	{HTTP_POST, "/v1/parked/{}/shrink", &shrink_kind, &describe_shrink, NULL, NULL},
	{HTTP_POST, "/v1/agents/{}/reset", &reset_kind, &describe_reset_breaker, NULL, NULL},
	{0},
};
