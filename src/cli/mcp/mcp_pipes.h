/* Standard input, taken line by line as it comes; standard output, written as fast as it is read. Neither blocks. */
#ifndef SPINE_CLI_MCP_PIPES_H
#define SPINE_CLI_MCP_PIPES_H

#include "base/buf.h"

/* A message in either direction. Servers take 8 MiB where nobody says otherwise. */
enum { MCP_MESSAGE_MAX_BYTES = 32 << 20 };

struct mcp_input {
	int fd;
	struct buf pending;
	size_t at;		/* of the next line */
	size_t scanned;		/* no line break stands before this */
	bool is_skipping;	/* of a line that is too long: up to its end */
	bool has_ended;
};

enum mcp_line { MCP_LINE, MCP_LINE_NONE, MCP_LINE_TOO_LONG };

/* Borrows fd. */
void mcp_input_init(struct mcp_input *in, int fd);
void mcp_input_release(struct mcp_input *in);
/* Reads once, which does not block where fd was readable. */
void mcp_input_read(struct mcp_input *in);
/* The next line, without its line break, borrowed until mcp_input_read. MCP_LINE_TOO_LONG is said once for each such
 * line, whose bytes are thrown away. What stands behind the last line break is a line, too, once the input has
 * ended. */
enum mcp_line mcp_input_next(struct mcp_input *in, struct str *ret);

struct mcp_output {
	int fd;
	int flags;		/* of fd, as they were; -1: nothing was changed */
	struct buf pending;
	bool is_broken;		/* nobody reads it any more, or much too slowly */
};

/* Borrows fd, and makes it not block where it is a pipe or a socket. */
void mcp_output_init(struct mcp_output *out, int fd);
/* Leaves fd as it was. */
void mcp_output_release(struct mcp_output *out);
/* A message, as a line. It is valid JSON: a line break in it can only stand between its parts. */
void mcp_output_line(struct mcp_output *out, struct str json);
/* Writes what can be written now. */
void mcp_output_flush(struct mcp_output *out);
/* So much is unread that nothing more should be asked for. */
bool mcp_output_is_full(const struct mcp_output *out);

#endif
