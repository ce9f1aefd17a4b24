/* The state of the reader, shared by its two files: json_read.c has values, json_text.c strings. */
#ifndef MSI_JSON_READER_H
#define MSI_JSON_READER_H

#include "json.h"

#include <locale.h>

struct reader {
	const char *start;
	const char *at;
	const char *end;
	struct msi_json_tree *tree;
	char *texts;			/* free room for texts */
	struct ms_json *pending;
	size_t pending_count;
	size_t pending_cap;
	size_t values;
	struct {
		size_t first;		/* of its children among the pending */
		size_t self;		/* itself */
	} open[MSI_JSON_DEPTH];
	int depth;
	locale_t c_locale;		/* strtod goes by the locale of the program otherwise; 0 until it is needed */
	const char *fault;		/* what is wrong; NULL where nothing is but memory */
	bool failed;
};

/* Always false. fault is NULL where there is no memory. */
static inline bool fail(struct reader *r, const char *fault)
{
	r->fault = fault;
	r->failed = true;
	return false;
}

static inline char peek(const struct reader *r)
{
	return r->at < r->end ? *r->at : '\0';
}

/* Reads a string, the reader on its quote. The text is in the tree's block, and ends with a NUL. */
bool msi_json_read_text(struct reader *r, const char **ret, size_t *ret_len);

#endif
