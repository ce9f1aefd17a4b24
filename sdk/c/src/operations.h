/* Every operation of the protocol, by its name: what ms_call() is told. operations.inc is made from the server's
 * descriptions (make operations), and a test holds it complete. */
#ifndef MSI_OPERATIONS_H
#define MSI_OPERATIONS_H

#include <stdbool.h>

struct msi_operation {
	const char *name;	/* operationId */
	const char *method;
	const char *path;	/* "/v1/memories/{id}" */
	bool creates;		/* takes an Idempotency-Key */
	bool repeatable;	/* said twice it does what it does once */
	bool stores;		/* takes the task of what is stored (Spine-Task) */
};

/* NULL where there is none. */
const struct msi_operation *msi_operation_find(const char *name);

#endif
