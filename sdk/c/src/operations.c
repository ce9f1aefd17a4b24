#include "operations.h"

#include <stdlib.h>
#include <string.h>

#define STORES true, true, true
#define CREATES true, true, false
#define REPEATABLE false, true, false
#define ONCE false, false, false

/* Sorted by name. */
static const struct msi_operation operations[] = {
#include "operations.inc"
};

static int compare(const void *name, const void *operation)
{
	return strcmp(name, ((const struct msi_operation *)operation)->name);
}

const struct msi_operation *msi_operation_find(const char *name)
{
	return bsearch(name, operations, sizeof(operations) / sizeof(operations[0]), sizeof(operations[0]), compare);
}
