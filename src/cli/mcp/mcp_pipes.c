#include "cli/mcp/mcp_pipes.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	CHUNK_BYTES = 64 * 1024,
	OUTPUT_HIGH_BYTES = 8 << 20,
	OUTPUT_MAX_BYTES = 256 << 20,	/* what many large answers at the same time may come to */
};

/* --- In --- */

void mcp_input_init(struct mcp_input *in, int fd)
{
	*in = (struct mcp_input){.fd = fd};
	buf_init(&in->pending, MCP_MESSAGE_MAX_BYTES + CHUNK_BYTES);
}

void mcp_input_release(struct mcp_input *in)
{
	buf_release(&in->pending);
}

void mcp_input_read(struct mcp_input *in)
{
	ssize_t got;
	char *room;

	buf_consume(&in->pending, in->at);
	in->scanned -= in->at;
	in->at = 0;
	room = buf_reserve(&in->pending, CHUNK_BYTES);
	if (room == NULL) {
		in->has_ended = true;	/* cannot be: a line that is too long was thrown away before */
		return;
	}
	got = read(in->fd, room, CHUNK_BYTES);
	if (got > 0)
		buf_commit(&in->pending, (size_t)got);
	else if (got == 0 || (errno != EINTR && errno != EAGAIN))
		in->has_ended = true;
}

static enum mcp_line take_until(struct mcp_input *in, size_t end, struct str *ret)
{
	bool was_skipping = in->is_skipping;

	*ret = str_sub(buf_str(&in->pending), in->at, end);
	in->at = in->scanned = end < in->pending.len ? end + 1 : end;
	in->is_skipping = false;
	return was_skipping ? mcp_input_next(in, ret) : MCP_LINE;
}

enum mcp_line mcp_input_next(struct mcp_input *in, struct str *ret)
{
	struct str rest = str_sub(buf_str(&in->pending), in->scanned, in->pending.len);
	size_t end = in->scanned + str_find(rest, '\n');
	bool was_skipping = in->is_skipping;

	if (end < in->pending.len || (in->has_ended && in->at < in->pending.len))
		return take_until(in, end, ret);
	in->scanned = in->pending.len;
	if (!in->is_skipping && in->pending.len - in->at <= MCP_MESSAGE_MAX_BYTES)
		return MCP_LINE_NONE;
	in->is_skipping = true;
	in->at = in->scanned = in->pending.len;
	return was_skipping ? MCP_LINE_NONE : MCP_LINE_TOO_LONG;
}

/* --- Out --- */

void mcp_output_init(struct mcp_output *out, int fd)
{
	struct stat info;

	*out = (struct mcp_output){.fd = fd, .flags = -1};
	buf_init(&out->pending, OUTPUT_MAX_BYTES);
	if (fstat(fd, &info) != 0 || !(S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode)))
		return;
	out->flags = fcntl(fd, F_GETFL);
	if (out->flags >= 0)
		fcntl(fd, F_SETFL, out->flags | O_NONBLOCK);
}

void mcp_output_release(struct mcp_output *out)
{
	if (out->flags >= 0)
		fcntl(out->fd, F_SETFL, out->flags);
	buf_release(&out->pending);
}

void mcp_output_line(struct mcp_output *out, struct str json)
{
	char *at = buf_reserve(&out->pending, json.n + 1);

	if (at == NULL) {
		out->is_broken = true;
		return;
	}
	memcpy(at, json.p, json.n);
	for (char *p = at; (p = memchr(p, '\n', (size_t)(at + json.n - p))); p++)
		*p = ' ';
	for (char *p = at; (p = memchr(p, '\r', (size_t)(at + json.n - p))); p++)
		*p = ' ';
	at[json.n] = '\n';
	buf_commit(&out->pending, json.n + 1);
}

void mcp_output_flush(struct mcp_output *out)
{
	size_t done = 0;

	while (done < out->pending.len && !out->is_broken) {
		ssize_t n = write(out->fd, out->pending.data + done, out->pending.len - done);

		if (n > 0)
			done += (size_t)n;
		else if (n < 0 && errno == EAGAIN)
			break;
		else if (n < 0 && errno != EINTR)
			out->is_broken = true;
	}
	buf_consume(&out->pending, done);
}

bool mcp_output_is_full(const struct mcp_output *out)
{
	return out->pending.len > OUTPUT_HIGH_BYTES;
}
