/* Memories by their ids, however many answers that takes.
 *
 * An answer has 8 MiB of text at most. What it has no room for is in "missing" with the reason "not_given". It is asked
 * for again, and the answers are put together into one.
 */
#ifndef MSI_FETCH_H
#define MSI_FETCH_H

#include "memory_spine.h"

struct msi_fetch {
	const char *operation;
	const char *list;		/* the member of the body that has the ids */
	const char *handoff;		/* in the path; NULL: none */
	const char *lease;		/* NULL: none */
	const char *agent;		/* in whose name; NULL: the client's */
};

/* ids ends with NULL; *ret is the caller's. */
ms_status msi_fetch(ms_client *client, const struct msi_fetch *how, const char *const *ids, ms_answer **ret,
		    ms_error *ret_error);

#endif
