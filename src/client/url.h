/* Paths and queries of requests, percent-encoded (RFC 3986). */
#ifndef SPINE_CLIENT_URL_H
#define SPINE_CLIENT_URL_H

#include "base/buf.h"
#include "base/str.h"

/* Appends text so that it means itself in a path segment or a query: all but letters, digits and "-._~@" is encoded. */
void url_put_escaped(struct buf *out, struct str text);
/* Appends "?name=value", or "&name=value" where *out has a query already. name is sent encoded, too. */
void url_add(struct buf *out, const char *name, struct str value);
void url_add_int(struct buf *out, const char *name, int64_t value);

#endif
