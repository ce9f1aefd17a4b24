/* What a client of the load generator does, over and over: a cycle of one or more requests.
 *
 * A scenario writes the next request and looks at its answer. It decides from the answer whether the cycle goes on
 * with another request (receive, then ack), is done, or went wrong. Each connection has a state of its own. To add a
 * scenario: write its functions in a file scenario_NAME.c and list it in scenario.c.
 */
#ifndef SPINE_BENCH_LOAD_SCENARIO_H
#define SPINE_BENCH_LOAD_SCENARIO_H

#include "base/buf.h"

enum scenario_step {
	SCENARIO_NEXT,		/* the cycle goes on with another request */
	SCENARIO_DONE,		/* the cycle is complete, and counts */
	SCENARIO_FAILED,	/* not what was asked for; a new cycle begins */
	SCENARIO_BEGIN,		/* what had to be done before the first cycle; a new one begins, nothing counts */
};

enum { SCENARIO_LEASE_SIZE = 48, SCENARIO_ID_SIZE = 32 };

/* What every client knows. */
struct scenario_config {
	size_t bytes;		/* of text in a request */
	uint64_t clients;
	bool forgets;		/* results are to become no memories */
	uint64_t seed;		/* of this run: what is written differs from run to run */
	const char *filled;	/* the directory that load/fill made, of which the server holds a copy; NULL: none */
	void *shared;		/* what the scenario's `prepare` made; NULL where it has none */
};

/* One client's own. */
struct scenario_client {
	const struct scenario_config *config;
	uint64_t number;	/* of the client */
	uint64_t count;		/* of its requests so far */
	struct buf scratch;
	int step;		/* of a cycle of several requests */
	char lease[SCENARIO_LEASE_SIZE];	/* of the handoff that it holds */
	char envelope[SCENARIO_ID_SIZE];	/* of the same */
	int hop;
};

struct scenario {
	const char *name;
	const char *about;
	/* Optional, once, before the clients start: makes what they all work with. False, with a sentence on
	 * standard error, where it cannot. It lives until the end of the program. */
	bool (*prepare)(struct scenario_config *config);
	/* Appends a whole request, head and body, to out. */
	void (*request)(struct scenario_client *client, struct buf *out);
	/* body borrows. */
	enum scenario_step (*reply)(struct scenario_client *client, int status, struct str body);
};

/* NULL where there is none of that name. */
const struct scenario *scenario_find(const char *name);
/* One line for each, for the help text. */
void scenario_list(struct buf *out);

/* Appends a request with its Host and, where body is not empty, its Content-Type and Content-Length. headers are whole
 * lines, or "". */
void scenario_put_request(struct buf *out, const char *method, const char *path, const char *headers, struct str body);
/* Appends text of about that many bytes, words that differ by `number`, without characters that JSON escapes. */
void scenario_put_text(struct buf *out, uint64_t number, size_t bytes);

/* The requests of a delivery, as scenario_put_request() does it. `scratch` is made use of. The summary has about
 * `bytes` bytes of text, which differ by `number`. */
void scenario_put_publish(struct buf *out, struct buf *scratch, const char *agent, uint64_t number, size_t bytes);
void scenario_put_receive(struct buf *out, struct buf *scratch, const char *agent, int wait_s);
void scenario_put_ack(struct buf *out, struct buf *scratch, const char *lease);
/* The value of the first member of that name which is a string, in a text that our own server wrote; empty where there
 * is none. The name is given as it stands there: "\"lease\":\"". */
struct str scenario_string_member(struct str json, const char *name);
/* The lease in the answer to a receive; false where nothing was received. */
bool scenario_take_lease(struct str body, char ret_lease[SCENARIO_LEASE_SIZE]);

extern const struct scenario scenario_store, scenario_store_keyed, scenario_batch, scenario_get, scenario_ready,
	scenario_envelope, scenario_deliver, scenario_step, scenario_step_three;

#endif
