/* What openapi.c puts around the operations; nobody else needs it. */
#ifndef SPINE_API_DESCRIBE_OPENAPI_PARTS_H
#define SPINE_API_DESCRIBE_OPENAPI_PARTS_H

#include "api/describe/describe.h"

/* Every answer to a call that takes Idempotency-Key may have it. */
enum { OPENAPI_REPLAYED = 1 << 8 };

struct openapi_tag {
	const char *name;
	const char *says;
};

struct openapi_header {
	unsigned flag;			/* of enum takes, or of enum gives */
	const char *component;		/* NULL ends a list */
	struct field field;
};

struct openapi_parameter {
	const char *in;			/* NULL ends a list */
	const struct field *field;
};

extern const char *const openapi_head;			/* members, with ' for " */
extern const struct openapi_tag openapi_tags[];		/* ended by one without a name */
extern const struct openapi_header openapi_request_headers[];
extern const struct openapi_header openapi_answer_headers[];
extern const struct openapi_parameter openapi_parameters[];	/* those with a name */
extern const struct shape openapi_problem;

#endif
