/* `spine mcp`: a proxy between a host that speaks MCP on standard input and output and the server's /mcp.
 *
 * Each line of the host becomes a call: a POST of its own. What comes back, an answer or a stream of messages, goes out
 * as lines. One thread waits for the host, the server, signals and the clock.
 *
 *     mcp_proxy.c      the loop, and what becomes of a line
 *     mcp_call.c       a call: sent, read, repeated, given up
 *     mcp_session.c    what the versions before 2026-07-28 keep: session, subscriptions, the stream of the server
 *     mcp_server.c     a server that is not there: it is waited for, or started
 *     mcp_message.c    JSON-RPC
 *     mcp_pipes.c      lines in and out
 *
 * Nothing that the server sends is trusted: what goes out is valid JSON-RPC, and a response only to the request whose
 * call brought it.
 */
#ifndef SPINE_CLI_MCP_PROXY_H
#define SPINE_CLI_MCP_PROXY_H

#include "base/list.h"
#include "cli/cli.h"
#include "cli/mcp/mcp_message.h"
#include "cli/mcp/mcp_pipes.h"
#include "cli/stop.h"
#include "client/client_many.h"
#include "client/sse.h"

#include <sys/types.h>

enum {
	MCP_CALLS_MAX = 256,		/* at a time; a host has a handful */
	MCP_IDLE_MAX = 32,		/* clients that are kept for the next call */
	MCP_HEADERS_MAX = 8,
	MCP_KEY_BYTES = 16,
	MCP_SUBSCRIPTIONS_MAX = 1000,
	/* What calls have left when the input ends. The official TypeScript SDK waits two seconds between closing the
	 * pipe and the first signal. */
	MCP_CLOSE_MS = 1000,
};

enum mcp_purpose {
	MCP_FORWARD,	/* a message of the host */
	MCP_LISTEN,	/* GET: what the server has to say beside answers */
	MCP_RESUME,	/* initialize again: the server has forgotten the session */
	MCP_REPEAT,	/* what the session must know again; its answer concerns nobody */
	MCP_GOODBYE,	/* DELETE: the session is over */
};

struct mcp_proxy;

struct mcp_call {
	struct list link;
	struct mcp_proxy *proxy;
	enum mcp_purpose purpose;
	struct arena arena;		/* holds the line and the message */
	struct arena header_arena;	/* holds the headers of the last time it was sent */
	struct str line;
	struct mcp_message message;
	struct client *client;		/* NULL while it waits to be sent */
	struct client_request request;
	const char *headers[MCP_HEADERS_MAX + 1];
	struct sse stream;
	struct buf body;
	bool is_stream;
	bool is_answered;
	char key[2 * MCP_KEY_BYTES + 1];	/* Idempotency-Key of a tool call; "": none */
	bool is_repeated;		/* it broke, and was sent again */
	bool was_lost;			/* a stream that is asked for again */
	bool is_acknowledged;		/* subscriptions/listen: the host has seen that it began */
	int resumes;			/* how often the session was lost with it */
	int64_t send_at_ns;		/* while it waits */
	int64_t pause_ms;
	int64_t answered_ns;
};

/* Of the versions that begin with initialize. */
struct mcp_session {
	struct buf id;			/* Mcp-Session-Id; "": none was given */
	struct buf version;		/* as agreed; "": initialize was not answered yet */
	struct buf initialize;		/* the host's message, for doing it again */
	const char *subscriptions[MCP_SUBSCRIPTIONS_MAX];	/* of resources; owned */
	size_t subscription_count;
	bool is_resuming;
	int64_t resumed_ns;		/* when that was tried last; 0: never */
	bool has_no_stream;		/* the server does not offer one */
	bool has_new_stream;		/* one was lost, and there is another */
};

struct mcp_proxy {
	struct cli *cli;
	const char *url;
	struct client_many *many;
	struct client *idle[MCP_IDLE_MAX];
	size_t idle_count;
	struct list calls;		/* under way, or waiting to be sent */
	size_t call_count;
	struct mcp_call *barrier;	/* no line is taken before this call is over */
	struct mcp_input in;
	struct mcp_output out;
	struct stop stop;
	struct mcp_session session;
	int64_t close_by_ns;		/* it is over, and ends then at the latest; 0: it is not */
	bool is_hurried;		/* nobody waits for what is under way */
	bool has_said_goodbye;
	/* mcp_server.c */
	bool was_reached;
	int64_t missing_ns;		/* since when nothing answers; 0: something does, or nobody has asked */
	bool is_started;
	pid_t server_pid;		/* of the one that was started; 0: none */
	const char *server_log;
};

/* --- mcp_proxy.c --- */

/* Until the host has gone. Returns the exit code. */
int mcp_proxy_run(struct cli *cli);
/* To the host: a message. */
void mcp_proxy_say(struct mcp_proxy *p, struct str json);
/* To the host: a call of its failed, for all the requests in it. */
void mcp_proxy_fail(struct mcp_proxy *p, const struct mcp_call *call, int code, const char *text, bool is_retryable);

/* --- mcp_call.c --- */

/* A call that is to be sent; line is the message, empty for none. Where it is no message the host is told, and the
 * result is NULL. */
struct mcp_call *mcp_call_new(struct mcp_proxy *p, enum mcp_purpose purpose, const char *method, struct str line);
void mcp_call_send(struct mcp_call *call);
/* To be sent, again or for the first time, after so long. */
void mcp_call_postpone(struct mcp_call *call, int64_t ms);
/* Gives up what is under way, and frees. Not from within a callback of the same call. */
void mcp_call_free(struct mcp_call *call);
bool mcp_call_is_waiting(const struct mcp_call *call);
/* subscriptions/listen: answered only when it ends. */
bool mcp_call_is_subscription(const struct mcp_call *call);

/* --- mcp_session.c --- */

void mcp_session_init(struct mcp_session *s);
void mcp_session_release(struct mcp_session *s);
/* A message of the host goes out: what must be known of it is kept. */
void mcp_session_note(struct mcp_session *s, const struct mcp_call *call);
/* The headers that go with the call. */
void mcp_session_headers(const struct mcp_session *s, struct mcp_call *call);
/* A response to initialize has come. */
void mcp_session_agreed(struct mcp_session *s, const struct mcp_message *response);
/* A call is over, and was accepted. */
void mcp_session_continue(struct mcp_proxy *p, struct mcp_call *call);
/* Where a stream was lost and is there again: its subscriptions are, too. Not from within a callback. */
void mcp_session_catch_up(struct mcp_proxy *p);
/* The server does not know the session any more. True where the call waits for another. */
bool mcp_session_lost(struct mcp_proxy *p, struct mcp_call *call);
/* The session could not be made again: those that wait for it are told. */
void mcp_session_failed(struct mcp_proxy *p, const char *why);

/* --- mcp_server.c --- */

/* Something has answered. */
void mcp_server_reached(struct mcp_proxy *p);
/* Nothing listens there (is_refused), or it takes no more work. True where the call is to be sent again, a little
 * later; false with a sentence where there is no more use in it. */
bool mcp_server_wait(struct mcp_proxy *p, const struct mcp_call *call, bool is_refused, const char **ret_why);

#endif
