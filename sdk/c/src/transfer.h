/* One transfer of libcurl's: a request as it goes out, and its answer as it comes in. For exchange.c, which waits for
 * it, and for the load test of the command line (src/client/client_many.c), which has many under way. */
#ifndef MSI_TRANSFER_H
#define MSI_TRANSFER_H

#include "answer.h"
#include "client.h"

struct msi_transfer {
	const ms_client *client;	/* borrowed, as all here */
	CURL *curl;
	const ms_request *request;	/* with method and path */
	const char *key;		/* Idempotency-Key, or NULL */
	struct ms_answer *answer;
	int64_t deadline_ns;
	int64_t timeout_ms;		/* all of it, for the sentence */
	/* What follows is its own. */
	char curl_error[CURL_ERROR_SIZE];
	struct curl_slist *headers;
	struct msi_buffer url;
	size_t header_bytes;		/* that have come */
	bool no_memory;
	bool has_begun;			/* on_data was given something */
	bool was_ended;			/* by on_data */
	bool was_sent;			/* a byte of it went out; set when it is over */
};

/* Prepares the handle; everything that is named lives until msi_transfer_end(). On failure nothing is to be performed,
 * and msi_transfer_end() is to be called all the same. */
ms_status msi_transfer_begin(struct msi_transfer *t, ms_error *ret_error);
/* The handle has been performed: the status is read, what was needed is released. */
void msi_transfer_end(struct msi_transfer *t);
/* No secure connection could be made, which trying again would not change. */
bool msi_transfer_is_insecure(const struct msi_transfer *t, CURLcode code);
/* What became of it. */
ms_status msi_transfer_status(const struct msi_transfer *t, CURLcode code, ms_error *ret_error);

#endif
