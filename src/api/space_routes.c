/* The settings of the space that the request is about; and the list of all spaces, for whoever runs the server. */
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "engine/space_delete.h"
#include "engine/space_settings.h"

const struct route space_routes[] = {
	{HTTP_GET, "/v1/spaces", &space_list_kind, &describe_list_spaces, NULL, NULL},
	{HTTP_GET, "/v1/space", &space_get_kind, &describe_read_space, NULL, NULL},
	{HTTP_PUT, "/v1/space", &space_set_kind, &describe_set_space, NULL, NULL},
	{HTTP_DELETE, "/v1/spaces/{}", &space_delete_kind, &describe_delete_space, NULL, NULL},
	{0},
};
