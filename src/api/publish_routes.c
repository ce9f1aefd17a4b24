/* Publishing to a channel: one handoff per receiver, all or none; and join, which waits for what they make of it. */
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "engine/delivery/join.h"
#include "engine/delivery/publish.h"

const struct route publish_routes[] = {
	{HTTP_POST, "/v1/channels/{}/publish", &publish_kind, &describe_publish, NULL, NULL},
	{HTTP_POST, "/v1/channels/{}/join", &join_kind, &describe_join, NULL, NULL},
	{0},
};
