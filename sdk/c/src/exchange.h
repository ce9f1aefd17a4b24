/* A request with method and path, sent until it is answered or the time is over. */
#ifndef MSI_EXCHANGE_H
#define MSI_EXCHANGE_H

#include "answer.h"
#include "client.h"

/* On MS_OK *ret is an answer of any status, the caller's. *ret_repeated: an earlier try was lost on its way. */
ms_status msi_exchange(ms_client *client, const ms_request *request, struct ms_answer **ret, bool *ret_repeated,
		       ms_error *ret_error);

#endif
