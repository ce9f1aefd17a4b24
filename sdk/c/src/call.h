/* Calls as the typed functions make them. */
#ifndef MSI_CALL_H
#define MSI_CALL_H

#include "body.h"
#include "client.h"

/* ms_call() whose answer must be an object. */
ms_status msi_call(ms_client *client, const ms_request *request, ms_answer **ret, ms_error *ret_error);
/* The same with the body of *b, which is ended and released in any case. parameter is the one in the path, "id" or
 * "name", and value what stands there; NULL where there is none. */
ms_status msi_call_with(ms_client *client, ms_request *request, struct msi_body *b, const char *parameter,
			const char *value, ms_answer **ret, ms_error *ret_error);
/* An operation that takes one argument, in its path, and no body. */
ms_status msi_call_one(ms_client *client, const char *operation, const char *parameter, const char *value,
		       ms_answer **ret, ms_error *ret_error);

#endif
