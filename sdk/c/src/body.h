/* The body of a request as it is written, member by member. What is not given is left out: NULL, 0, false. What cannot
 * be written (text that is not UTF-8, JSON that is none) is remembered, and told once, by msi_body_end(). */
#ifndef MSI_BODY_H
#define MSI_BODY_H

#include "buffer.h"
#include "memory_spine.h"

struct msi_body {
	struct msi_buffer out;
	ms_error *error;	/* of the call; may be NULL */
	ms_status status;
};

/* "{". error may be NULL. */
void msi_body_begin(struct msi_body *b, ms_error *error);
/* "}". Returns MS_OK, or what was wrong, with the error filled. The content is borrowed until the release. */
ms_status msi_body_end(struct msi_body *b);
void msi_body_release(struct msi_body *b);

void msi_body_text(struct msi_body *b, const char *name, const char *text);
/* The same for what must be there, and not be empty. */
void msi_body_needed(struct msi_body *b, const char *name, const char *text);
void msi_body_int(struct msi_body *b, const char *name, int64_t value);
void msi_body_true(struct msi_body *b, const char *name, bool value);
/* Milliseconds as seconds, under a name that ends in _s. Not left out where it is 0, but where it is below 0. */
void msi_body_seconds(struct msi_body *b, const char *name, int64_t ms);
/* Texts, ended by NULL. */
void msi_body_list(struct msi_body *b, const char *name, const char *const *texts);
/* A JSON value; of this type, where it is not MS_NULL. */
void msi_body_json(struct msi_body *b, const char *name, const char *json, ms_type type);
/* The members of an object, beside the others. name is for the error. */
void msi_body_extra(struct msi_body *b, const char *name, const char *json);
/* An object within it. */
void msi_body_open(struct msi_body *b, const char *name);
void msi_body_close(struct msi_body *b);

/* Text as a JSON string. False where it is not UTF-8. */
bool msi_body_quote(struct msi_buffer *out, const char *text);

#endif
