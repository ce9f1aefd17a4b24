/* An answer as it came, and its values where it is JSON. */
#ifndef MSI_ANSWER_H
#define MSI_ANSWER_H

#include "buffer.h"
#include "json.h"

enum { MSI_ETAG_SIZE = 128 };

struct ms_answer {
	int status;			/* of HTTP */
	int tries;			/* how often the request was sent */
	struct msi_buffer body;
	bool is_replayed;		/* Idempotent-Replayed: true */
	int64_t retry_after_ms;		/* -1 where the server named none */
	char etag[MSI_ETAG_SIZE];	/* with its quotes; "" where there is none, or one that does not fit */
	bool is_read;			/* there is a tree */
	struct msi_json_tree tree;
};

/* Returns owned; NULL where there is no memory. */
struct ms_answer *msi_answer_new(size_t max_bytes);
/* As new, but for its memory: before a request is sent again. */
void msi_answer_reset(struct ms_answer *answer);
/* Reads the body into values. */
ms_status msi_answer_read(struct ms_answer *answer, ms_error *ret_error);
/* What the server refused, as an error. url is for the sentence. Returns MS_REFUSED, or MS_BAD_ANSWER where what came
 * is no problem of a Memory Spine server. */
ms_status msi_answer_problem(struct ms_answer *answer, const char *url, ms_error *ret_error);

#endif
