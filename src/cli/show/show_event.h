/* What happened, and who did what, as people read it. */
#ifndef SPINE_CLI_SHOW_EVENT_H
#define SPINE_CLI_SHOW_EVENT_H

#include "cli/show/columns.h"

/* An event (a CloudEvent) in a line: when, what, to what, and what there is to say. */
void show_event_line(const struct cli *cli, const struct json *event);
/* Entries of the audit trail, a line for each. */
extern const struct column audit_columns[];

#endif
