#include "body.h"

#include "error.h"
#include "json.h"
#include "utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* More than any server takes; its own limit is told by the server. */
enum { BODY_MAX_BYTES = 256 * 1024 * 1024 };

bool msi_body_quote(struct msi_buffer *out, const char *text)
{
	static const char shorts[] = "uuuuuuuubtnufruuuuuuuuuuuuuuuuuu";
	size_t len = strlen(text), start = 0, i;
	char escape[8];

	if (msi_utf8_prefix(text, len) < len)
		return false;
	msi_buffer_append(out, "\"", 1);
	for (i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c >= 0x20 && c != '"' && c != '\\')
			continue;
		msi_buffer_append(out, text + start, i - start);
		if (c < 0x20 && shorts[c] == 'u')
			snprintf(escape, sizeof(escape), "\\u%04x", c);
		else
			snprintf(escape, sizeof(escape), "\\%c", c < 0x20 ? shorts[c] : c);
		msi_buffer_puts(out, escape);
		start = i + 1;
	}
	msi_buffer_append(out, text + start, i - start);
	msi_buffer_append(out, "\"", 1);
	return true;
}

ms_status ms_json_quote(const char *text, char **ret, ms_error *ret_error)
{
	struct msi_buffer out;

	msi_error_clear(ret_error);
	*ret = NULL;
	msi_buffer_init(&out, BODY_MAX_BYTES);
	if (text == NULL || !msi_body_quote(&out, text)) {
		msi_buffer_release(&out);
		return msi_error_invalid(ret_error, "text", "text must be UTF-8");
	}
	if (msi_buffer_failed(&out)) {
		msi_buffer_release(&out);
		return msi_error_no_memory(ret_error);
	}
	*ret = out.data;
	return MS_OK;
}

void msi_body_begin(struct msi_body *b, ms_error *error)
{
	*b = (struct msi_body){.error = error};
	msi_buffer_init(&b->out, BODY_MAX_BYTES);
	msi_buffer_puts(&b->out, "{");
}

ms_status msi_body_end(struct msi_body *b)
{
	msi_body_close(b);
	msi_buffer_cut(&b->out, ',');
	if (b->status == MS_OK && b->out.no_memory)
		b->status = msi_error_no_memory(b->error);
	if (b->status == MS_OK && b->out.is_full)
		b->status = msi_error_invalid(b->error, "", "the request is larger than 256 MiB");
	return b->status;
}

void msi_body_release(struct msi_body *b)
{
	msi_buffer_release(&b->out);
}

void msi_body_open(struct msi_body *b, const char *name)
{
	msi_body_quote(&b->out, name);
	msi_buffer_puts(&b->out, ":{");
}

void msi_body_close(struct msi_body *b)
{
	msi_buffer_cut(&b->out, ',');
	msi_buffer_puts(&b->out, "},");
}

static void put_name(struct msi_body *b, const char *name)
{
	msi_body_quote(&b->out, name);
	msi_buffer_puts(&b->out, ":");
}

static void put_text(struct msi_body *b, const char *name, const char *text)
{
	if (!msi_body_quote(&b->out, text) && b->status == MS_OK)
		b->status = msi_error_invalid(b->error, name, "%s is not UTF-8", name);
	msi_buffer_puts(&b->out, ",");
}

void msi_body_text(struct msi_body *b, const char *name, const char *text)
{
	if (text == NULL)
		return;
	put_name(b, name);
	put_text(b, name, text);
}

void msi_body_needed(struct msi_body *b, const char *name, const char *text)
{
	if ((text == NULL || text[0] == '\0') && b->status == MS_OK)
		b->status = msi_error_invalid(b->error, name, "%s must be given", name);
	msi_body_text(b, name, text);
}

void msi_body_int(struct msi_body *b, const char *name, int64_t value)
{
	char text[32];

	if (value == 0)
		return;
	put_name(b, name);
	snprintf(text, sizeof(text), "%" PRId64 ",", value);
	msi_buffer_puts(&b->out, text);
}

void msi_body_true(struct msi_body *b, const char *name, bool value)
{
	if (!value)
		return;
	put_name(b, name);
	msi_buffer_puts(&b->out, "true,");
}

void msi_body_seconds(struct msi_body *b, const char *name, int64_t ms)
{
	char text[48];

	if (ms < 0)
		return;
	put_name(b, name);
	/* By hand: printf's point goes by the locale of the program. */
	snprintf(text, sizeof(text), "%" PRId64 ".%03d,", ms / 1000, (int)(ms % 1000));
	msi_buffer_puts(&b->out, text);
}

void msi_body_list(struct msi_body *b, const char *name, const char *const *texts)
{
	if (texts == NULL)
		return;
	put_name(b, name);
	msi_buffer_puts(&b->out, "[");
	for (; *texts; texts++)
		put_text(b, name, *texts);
	msi_buffer_cut(&b->out, ',');
	msi_buffer_puts(&b->out, "],");
}

/* --- JSON of the caller's: it is read first, so that it cannot break what stands around it --- */

static const char *type_name(ms_type type)
{
	return type == MS_OBJECT ? "a JSON object" : type == MS_ARRAY ? "a JSON array" : "JSON";
}

/* False where json is none, or not of that type, or something was wrong before. Else *ret is to be released. */
static bool read_json(struct msi_body *b, const char *name, const char *json, ms_type type, struct msi_json_tree *ret)
{
	ms_status status;
	ms_error why;

	if (b->status != MS_OK)
		return false;
	status = msi_json_read(json, strlen(json), ret, &why);
	if (status == MS_OK && (type == MS_NULL || ret->root.type == type))
		return true;
	if (status == MS_OK)
		msi_json_release(ret);
	if (status == MS_NO_MEMORY)
		b->status = msi_error_no_memory(b->error);
	else
		b->status = msi_error_invalid(b->error, name, "%s must be %s%s%s", name, type_name(type),
					      status ? "; " : "", status ? why.detail : "");
	return false;
}

void msi_body_json(struct msi_body *b, const char *name, const char *json, ms_type type)
{
	struct msi_json_tree tree;

	if (json == NULL || !read_json(b, name, json, type, &tree))
		return;
	put_name(b, name);
	msi_buffer_append(&b->out, tree.root.source, tree.root.source_len);
	msi_buffer_puts(&b->out, ",");
	msi_json_release(&tree);
}

void msi_body_extra(struct msi_body *b, const char *name, const char *json)
{
	struct msi_json_tree tree;

	if (json == NULL || !read_json(b, name, json, MS_OBJECT, &tree))
		return;
	if (tree.root.count) {
		msi_buffer_append(&b->out, tree.root.source + 1, tree.root.source_len - 2);
		msi_buffer_puts(&b->out, ",");
	}
	msi_json_release(&tree);
}
