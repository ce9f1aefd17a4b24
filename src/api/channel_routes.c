/* Channels and their subscribers. (What is done with them is in publish_routes.c.) */
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "engine/delivery/channel.h"

const struct route channel_routes[] = {
	{HTTP_GET, "/v1/channels", &channel_list_kind, &describe_list_channels, NULL, NULL},
	{HTTP_GET, "/v1/channels/{}", &channel_get_kind, &describe_read_channel, NULL, NULL},
	{HTTP_PUT, "/v1/channels/{}", &channel_set_kind, &describe_make_channel, NULL, NULL},
	{HTTP_PUT, "/v1/channels/{}/subscribers/{}", &channel_subscribe_kind, &describe_subscribe, NULL, NULL},
	{HTTP_DELETE, "/v1/channels/{}/subscribers/{}", &channel_unsubscribe_kind, &describe_unsubscribe, NULL, NULL},
	{0},
};
