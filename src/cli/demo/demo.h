/* The demonstration: agents that are played, and a story that is told while it happens. */
#ifndef SPINE_CLI_DEMO_H
#define SPINE_CLI_DEMO_H

#include "cli/ask.h"
#include "cli/cli.h"
#include "cli/stop.h"

/* Who acts. Each calls under its own name. */
enum demo_agent { DEMO_RESEARCHER, DEMO_ANALYST, DEMO_CODER, DEMO_REVIEWER, DEMO_AGENTS };

struct demo {
	struct cli *cli;			/* borrowed, as are the following */
	struct stop *stop;
	const char *url;
	const char *space;
	bool is_private;			/* the server is the demonstration's own */
	const char *kept_dir;			/* where its data stay; NULL: nowhere */
	bool is_fast;
	struct cli players[DEMO_AGENTS];
	int64_t start_ns;
	int code;				/* CLI_OK until something does not go as it must */
	/* What the story knows. */
	const char *task;
	const char *envelopes[3];
	const char *memories[4];		/* two facts, a decision, an output */
};

/* --- Calls, which do nothing once something has gone wrong (demo.c) --- */

/* Makes the clients. False where that does not work. */
bool demo_init(struct demo *d);
void demo_release(struct demo *d);
/* The name of the agent, "analyst". */
const char *demo_name(enum demo_agent who);
/* A call that must succeed; returns the answer, which lives in the arena. `null` where something has gone wrong. The
 * body is printed as printf does, and must be JSON. */
const struct json *demo_call(struct demo *d, enum demo_agent who, const char *method, const char *path,
			     const char *body, ...)
	__attribute__((format(printf, 5, 6)));
/* A call that must be refused with this code; returns the problem. */
const struct json *demo_refused(struct demo *d, enum demo_agent who, const char *code, const char *path,
				const char *body, ...)
	__attribute__((format(printf, 5, 6)));
/* Where this is not true the story is not, either: says what, and ends it. */
void demo_must(struct demo *d, bool is_true, const char *what);

/* --- Telling --- */

/* "2  An ack is lost" */
void demo_chapter(struct demo *d, int number, const char *title);
/* A step of an agent (name NULL: of nobody), filled into lines behind the time. */
void demo_say(struct demo *d, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Time to read, or to let something happen. */
void demo_pause(struct demo *d, int64_t ms);
/* Milliseconds since then, with a fraction. */
double demo_ms_since(int64_t then_ns);

/* The story itself (demo_story.c). */
void demo_story(struct demo *d);

#endif
