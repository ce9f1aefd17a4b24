/* POST /v1/tokens */
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "engine/token_count.h"

const struct route token_routes[] = {
	{HTTP_POST, "/v1/tokens", &token_count_kind, &describe_count_tokens, NULL, NULL},
	{0},
};
