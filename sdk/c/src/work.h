#ifndef MSI_WORK_H
#define MSI_WORK_H

#include "memory_spine.h"

/* The first handoff of an answer to receive, which is JSON. Takes the answer in any case. */
ms_status msi_work_new(ms_client *client, ms_answer *answer, ms_work **ret, ms_error *ret_error);

#endif
