/* Handoffs and what happened to them, as people read them. What agents wrote is made safe to print. */
#ifndef SPINE_CLI_SHOW_HANDOFF_H
#define SPINE_CLI_SHOW_HANDOFF_H

#include "cli/show/columns.h"

/* How it stands, in a line: "ho-12  queued for coder (env-3 from analyst, attempt 1 of 3)". */
void show_handoff_line(const struct cli *cli, const struct json *handoff);
/* A line for each: id, state, age, envelope, who to whom, attempt, and what there is to say. */
extern const struct column handoff_columns[];
/* The same of those that are parked. */
extern const struct column parked_columns[];
/* Of what waits for an agent: its place, since when, and why. */
extern const struct column queue_entry_columns[];
/* Of the agents that have something: how much of it waits, since when the first, and why. */
extern const struct column queue_columns[];
/* How far it is, or else what holds it up; empty where nothing does. Not made safe to print. */
struct str show_handoff_about(const struct cli *cli, const struct json *handoff);
/* All of one: how it stands, its result, and what happened to it. */
void show_handoff(const struct cli *cli, const struct json *handoff);
/* Handoffs that were parked and not told of before, on standard error: the "notices" of an answer. */
void show_handoff_notices(const struct cli *cli, const struct json *answer);

#endif
