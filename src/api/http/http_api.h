/* The protocol over HTTP: finds the route, decodes, lets the core decide, encodes. */
#ifndef SPINE_API_HTTP_HTTP_API_H
#define SPINE_API_HTTP_HTTP_API_H

#include "net/http.h"

/* The callbacks of struct http_config, with ctx a struct api. */
void http_api_on_request(void *ctx, struct http_req *req);
int http_api_on_head(void *ctx, struct http_req *req, struct buf *ret_body);
void http_api_on_refusal(void *ctx, int status, const char *code, const char *detail, struct buf *ret_body);
void http_api_on_thread_start(void *ctx, int thread);
void http_api_on_thread_stop(void *ctx, int thread);

#endif
