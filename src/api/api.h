/* The protocol over HTTP: finds the route, decodes, lets the core decide, encodes. */
#ifndef SPINE_API_API_H
#define SPINE_API_API_H

#include "base/log.h"
#include "core/numbers.h"
#include "core/memory/recall.h"
#include "core/spaces.h"
#include "net/http.h"
#include "store/writer.h"

#include <stdatomic.h>

struct alert_post;
struct indexer;
struct feed;
struct exporter;
struct waiting;
struct watch;
struct webhook;
struct token_cache;

struct api_limits {
	int max_json_depth;
	size_t max_batch;
	int64_t idempotency_ttl_ms;
	int64_t heartbeat_ms;		/* a stream that nothing happens on says so often that it is there */
};

/* main builds it and passes it on; all members are borrowed but the readers. */
struct api {
	struct http_server *http;
	struct writer *writer;
	const struct store_conn *store;	/* the writer's: only to share its rows, and to ask what they take */
	struct spaces *spaces;
	struct numbers *numbers;
	struct recall *recall;
	struct token_cache *tokens;	/* of prompts */
	struct indexer *indexer;
	struct waiting *waiting;
	struct feed *feed;		/* of events */
	struct exporter *exporter;	/* of spans; NULL: none are exported */
	struct webhook *webhook;
	struct alert_post *alert_post;	/* NULL: alerts are posted nowhere */
	struct watch *watch;
	const struct log *log;
	const char *data_dir;
	struct api_limits limits;
	int64_t started_at_ms;
	struct store_conn **readers;	/* one per HTTP thread, opened and closed by that thread */
	struct recall_scratch **scratch;	/* the same */
	atomic_bool draining;
	atomic_bool failed;		/* the store has failed: nothing is acknowledged any more */
	_Atomic int64_t last_prune_ms;
};

/* The callbacks of struct http_config, with ctx a struct api. */
void api_on_request(void *ctx, struct http_req *req);
int api_on_head(void *ctx, struct http_req *req, struct buf *ret_body);
void api_on_refusal(void *ctx, int status, const char *code, const char *detail, struct buf *ret_body);
void api_on_thread_start(void *ctx, int thread);
void api_on_thread_stop(void *ctx, int thread);

#endif
