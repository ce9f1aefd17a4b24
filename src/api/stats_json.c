#include "api/stats_json.h"

#include "codec/json_member.h"

#include <math.h>

/* Six digits behind the point: more than the figures are good for. null where there is none. */
static void member_number(struct json_writer *w, const char *key, double value, bool is_known)
{
	if (is_known)
		json_member_double(w, key, round(value * 1e6) / 1e6);
	else
		json_member_null(w, key);
}

static void put_latency(struct json_writer *w, const struct stats_view *v)
{
	bool known = v->counts.acked > 0;

	json_key(w, "latency_ms");
	json_begin_object(w);
	json_member_int(w, "count", v->counts.acked);
	member_number(w, "p50", v->latency_p50_ms, known);
	member_number(w, "p95", v->latency_p95_ms, known);
	member_number(w, "p99", v->latency_p99_ms, known);
	member_number(w, "max", v->latency_max_ms, known);
	json_end_object(w);
}

static void put_packed(struct json_writer *w, const struct stats_view *v)
{
	bool known = v->counts.packed > 0;

	json_key(w, "completeness");
	json_begin_object(w);
	json_member_int(w, "count", v->counts.packed);
	member_number(w, "mean", v->completeness_mean, known);
	member_number(w, "min", v->completeness_min, known);
	json_end_object(w);
	json_key(w, "utilization");
	json_begin_object(w);
	json_member_int(w, "count", v->counts.packed);
	member_number(w, "mean", v->utilization_mean, known);
	member_number(w, "p50", v->utilization_p50, known);
	member_number(w, "pinned", v->utilization_pinned, known);
	member_number(w, "low", v->utilization_low, known);
	json_end_object(w);
	json_key(w, "hops");
	json_begin_object(w);
	json_member_int(w, "count", v->counts.packed);
	member_number(w, "mean", v->hop_mean, known);
	member_number(w, "max", (double)v->hop_max, known);
	json_key(w, "histogram");
	json_begin_array(w);
	for (int hop = 0; hop <= STATS_HOPS_MAX; hop++)
		if (v->hops[hop]) {
			json_begin_array(w);
			json_put_int(w, hop);
			json_put_int(w, v->hops[hop]);
			json_end_array(w);
		}
	json_end_array(w);
	json_end_object(w);
}

void stats_json_queue(struct json_writer *w, const struct target_counts *counts)
{
	json_key(w, "queue");
	json_begin_object(w);
	json_member_int(w, "queued", counts->queued);
	json_member_int(w, "leased", counts->leased);
	json_member_int(w, "working", counts->working);
	json_member_int(w, "parked", counts->parked);
	json_end_object(w);
}

void stats_json_members(struct json_writer *w, const struct stats_view *v, const struct target_counts *counts)
{
	json_member_int(w, "handoffs", v->counts.handoffs);
	json_member_int(w, "acked", v->counts.acked);
	json_member_int(w, "completed", v->counts.completed);
	json_member_int(w, "failed", v->counts.failed);
	member_number(w, "failure_rate", v->failure_rate, v->failure_rate >= 0);
	put_latency(w, v);
	put_packed(w, v);
	json_member_int(w, "retries", v->counts.retries);
	json_member_int(w, "leases_lost", v->counts.leases_lost);
	json_member_int(w, "waivers", v->counts.waivers);
	stats_json_queue(w, counts);
}

void stats_json_points(struct json_writer *w, enum stats_window window, const struct stats_point *points, size_t count)
{
	json_begin_object(w);
	json_member_int(w, "step_s", stats_step_ms(window) / 1000);
	json_key(w, "points");
	json_begin_array(w);
	for (size_t i = 0; i < count; i++) {
		const struct stats_point *p = &points[i];

		json_begin_object(w);
		json_member_time(w, "at", p->at_ms);
		json_member_int(w, "handoffs", p->handoffs);
		json_member_int(w, "acked", p->acked);
		json_member_int(w, "failed", p->failed);
		member_number(w, "p50", p->p50_ms, p->acked > 0);
		member_number(w, "p99", p->p99_ms, p->acked > 0);
		member_number(w, "completeness", p->completeness, p->packed > 0);
		member_number(w, "utilization", p->utilization, p->packed > 0);
		member_number(w, "hop_mean", p->hop_mean, p->packed > 0);
		member_number(w, "queued", (double)p->queued, p->queued >= 0);
		json_end_object(w);
	}
	json_end_array(w);
	json_end_object(w);
}
