/* The inside of an ms_client: where its calls go, and the libcurl handles that they go with.
 *
 * A handle of libcurl keeps a connection and serves one call at a time. Calls take one from the pool, which makes
 * another where all are in use, up to max_connections; then they wait, within their deadline. The one that was used
 * last is given first, so that the connections of a burst are left to the server's idle timeout.
 */
#ifndef MSI_CLIENT_H
#define MSI_CLIENT_H

#include "memory_spine.h"

#include <curl/curl.h>
#include <pthread.h>

struct ms_client {
	char *url;			/* without a slash at its end */
	char *space;			/* NULL: none is sent */
	char *agent;
	char *task;
	char *key;			/* what it proves itself with; NULL: none */
	char *ca_file;			/* NULL: the system's */
	char *cert_file;
	char *cert_key_file;
	int64_t timeout_ms;
	size_t max_answer_bytes;
	ms_retry retry;
	bool is_local;			/* the host is a loopback address, or "localhost" */
	pthread_mutex_t lock;		/* of what follows */
	pthread_cond_t given_back;
	CURL **idle;			/* room for max_connections */
	int idle_count;
	int in_use;
	int max_connections;
};

/* A handle for one call; to be given back. MS_TIMED_OUT where none became free in time. */
ms_status msi_client_take(ms_client *client, int64_t deadline_ns, CURL **ret, ms_error *ret_error);
void msi_client_give_back(ms_client *client, CURL *curl);

/* The clock that deadlines are times of. */
int64_t msi_client_now_ns(void);
/* Text that can be the value of a header. */
bool msi_client_is_header_safe(const char *text);

#endif
