/* Requests to a whole server, one after the other: "METHOD /path?query" in a line, then lines of headers, then, behind
 * an empty line, the body. A line "---" ends a request. So the bodies of every described operation are read, with
 * page tokens, conditions and keys; what they ask for is carried out. */
#include "fuzz_server.h"

enum { REQUESTS_MAX = 8 };

/* The rest, up to a line that is the mark. */
static struct str cut_at(struct str *rest, const char *mark)
{
	struct str whole = *rest;

	for (size_t i = 0; i + strlen(mark) <= whole.n; i++)
		if (memcmp(whole.p + i, mark, strlen(mark)) == 0) {
			*rest = str_sub(whole, i + strlen(mark), whole.n);
			return str_sub(whole, 0, i);
		}
	*rest = STR_NULL;
	return whole;
}

static void ask_one(struct str text)
{
	struct str body = text, head = cut_at(&body, "\n\n"), line;
	struct buf request, answer;

	buf_init(&request, 1 << 20);
	buf_init(&answer, FUZZ_ANSWER_MAX);
	line = str_cut(&head, '\n');
	buf_printf(&request, "%.*s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: %zu\r\n",
		   STR_ARG(line), body.p ? body.n : 0);
	while (head.p && head.n) {
		line = str_cut(&head, '\n');
		/* An answer that never ends is for those who want one. */
		if (memmem(line.p, line.n, "event-stream", 12) == NULL)
			buf_printf(&request, "%.*s\r\n", STR_ARG(line));
	}
	buf_puts(&request, "\r\n");
	if (body.p)
		buf_put(&request, body);
	fuzz_ask(buf_str(&request), &answer);
	buf_release(&request);
	buf_release(&answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest = fuzz_str(data, size);

	for (int i = 0; rest.p && i < REQUESTS_MAX; i++)
		ask_one(cut_at(&rest, "\n---\n"));
	return 0;
}
