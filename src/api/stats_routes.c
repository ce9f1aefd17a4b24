/* GET /v1/stats: how delivery goes, over the last minute, five minutes, hour or day; of a space and of each of its
 * agents. */
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "api/stats_json.h"
#include "codec/json_member.h"
#include "core/delivery/delivery.h"
#include "engine/watch/stats_get.h"

static enum problem_code decode_stats(struct call *call)
{
	struct stats_get *s = call_op(call);
	struct str window = call_query(call, "window"), space = call_query(call, "space");

	s->window = STATS_5M;
	if (window.p) {
		int i = 0;

		while (i < STATS_WINDOWS && !str_is(window, stats_window_name((enum stats_window)i)))
			i++;
		if (i == STATS_WINDOWS)
			return call_refuse(call, P_INVALID_FIELD, "window",
					   "window is \"%.*s\"; expected 1m, 5m, 1h or 24h",
					   (int)(window.n < 32 ? window.n : 32), window.p);
		s->window = (enum stats_window)i;
	}
	if (space.p && !str_is(space, "all"))
		return problem_set(
			&call->op->problem, P_INVALID_FIELD, "space",
			"space is \"%.*s\"; expected all, or nothing: the header Spine-Space names the space",
			(int)(space.n < 64 ? space.n : 64), space.p);
	s->all_spaces = space.p != NULL;
	return P_OK;
}

static void encode_stats(struct call *call)
{
	struct stats_get *s = call_op(call);
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_member_cstr(&w, "window", stats_window_name(s->window));
	json_member_str(&w, "space", s->all_spaces ? STR("all") : call->op->space_name);
	json_member_time(&w, "now", call->op->now_ms);
	json_key(&w, "overall");
	json_begin_object(&w);
	stats_json_members(&w, &s->overall, &s->counts);
	json_end_object(&w);
	json_key(&w, "targets");
	json_begin_array(&w);
	for (size_t i = 0; i < s->target_count; i++) {
		const struct stats_target *t = &s->targets[i];

		json_begin_object(&w);
		json_member_str(&w, "agent", t->agent);
		if (s->all_spaces)
			json_member_str(&w, "space", t->space_name);
		stats_json_members(&w, &t->view, &t->counts);
		json_member_cstr(&w, "breaker", breaker_name(breaker_state(&t->state, call->op->now_ms)));
		json_end_object(&w);
	}
	json_end_array(&w);
	json_key(&w, "series");
	stats_json_points(&w, s->window, s->points, s->point_count);
	call_end_reply(call, &w);
}

const struct route stats_routes[] = {
	{HTTP_GET, "/v1/stats", &stats_get_kind, &describe_stats, decode_stats, encode_stats},
	{0},
};
