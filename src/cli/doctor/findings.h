/* What the doctor found: each thing that it looked at is a finding, also where it is well. */
#ifndef SPINE_CLI_FINDINGS_H
#define SPINE_CLI_FINDINGS_H

#include "cli/cli.h"

/* From WARNING on something is to be done. */
enum finding_level { FINDING_OK, FINDING_NOTE, FINDING_WARNING, FINDING_CRITICAL };

struct finding {
	struct finding *next;
	enum finding_level level;
	const char *about;	/* "disk" */
	struct str says;	/* not safe to print: it may hold names from outside */
	struct str todo;	/* what to do about it; empty where nothing is */
};

struct findings {
	struct cli *cli;	/* borrowed */
	const char *space;	/* that is looked at: the one named, or that of the key */
	bool sees_all;		/* false: the key is of one space, and is told nothing of the whole server */
	struct finding *first;
	struct finding **last;
	size_t counts[FINDING_CRITICAL + 1];
};

void findings_init(struct findings *f, struct cli *cli);
/* todo lives as long as the arena of the cli; NULL for none. */
void findings_add(struct findings *f, enum finding_level level, const char *about, const char *todo,
		  const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Text for people, or with --json the document. */
void findings_print(const struct findings *f);

/* --- What is looked at --- */

/* Server, key, versions, clock, store and disk, and the nodes. False where the server does not answer: nothing more is
 * to be seen. */
bool doctor_look_at_server(struct findings *f);
/* The nodes over one database, and its standbys. started_at: of the server, or empty. */
void doctor_look_at_cluster(struct findings *f, struct str started_at);
/* Queues, breakers, parked handoffs, alerts. */
void doctor_look_at_delivery(struct findings *f);

#endif
