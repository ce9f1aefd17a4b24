/* JSON as answers have it, read strictly into a tree.
 *
 * The rules are those of the server's own reader (src/codec/json.h), and a test holds the two together: duplicate
 * names, malformed UTF-8, half surrogate pairs, and numbers whose digits a double would lose are refused. What the
 * server sends passes; what does not pass is no answer of a Memory Spine server.
 *
 * BOUNDS. The text is bounded by the caller, the depth by MSI_JSON_DEPTH, the number of values by MSI_JSON_VALUES: a
 * value takes 64 bytes where its text may take two. There is no recursion.
 *
 * MEMORY. Texts are decoded into one block, which is as large as the source; values lie in chunks, the children of each
 * container side by side.
 */
#ifndef MSI_JSON_H
#define MSI_JSON_H

#include "memory_spine.h"

/* The depth is that of src/codec/json.h (JSON_DEPTH_MAX). No page of the server, 1,000 entries, has so many values. */
enum { MSI_JSON_DEPTH = 1000, MSI_JSON_VALUES = 2000000 };

struct ms_json {
	ms_type type;
	uint32_t count;			/* of an array or object */
	const char *name;		/* of a member, ended by a NUL; NULL for all else */
	size_t name_len;
	const char *source;		/* its text, borrowed from what was read */
	size_t source_len;
	union {
		bool boolean;
		int64_t i;
		double d;
		size_t text_len;
		struct ms_json *children;	/* NULL where count is 0 */
	};
	const char *text;		/* of a string, ended by a NUL */
};

struct msi_json_chunk;

struct msi_json_tree {
	struct ms_json root;
	char *texts;
	struct msi_json_chunk *chunks;
};

/* Borrows text, which ends with a NUL that len does not count, for as long as the tree lives. On success *ret is to be
 * released; else it holds nothing, and *ret_error (may be NULL) has a code and a sentence. */
ms_status msi_json_read(const char *text, size_t len, struct msi_json_tree *ret, ms_error *ret_error);
void msi_json_release(struct msi_json_tree *tree);

#endif
