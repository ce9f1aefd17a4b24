/* Memories that cannot be trusted: kept from everybody, given back, or forgotten for good. */
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "engine/memory/quarantine.h"

const struct route quarantine_routes[] = {
	{HTTP_GET, "/v1/quarantine", &quarantine_list_kind, &describe_list_quarantined, NULL, NULL},
	{HTTP_POST, "/v1/quarantine", &quarantine_kind, &describe_quarantine, NULL, NULL},
	{HTTP_POST, "/v1/quarantine/release", &quarantine_release_kind, &describe_release_quarantined, NULL, NULL},
	{HTTP_POST, "/v1/purge", &quarantine_purge_kind, &describe_purge, NULL, NULL},
	{0},
};
