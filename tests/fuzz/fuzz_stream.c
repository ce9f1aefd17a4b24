/* What comes in pieces: server-sent events, the lines of an import, messages of MCP. Where the bytes are cut makes no
 * difference. */
#include "fuzz.h"

#include "cli/lines.h"
#include "cli/mcp/mcp_message.h"
#include "client/sse.h"

#include <sys/mman.h>
#include <unistd.h>

enum { MAX_BYTES = 256, DEPTH = 64 };

static bool on_event(void *arg, const struct sse *s, struct str data)
{
	buf_printf(arg, "%.*s|%.*s;", STR_ARG(data), STR_ARG(buf_str(&s->id)));
	return true;
}

static bool feed(struct str text, size_t step, struct buf *seen)
{
	bool ok = true;
	struct sse s;

	sse_init(&s, MAX_BYTES);
	for (size_t at = 0; ok && at < text.n; at += step)
		ok = sse_feed(&s, str_sub(text, at, at + step < text.n ? at + step : text.n), on_event, seen);
	sse_release(&s);
	return ok;
}

static void read_events(struct str text, size_t step)
{
	struct buf whole, pieces;
	bool a, b;

	buf_init(&whole, 1 << 20);
	buf_init(&pieces, 1 << 20);
	a = feed(text, text.n + 1, &whole);
	b = feed(text, step, &pieces);
	PROMISE(a == b, "a stream ends alike in pieces");
	PROMISE(!a || str_eq(buf_str(&whole), buf_str(&pieces)), "a stream is alike in pieces");
	buf_release(&whole);
	buf_release(&pieces);
}

static void read_lines(struct str text)
{
	int fd = memfd_create("lines", MFD_CLOEXEC);
	enum lines_status status = LINES_END;
	struct str line;
	struct lines l;

	if (fd < 0 || write(fd, text.p, text.n) != (ssize_t)text.n || lseek(fd, 0, SEEK_SET) != 0) {
		if (fd >= 0)
			close(fd);
		return;
	}
	lines_init(&l, fd, MAX_BYTES);
	while ((status = lines_next(&l, &line)) == LINES_OK) {
		struct json_error error;
		struct json tree;
		struct arena arena;

		PROMISE(line.n <= MAX_BYTES && memchr(line.p, '\n', line.n) == NULL, "a line is one, and not too long");
		arena_init(&arena);
		json_parse(line, DEPTH, &arena, &tree, &error);
		arena_release(&arena);
	}
	PROMISE(status == LINES_END || status == LINES_TOO_LONG, "a file that can be read is read");
	lines_release(&l);
	close(fd);
}

static void read_message(struct str text)
{
	struct mcp_refusal refusal = {0};
	struct mcp_message message;
	struct arena arena;

	arena_init(&arena);
	if (!mcp_message_read(text, &arena, &message, &refusal)) {
		PROMISE(refusal.text && refusal.text[0], "a message is refused with a reason");
	} else {
		mcp_is_repeatable(&message);
		if (message.name.p)
			mcp_header(&arena, "Mcp-Name", message.name);
	}
	arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t step = 1 + fuzz_choice(&data, &size) % 9;
	struct str text = fuzz_str(data, size);

	read_events(text, step);
	read_lines(text);
	read_message(text);
	return 0;
}
