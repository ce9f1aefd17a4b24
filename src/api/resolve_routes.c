/* What an envelope left out or missed, fetched later; who opened what; and what it was chosen from. */
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "engine/envelope/envelope_get.h"
#include "engine/envelope/resolve.h"

const struct route resolve_routes[] = {
	{HTTP_POST, "/v1/envelopes/{}/resolve", &resolve_kind, &describe_resolve_envelope, NULL, NULL},
	{HTTP_GET, "/v1/envelopes/{}/receipts", &envelope_receipts_kind, &describe_list_receipts, NULL, NULL},
	{HTTP_GET, "/v1/envelopes/{}/considered", &envelope_considered_kind, &describe_read_considered, NULL, NULL},
	{0},
};
