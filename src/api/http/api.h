/* The protocol over HTTP: finds the route, decodes, lets the core decide, encodes. */
#ifndef SPINE_API_HTTP_API_H
#define SPINE_API_HTTP_API_H

#include "api/http/clients.h"
#include "base/log.h"
#include "engine/engine.h"
#include "net/http.h"

struct feed;
struct exporter;
struct webhook;
struct alert_post;

struct api_limits {
	int max_json_depth;
	size_t max_batch;
	int64_t heartbeat_ms;		/* a stream that nothing happens on says so often that it is there */
};

/* main builds it and passes it on; all members are borrowed but the readers. */
struct api {
	struct http_server *http;
	struct engine *engine;
	struct feed *feed;		/* of events */
	struct exporter *exporter;	/* of spans; NULL: none are exported */
	struct webhook *webhook;
	struct alert_post *alert_post;	/* NULL: alerts are not posted */
	const struct log *log;
	const char *data_dir;
	struct api_limits limits;
	int64_t started_at_ms;
	struct clients clients;		/* that have called */
	struct engine_reader **readers;	/* one per HTTP thread, opened and closed by that thread */
};

/* The callbacks of struct http_config, with ctx a struct api. */
void api_on_request(void *ctx, struct http_req *req);
int api_on_head(void *ctx, struct http_req *req, struct buf *ret_body);
void api_on_refusal(void *ctx, int status, const char *code, const char *detail, struct buf *ret_body);
void api_on_thread_start(void *ctx, int thread);
void api_on_thread_stop(void *ctx, int thread);

#endif
