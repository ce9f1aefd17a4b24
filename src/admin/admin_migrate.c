#include "admin/admin_migrate.h"

#include "store/cluster.h"

#include <stdio.h>

bool admin_migrate(const char *store, bool is_finish, struct admin_schema *ret, struct buf *error)
{
	struct store_schema schema = {0};

	if (!store_migrate(store, is_finish, &schema, error))
		return false;
	ret->number = schema.schema;
	ret->oldest = schema.oldest;
	snprintf(ret->oldest_version, sizeof(ret->oldest_version), "%s", schema.oldest_name);
	return true;
}
