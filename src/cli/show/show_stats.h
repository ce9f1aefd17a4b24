/* Figures of delivery and alerts, as people read them. */
#ifndef SPINE_CLI_SHOW_STATS_H
#define SPINE_CLI_SHOW_STATS_H

#include "cli/cli.h"
#include "codec/json.h"

/* A few lines about the space as a whole. stats is the answer of /v1/stats. */
void show_stats_overall(const struct cli *cli, const struct json *stats, struct buf *out);
/* A bar for each step of the window: handoffs, and the 99th percentile of their latency. */
void show_stats_bars(const struct cli *cli, const struct json *stats, struct buf *out);
/* A line for each agent. */
void show_stats_targets(const struct cli *cli, struct arena *arena, const struct json *stats, struct buf *out);
/* A line for each alert that is firing; one that says so where there is none. alerts is the answer of /v1/alerts. */
void show_stats_alerts(const struct cli *cli, struct arena *arena, const struct json *alerts, struct buf *out);
/* The lines alone. */
void show_stats_alert_list(const struct cli *cli, struct arena *arena, const struct json *list, struct buf *out);
/* A line for each rule of the same answer: what is measured, and when it is too much. */
void show_stats_rules(const struct cli *cli, const struct json *alerts);

#endif
