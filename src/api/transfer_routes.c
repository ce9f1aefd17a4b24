/* Moving a space to another server or another kind of store. */
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "engine/transfer/transfer.h"

const struct route transfer_routes[] = {
	{HTTP_GET, "/v1/export", &transfer_out_kind, &describe_export_rows, NULL, NULL},
	{HTTP_POST, "/v1/import", &transfer_in_kind, &describe_import_rows, NULL, NULL},
	{0},
};
