/* Delivering envelopes, and looking at handoffs. */
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "engine/delivery/handoff_get.h"
#include "engine/delivery/handoff_list.h"
#include "engine/delivery/send.h"

const struct route handoff_routes[] = {
	{HTTP_POST, "/v1/handoffs", &send_kind, &describe_send, NULL, NULL},
	{HTTP_GET, "/v1/handoffs", &handoff_list_kind, &describe_list_handoffs, NULL, NULL},
	{HTTP_GET, "/v1/handoffs/{}", &handoff_get_kind, &describe_read_handoff, NULL, NULL},
	{0},
};
