/* The OpenAPI 3.1 document, made from the descriptions. */
#ifndef SPINE_API_DESCRIBE_OPENAPI_H
#define SPINE_API_DESCRIBE_OPENAPI_H

#include "base/buf.h"

/* Appends the document; the same bytes each time. */
void openapi_write(struct buf *out);

#endif
