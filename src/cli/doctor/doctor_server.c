/* The doctor at the server: does it answer, is its clock right, how large is its store, is there room. */
#include "admin/admin.h"
#include "base/clock.h"
#include "cli/ask.h"
#include "cli/doctor/findings.h"
#include "cli/show/show.h"
#include "cli/when.h"
#include "codec/rfc3339.h"

#include <errno.h>
#include <sys/statvfs.h>

enum {
	PROBLEMS_MAX_BYTES = 1 << 20,
	/* A third of the ack timeout that an agent has unless somebody chose another (15 s). */
	CLOCK_APART_MS = 5000,
	/* An average over less than a day says nothing about the days to come. */
	GROWTH_MIN_MS = 86400000,
	FULL_SOON_DAYS = 30,
};

/* The largest request (16 MiB) must fit beside what the log of writes takes until it is folded in. */
#define ROOM_MIN_BYTES (64LL << 20)

struct remedy {
	const char *reason;	/* of /readyz */
	const char *todo;
};

static const struct remedy remedies[] = {
	{"store_failed", "look at its log, repair the disk, run spine check, restart the server"},
	{"store_damaged", "what is on the damaged page is not served: run spine check; docs/bad-day.md says how to go "
	 "on"},
	{"no_database", "bring PostgreSQL back, or mend the way to it; the node goes on by itself"},
	{"no_lease", "see in its log which it is: it does not reach the database, or it does not know the time to "
	 "within a second. It goes on by itself when that is mended; other nodes serve meanwhile"},
	{"too_old", "install the version that its log names"},
	{NULL, "wait until it is back, or start it again: spine serve"},
};

/* Asked first: it is answered whatever else is not. False where the server says that it is not ready. */
static bool look_at_readiness(struct findings *f)
{
	const struct remedy *r = remedies;
	struct str reason;
	struct ask ready;
	bool is_told;

	ask_make_get(f->cli, "/readyz", &ready);
	reason = ask_str(&ready.json, "reason");
	is_told = ready.reply.status == 503 && reason.n > 0;
	while (r->reason && !str_is(reason, r->reason))
		r++;
	if (is_told)
		findings_add(f, FINDING_CRITICAL, "server", r->todo, "%s answers, and is not ready: %.*s",
			     client_url(f->cli->client), STR_ARG(reason));
	ask_release(&ready);
	return !is_told;
}

/* Whose eyes these are: what follows is what the key may see. */
static void look_at_key(struct findings *f)
{
	struct arena *arena = f->cli->arena;
	const struct json *key;
	struct str space, ends;
	struct ask session;

	ask_make_get(f->cli, "/v1/session", &session);
	key = json_get(&session.json, "key");
	space = ask_str(key, "space");
	ends = ask_str(key, "expires_at");
	if (session.exit == CLI_OK && space.n)
		findings_add(f, ends.n ? FINDING_NOTE : FINDING_OK, "key", NULL, "%.*s is of %.*s%s%s",
			     STR_ARG(ask_str(key, "id")), STR_ARG(str_is(space, "*") ? STR("all spaces") :
			     arena_printf(arena, "the space %.*s", STR_ARG(space))),
			     ends.n ? ", and ends at " : "", ends.n ? arena_cstr(arena, ends) : "");
	ask_release(&session);
}

/* "1.4.0" of "memory-spine-python/1.4.0"; the same version of all is one thing less to wonder about. */
static void look_at_versions(struct findings *f, const struct json *status)
{
	const struct json *clients = ask_array(status, "clients");
	struct str version = ask_str(status, "version");
	size_t others = 0;

	if (!str_is(version, SPINE_VERSION)) {
		findings_add(f, FINDING_WARNING, "versions", "install the same version on both sides",
			     "this command is version " SPINE_VERSION ", the server %.*s", STR_ARG(version));
		others++;
	}
	for (uint32_t i = 0; i < clients->count; i++) {
		const struct json *one = &clients->items[i];
		struct str theirs = ask_str(one, "version");

		if (str_eq(theirs, version))
			continue;
		others++;
		findings_add(f, FINDING_WARNING, "versions", "upgrade that client, or the server",
			     "a client %.*s of version %.*s has called since the server started (%.*s ago); the server "
			     "is %.*s", STR_ARG(ask_str(one, "name")), STR_ARG(theirs),
			     STR_ARG(when_age(f->cli->arena, ask_str(one, "last_seen_at"), clock_wall_ms())),
			     STR_ARG(version));
	}
	if (others == 0 && !f->sees_all)
		findings_add(f, FINDING_OK, "versions", NULL, "this command and the server are %.*s; which clients "
			     "have called is told to a key of all spaces", STR_ARG(version));
	else if (others == 0)
		findings_add(f, FINDING_OK, "versions", NULL, "%u kind%s of client called since the server started, "
			     "all of version %.*s", clients->count, clients->count == 1 ? "" : "s", STR_ARG(version));
}

/* The answer says what time it was at the server somewhere between the request and the reply. */
static void look_at_clock(struct findings *f)
{
	int64_t before_ms = clock_wall_ms(), after_ms, there_ms, apart_ms = 0;
	struct ask stats;

	ask_make_get(f->cli, "/v1/stats?window=1m", &stats);
	after_ms = clock_wall_ms();
	if (stats.exit == CLI_OK && rfc3339_parse(ask_str(&stats.json, "now"), &there_ms)) {
		if (there_ms < before_ms)
			apart_ms = before_ms - there_ms;
		else if (there_ms > after_ms)
			apart_ms = there_ms - after_ms;
		if (apart_ms >= CLOCK_APART_MS)
			findings_add(f, FINDING_WARNING, "clock", "set both by NTP (timedatectl set-ntp true)",
				     "the server's clock is %lld.%lld s %s this one: leases and deadlines mean other "
				     "times here than there", (long long)(apart_ms / 1000),
				     (long long)(apart_ms / 100 % 10), there_ms < before_ms ? "behind" : "before");
		else
			findings_add(f, FINDING_OK, "clock", NULL, "the server's and this one agree");
	}
	ask_release(&stats);
}

/* --- Store and disk --- */

/* The pace since then; 0 where that is too short ago to say. */
static int64_t bytes_a_day(int64_t bytes, struct str since)
{
	int64_t since_ms, now_ms = clock_wall_ms();

	if (!rfc3339_parse(since, &since_ms) || now_ms - since_ms < GROWTH_MIN_MS)
		return 0;
	return (int64_t)((double)bytes / ((double)(now_ms - since_ms) / 86400000));
}

/* As the server has seen it grow, or else on average since its first space was made. */
static int64_t growth(struct findings *f, const struct json *store)
{
	const struct json *seen = json_get(store, "growth");
	int64_t daily = bytes_a_day(ask_int(seen, "bytes", 0), ask_str(seen, "since"));
	struct ask spaces;

	if (daily > 0)
		return daily;
	ask_make_get(f->cli, "/v1/spaces?page_size=1", &spaces);
	if (ask_array(&spaces.json, "spaces")->count)
		daily = bytes_a_day(ask_int(store, "bytes", 0),
				    ask_str(&ask_array(&spaces.json, "spaces")->items[0], "created_at"));
	ask_release(&spaces);
	return daily;
}

static void look_at_disk(struct findings *f, const char *dir, int64_t bytes, int64_t daily)
{
	struct arena *arena = f->cli->arena;
	struct statvfs disk;
	int64_t free_bytes;
	struct str room;

	if (!client_is_local(f->cli->client) || statvfs(dir, &disk) != 0) {
		findings_add(f, FINDING_NOTE, "disk", NULL, "the disk of %s cannot be seen from here", dir);
		return;
	}
	free_bytes = (int64_t)disk.f_bavail * (int64_t)disk.f_frsize;
	room = show_size(arena, free_bytes);
	if (free_bytes < ROOM_MIN_BYTES)
		findings_add(f, FINDING_CRITICAL, "disk", "make room now: without any, nothing more is stored (507)",
			     "only %.*s are free on the disk of %s", STR_ARG(room), dir);
	else if (free_bytes < bytes)
		findings_add(f, FINDING_WARNING, "disk", "make room, or keep backups on another disk",
			     "%.*s are free on the disk of %s: less than the store has, so that no backup fits beside "
			     "it", STR_ARG(room), dir);
	else if (daily > 0 && free_bytes / daily < FULL_SOON_DAYS)
		findings_add(f, FINDING_WARNING, "disk", "make room, or keep less: see retention in docs/operations.md",
			     "%.*s are free on the disk of %s: at the pace until now it is full in %lld days",
			     STR_ARG(room), dir, (long long)(free_bytes / daily));
	else
		findings_add(f, FINDING_OK, "disk", NULL, "%.*s are free on the disk of %s", STR_ARG(room), dir);
}

/* What is stored is on PostgreSQL's disk; here are notes of the server, which hardly grow. */
static void look_at_disk_of_notes(struct findings *f, const char *dir)
{
	struct statvfs disk;
	bool is_seen = client_is_local(f->cli->client) && statvfs(dir, &disk) == 0;

	if (is_seen && (int64_t)disk.f_bavail * (int64_t)disk.f_frsize < ROOM_MIN_BYTES)
		findings_add(f, FINDING_WARNING, "disk", "make room", "hardly anything is free on the disk of %s, "
			     "where the server keeps its notes", dir);
	findings_add(f, FINDING_NOTE, "disk", NULL, "what is stored is on the disk of PostgreSQL's machine, which "
		     "cannot be seen from here");
}

/* With --check: everything is read, as spine check does. */
static void check_store(struct findings *f, const char *dir)
{
	struct admin_check found = {0};
	struct buf problems, error;

	buf_init(&problems, PROBLEMS_MAX_BYTES);
	buf_init(&error, PROBLEMS_MAX_BYTES);
	if (!client_is_local(f->cli->client))
		findings_add(f, FINDING_NOTE, "store", NULL, "%s is on another machine: run spine check there", dir);
	else if (!admin_check(dir, &found, &problems, &error))
		findings_add(f, FINDING_CRITICAL, "store", "look at the disk; restore a backup where it stays so",
			     "%s", buf_str(&error).p);
	else if (found.problems)
		findings_add(f, FINDING_CRITICAL, "store", "see them with spine check, and restore a backup",
			     "%s has %lld problem%s", dir, (long long)found.problems, found.problems == 1 ? "" : "s");
	else
		findings_add(f, FINDING_OK, "store", NULL, "all of %s was read and verified", dir);
	buf_release(&problems);
	buf_release(&error);
}

static void look_at_store(struct findings *f, const struct json *status)
{
	const struct json *store = json_get(status, "store");
	const char *dir = arena_cstr(f->cli->arena, ask_str(store, "data"));
	bool is_elsewhere = str_eq(ask_str(store, "engine"), STR("postgres"));
	const char *place = is_elsewhere ? "PostgreSQL" : dir;
	int64_t bytes = ask_int(store, "bytes", 0), daily;
	struct str size = show_size(f->cli->arena, bytes), pace;

	if (!f->sees_all) {
		findings_add(f, FINDING_NOTE, "store", "use a key of all spaces to have the store and its disk looked "
			     "at", "this key is of one space, and the server tells it nothing of the store");
		return;
	}
	daily = growth(f, store);
	pace = show_size(f->cli->arena, daily);
	if (daily > 0)
		findings_add(f, FINDING_OK, "store", NULL, "%.*s in %s, %.*s a day on average", STR_ARG(size),
			     place, STR_ARG(pace));
	else
		findings_add(f, FINDING_OK, "store", NULL, "%.*s in %s; younger than a day, so nothing can be said of "
			     "its growth", STR_ARG(size), place);
	if (options_flag(&f->cli->options, "check") && is_elsewhere)
		findings_add(f, FINDING_NOTE, "store", NULL, "PostgreSQL's own tools verify what it keeps");
	else if (options_flag(&f->cli->options, "check"))
		check_store(f, dir);
	if (is_elsewhere)
		look_at_disk_of_notes(f, dir);
	else
		look_at_disk(f, dir, bytes, daily);
}

/* It runs, and does not say how it is. */
static void tell_refusal(struct findings *f, const struct ask *status)
{
	const char *url = client_url(f->cli->client);
	struct str why = ask_sentence(f->cli, status);

	if (str_is(status->code, "forbidden") && str_is(status->field, "Spine-Space"))
		findings_add(f, FINDING_CRITICAL, "server", "leave --space and SPINE_SPACE out, or use a key of that "
			     "space, or of all", "%s runs, and does not let this key see that space: %.*s", url,
			     STR_ARG(why));
	else
		findings_add(f, FINDING_CRITICAL, "server", "give this command a key with the scope read "
			     "(SPINE_KEY_FILE, --key-file, or SPINE_KEY); spine key create makes one",
			     "%s runs, and needs a key: %.*s", url, STR_ARG(why));
}

/* It answers and serves nothing, or not this space. */
static void tell_unserved(struct findings *f, bool is_ready, const struct ask *status)
{
	if (is_ready)
		findings_add(f, FINDING_CRITICAL, "server", "ask again in some seconds; where it stays so, "
			     "docs/bad-day.md has a part for it", "%s answers, and does not serve this space: %.*s",
			     client_url(f->cli->client), STR_ARG(ask_sentence(f->cli, status)));
	doctor_look_at_cluster(f, STR(""));
}

bool doctor_look_at_server(struct findings *f)
{
	bool is_ready = look_at_readiness(f), is_there;
	int64_t before_ns = clock_mono_ns();
	struct ask status;

	ask_make_get(f->cli, "/v1/status", &status);
	is_there = status.exit == CLI_OK;
	if (is_there) {
		f->space = ask_str(&status.json, "space").n ?
			   arena_cstr(f->cli->arena, ask_str(&status.json, "space")) : ask_space(f->cli);
		f->sees_all = json_get(&status.json, "store") != NULL;
		findings_add(f, FINDING_OK, "server", NULL, "%s answers within %lld ms", client_url(f->cli->client),
			     (long long)((clock_mono_ns() - before_ns) / 1000000 + 1));
		look_at_key(f);
		look_at_versions(f, &status.json);
		look_at_clock(f);
		look_at_store(f, &status.json);
		doctor_look_at_cluster(f, ask_str(&status.json, "started_at"));
	} else if (str_is(status.code, "unauthorized") || str_is(status.code, "forbidden")) {
		tell_refusal(f, &status);
	} else if (str_is(status.code, "tls_failed")) {
		findings_add(f, FINDING_CRITICAL, "server", "docs/bad-day.md says how a certificate is renewed; "
			     "docs/keys.md, how clients come to trust one", "%.*s",
			     STR_ARG(ask_sentence(f->cli, &status)));
	} else if (status.reply.status == 503) {
		tell_unserved(f, is_ready, &status);
	} else if (f->cli->client) {
		findings_add(f, FINDING_CRITICAL, "server", "start it (spine serve), or say where it is (--url, "
			     "SPINE_URL)", "%.*s", STR_ARG(ask_sentence(f->cli, &status)));
	}
	ask_release(&status);
	return is_there;
}
