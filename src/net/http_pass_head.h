/* The headers of what is passed on: those of the request for libcurl, those of the answer for the client. */
#ifndef SPINE_NET_HTTP_PASS_HEAD_H
#define SPINE_NET_HTTP_PASS_HEAD_H

#include "net/http_internal.h"
#include "net/http_pass.h"

#include <curl/curl.h>

/* Returns owned: the lines of the request's header. What libcurl adds by itself is Host and Content-Length alone. */
struct curl_slist *http_pass_lines(const struct http_req *req, const struct http_pass_order *order);
/* Appends one line. */
void http_pass_add_line(struct curl_slist **lines, struct buf *room, struct str name, struct str value);

enum { HTTP_PASS_CONNECTIONS_MAX = 8 };

/* The head of an answer, as its lines come. */
struct http_pass_head {
	struct http_req *req;		/* its arena has what is kept */
	struct http_header *list;	/* ends with a NULL name */
	size_t count, cap;
	size_t bytes;			/* of all lines */
	int64_t length;			/* of the body; -1: it does not say */
	int status;			/* 0: no line has come, or none behind a 1xx */
	struct str connections[HTTP_PASS_CONNECTIONS_MAX];	/* the Connection headers */
	size_t connection_count;
	bool is_coded;			/* a Transfer-Encoding says where the body ends */
	bool is_events;			/* text/event-stream */
	bool is_whole;			/* the empty line has come, and it is not one of a 1xx */
	const char *undone_name;	/* NULL: there is no such header */
	struct str undone;		/* its value; p == NULL: it has not come */
};

/* undone_name is borrowed: as in struct http_pass_order. */
void http_pass_head_init(struct http_pass_head *head, struct http_req *req, const char *undone_name);
/* One line with its CRLF. False where it is not one that could be given on, or too much. */
bool http_pass_head_line(struct http_pass_head *head, struct str line);

#endif
