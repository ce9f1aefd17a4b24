/* The doctor at delivery: what waits and for whom, breakers, parked handoffs, alerts. */
#include "base/clock.h"
#include "cli/ask.h"
#include "cli/doctor/findings.h"
#include "cli/when.h"
#include "client/url.h"
#include "codec/rfc3339.h"

enum {
	PATH_MAX_BYTES = 4096,
	/* When the server's own alert about work that nobody takes begins, too. */
	UNTAKEN_MS = 5 * 60000,
	/* More than that is a story of its own; the lists have all of it. */
	AGENTS_MAX = 1000,
};

struct agent {
	struct str name;
	struct str seen_at;	/* empty: never */
	const struct json *queue;
	const struct json *breaker;
};

/* --- Queues --- */

/* The time since when the oldest that may be taken now waits; empty where there is none. */
static struct str oldest_of(struct findings *f, struct str agent, struct ask *ret)
{
	const struct json *handoffs;
	int64_t from_ms;
	struct buf path;

	buf_init(&path, PATH_MAX_BYTES);
	buf_puts(&path, "/v1/handoffs?state=queued&order=oldest&page_size=100");
	url_add(&path, "to", agent);
	ask_make_get(f->cli, arena_cstr(f->cli->arena, buf_str(&path)), ret);
	buf_release(&path);
	handoffs = ask_array(&ret->json, "handoffs");
	for (uint32_t i = 0; i < handoffs->count; i++)
		if (!rfc3339_parse(ask_str(&handoffs->items[i], "not_before"), &from_ms) || from_ms <= clock_wall_ms())
			return ask_str(&handoffs->items[i], "changed_at");
	return STR("");
}

static bool look_at_queue(struct findings *f, const struct agent *a)
{
	int64_t now_ms = clock_wall_ms(), since_ms, count = ask_int(a->queue, "queued", 0);
	struct arena *arena = f->cli->arena;
	const char *name = arena_cstr(arena, a->name);
	struct ask ask;
	struct str since = oldest_of(f, a->name, &ask);
	bool is_stuck = rfc3339_parse(since, &since_ms) && now_ms - since_ms >= UNTAKEN_MS;

	if (is_stuck && a->seen_at.n == 0)
		findings_add(f, FINDING_WARNING, "queues",
			     arena_printf(arena, "start it (spine receive \"%s\" takes one), or give the work to "
					  "another: spine agents has the names", name).p,
			     "%lld wait for %s, the oldest for %.*s, and nobody of that name was ever seen",
			     (long long)count, name, STR_ARG(when_age(arena, since, now_ms)));
	else if (is_stuck)
		findings_add(f, FINDING_WARNING, "queues",
			     arena_printf(arena, "start it again, or more of it; what waits: spine handoffs --state "
					  "queued --to \"%s\" --order oldest", name).p,
			     "%lld wait for %s, the oldest for %.*s; it was last seen %.*s ago", (long long)count, name,
			     STR_ARG(when_age(arena, since, now_ms)), STR_ARG(when_age(arena, a->seen_at, now_ms)));
	ask_release(&ask);
	return is_stuck;
}

/* --- Breakers --- */

static bool look_at_breaker(struct findings *f, const struct agent *a)
{
	struct str state = ask_str(a->breaker, "state");
	const char *name = arena_cstr(f->cli->arena, a->name);
	bool is_open = str_is(state, "open");

	if (state.n == 0 || str_is(state, "closed"))
		return false;
	findings_add(f, is_open ? FINDING_CRITICAL : FINDING_WARNING, "breakers",
		     arena_printf(f->cli->arena, "see why: spine handoffs --to \"%s\"; when it is mended: spine agent "
				  "\"%s\" --reset-breaker", name, name).p,
		     "that of %s is %s after %lld failures in a row", name, is_open ? "open" : "half-open",
		     (long long)ask_int(a->breaker, "failures", 0));
	return true;
}

/* --- Agents, which have both --- */

static void look_at_agents(struct findings *f)
{
	size_t stuck = 0, open = 0;
	int64_t queued = 0;
	const struct json *agents;
	struct ask ask;

	ask_make_get(f->cli, arena_printf(f->cli->arena, "/v1/agents?page_size=%d", AGENTS_MAX).p, &ask);
	agents = ask_array(&ask.json, "agents");
	for (uint32_t i = 0; i < agents->count; i++) {
		const struct json *one = &agents->items[i];
		struct agent a = {
			ask_str(one, "name"), ask_str(one, "last_seen_at"), json_get(one, "queue"),
			json_get(one, "breaker"),
		};

		queued += ask_int(a.queue, "queued", 0);
		if (ask_int(a.queue, "queued", 0) > 0 && look_at_queue(f, &a))
			stuck++;
		if (look_at_breaker(f, &a))
			open++;
	}
	if (ask.exit == CLI_OK && stuck == 0)
		findings_add(f, FINDING_OK, "queues", NULL, "%lld wait, none of them for %d minutes or longer",
			     (long long)queued, UNTAKEN_MS / 60000);
	if (ask.exit == CLI_OK && open == 0)
		findings_add(f, FINDING_OK, "breakers", NULL, "all closed");
	if (ask_str(&ask.json, "next_page_token").n)
		findings_add(f, FINDING_NOTE, "queues", NULL, "there are more than %d agents; the others were not "
			     "looked at", AGENTS_MAX);
	ask_release(&ask);
}

/* --- Parked, in all spaces that the key sees --- */

static void tell_parked(struct findings *f, const char *space, int64_t count)
{
	const char *option = strcmp(space, f->space) == 0 ? "" : arena_printf(f->cli->arena, " --space %s", space).p;

	if (count)
		findings_add(f, FINDING_WARNING, "parked",
			     arena_printf(f->cli->arena, "read why: spine parked%s; when it is mended: spine "
					  "parked redrive --all%s", option, option).p,
			     "%lld handoff%s in the space %s wait%s for a person's decision", (long long)count,
			     count == 1 ? "" : "s", space, count == 1 ? "s" : "");
}

static void look_at_own_parked(struct findings *f)
{
	struct ask ask;

	ask_make_get(f->cli, "/v1/parked?page_size=1", &ask);
	tell_parked(f, f->space, ask_int(&ask.json, "total", 0));
	if (ask.exit == CLI_OK && ask_int(&ask.json, "total", 0) == 0)
		findings_add(f, FINDING_OK, "parked", NULL, "nothing in the space %s", f->space);
	ask_release(&ask);
}

static void look_at_parked(struct findings *f)
{
	const struct json *spaces;
	int64_t parked = 0;
	struct ask ask;

	ask_make_get(f->cli, "/v1/spaces?page_size=1000", &ask);
	spaces = ask_array(&ask.json, "spaces");
	for (uint32_t i = 0; i < spaces->count; i++) {
		const char *name = arena_cstr(f->cli->arena, ask_str(&spaces->items[i], "name"));
		int64_t count = ask_int(&spaces->items[i], "parked", 0);

		parked += count;
		tell_parked(f, name, count);
	}
	if (ask.exit == CLI_OK && parked == 0)
		findings_add(f, FINDING_OK, "parked", NULL, "nothing, in any space");
	ask_release(&ask);
}

/* --- Alerts --- */

static void look_at_alerts(struct findings *f)
{
	const struct json *alerts;
	struct ask ask;

	ask_make_get(f->cli, "/v1/alerts?page_size=1000", &ask);
	alerts = ask_array(&ask.json, "alerts");
	for (uint32_t i = 0; i < alerts->count; i++) {
		const struct json *one = &alerts->items[i];
		struct str severity = ask_str(one, "severity"), name = ask_str(one, "name");
		enum finding_level level = str_is(severity, "critical") ? FINDING_CRITICAL :
					   str_is(severity, "warning") ? FINDING_WARNING : FINDING_NOTE;

		findings_add(f, level, "alerts", level == FINDING_NOTE ? NULL :
			     arena_printf(f->cli->arena, "docs/operations.md says what to do about %.*s; spine alerts "
					  "ack %.*s notes that somebody does", STR_ARG(name),
					  STR_ARG(ask_str(one, "id"))).p,
			     "%.*s: %.*s", STR_ARG(name), STR_ARG(ask_str(one, "summary")));
	}
	if (ask.exit == CLI_OK && alerts->count == 0)
		findings_add(f, FINDING_OK, "alerts", NULL, "none is firing in the space %s", f->space);
	ask_release(&ask);
}

void doctor_look_at_delivery(struct findings *f)
{
	look_at_agents(f);
	if (f->sees_all)
		look_at_parked(f);
	else
		look_at_own_parked(f);
	look_at_alerts(f);
}
