/* Request heads and chunked bodies: where the bytes are cut makes no difference, and what is let in keeps the rules. */
#include "fuzz.h"

#include "net/http_chunk.h"
#include "net/http_head.h"

static const struct http_limits limits = {.max_header_bytes = 2000, .max_headers = 8, .max_uri_bytes = 500};

static void check_fields(struct str text, const struct http_head *head)
{
	for (size_t i = 0; i < head->fields_len; i++) {
		struct str name = {text.p + head->fields[i].name_at, head->fields[i].name_len};
		struct str value = {text.p + head->fields[i].value_at, head->fields[i].value_len};

		PROMISE(name.n > 0 && fuzz_is_inside(name, text) && fuzz_is_inside(value, text),
			"fields are in the head");
		for (size_t k = 0; k < name.n; k++)
			PROMISE(name.p[k] > ' ' && name.p[k] < 0x7f && name.p[k] != ':', "a name is a token");
		for (size_t k = 0; k < value.n; k++)
			PROMISE(value.p[k] != '\r' && value.p[k] != '\n' && value.p[k] != '\0', "a value is one line");
	}
}

static void read_head(char *data, size_t size, size_t step)
{
	const struct http_problem *problem = NULL, *piecemeal = NULL;
	enum http_scan_result whole, pieces = HTTP_SCAN_MORE;
	struct http_scan scan = {0}, part = {0};
	struct http_field fields[8];
	struct http_head head;

	whole = http_scan(&scan, (struct str){data, size}, &limits, &problem);
	for (size_t n = step; pieces == HTTP_SCAN_MORE && size; n += step) {
		pieces = http_scan(&part, (struct str){data, n < size ? n : size}, &limits, &piecemeal);
		if (n >= size)
			break;
	}
	PROMISE(size == 0 || (whole == pieces && problem == piecemeal), "a head is read alike in pieces");
	PROMISE((problem != NULL) == (whole == HTTP_SCAN_REFUSED), "a refusal has a reason");
	if (whole != HTTP_SCAN_DONE)
		return;
	PROMISE(scan.at <= size && scan.at == part.at, "a head ends where it ends");
	problem = http_head_parse(data, scan.at, &limits, fields, &head);
	if (problem) {
		PROMISE(problem->status >= 400 && problem->status < 600, "a refusal has a status");
		return;
	}
	PROMISE(head.path.n > 0 && (head.path.p[0] == '/' || str_is(head.path, "*")), "a path begins with a slash");
	PROMISE(!head.is_chunked || (head.content_length == 0 && !head.is_http10), "there is one framing");
	check_fields((struct str){data, scan.at}, &head);
}

/* The body, and how it ended. */
static enum http_chunk_result decode(struct str data, size_t step, struct buf *body, size_t *ret_used)
{
	enum http_chunk_result result = HTTP_CHUNK_MORE;
	struct http_chunk chunk = {0};
	size_t at = 0;

	while (result == HTTP_CHUNK_MORE && at < data.n) {
		size_t n = data.n - at < step ? data.n - at : step;
		struct str input = {data.p + at, n}, piece;

		while ((result = http_chunk_decode(&chunk, &input, &piece)) == HTTP_CHUNK_DATA ||
		       result == HTTP_CHUNK_SIZE)
			if (result == HTTP_CHUNK_DATA)
				buf_put(body, piece);
		at += n - input.n;
	}
	*ret_used = at;
	return result;
}

static void read_chunks(struct str data, size_t step)
{
	struct buf whole, pieces;
	size_t used, used_pieces;
	enum http_chunk_result a, b;

	buf_init(&whole, 1 << 20);
	buf_init(&pieces, 1 << 20);
	a = decode(data, data.n + 1, &whole, &used);
	b = decode(data, step, &pieces, &used_pieces);
	PROMISE(a == b && (a == HTTP_CHUNK_BAD || used == used_pieces), "chunks end alike in pieces");
	PROMISE(a == HTTP_CHUNK_BAD || str_eq(buf_str(&whole), buf_str(&pieces)), "chunks are alike in pieces");
	buf_release(&whole);
	buf_release(&pieces);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t choice = fuzz_choice(&data, &size);
	size_t step = 1 + choice % 7;
	char *copy = malloc(size + 1);

	memcpy(copy, data, size);
	if (choice & 0x80)
		read_chunks((struct str){copy, size}, step);
	else
		read_head(copy, size, step);
	free(copy);
	return 0;
}
