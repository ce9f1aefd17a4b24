/* The protocol over HTTP: finds the route, decodes, lets the core decide, encodes. */
#ifndef SPINE_API_HTTP_HTTP_API_H
#define SPINE_API_HTTP_HTTP_API_H

#include "net/http.h"

struct api;
struct entry;
struct problem;

/* The callbacks of struct http_config, with ctx a struct front. */
void http_api_on_request(void *ctx, struct http_req *req);
int http_api_on_head(void *ctx, struct http_req *req, struct buf *ret_body);
void http_api_on_refusal(void *ctx, int status, const char *code, const char *detail, struct buf *ret_body);
void http_api_on_thread_start(void *ctx, int thread);
void http_api_on_thread_stop(void *ctx, int thread);

/* On the HTTP thread: that api answers it, with who was let in; entry NULL: nobody was, and the problem says why. */
void http_api_answer(struct api *api, struct http_req *req, const struct entry *entry, const struct problem *problem);

#endif
