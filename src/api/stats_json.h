/* Figures as the wire shows them. */
#ifndef SPINE_API_STATS_JSON_H
#define SPINE_API_STATS_JSON_H

#include "codec/json.h"
#include "core/watch/stats.h"

/* Members of the object being written: everything of a window, and what is queued now. */
void stats_json_members(struct json_writer *w, const struct stats_view *view, const struct target_counts *counts);
/* The member "queue". */
void stats_json_queue(struct json_writer *w, const struct target_counts *counts);
/* {"step_s":…,"points":[…]} */
void stats_json_points(struct json_writer *w, enum stats_window window, const struct stats_point *points, size_t count);

#endif
