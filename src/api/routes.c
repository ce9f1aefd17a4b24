#include "api/routes.h"

#include <pthread.h>
#include <stdio.h>

static const struct route *const tables[] = {
	memory_routes, quarantine_routes, search_routes, envelope_routes, resolve_routes, task_routes, blame_routes,
	agent_routes,
	handoff_routes, receive_routes, settle_routes, parked_routes, channel_routes, publish_routes, route_rule_routes,
	trace_routes, event_routes, space_routes, transfer_routes, token_routes, stats_routes, alert_routes,
	metrics_routes, access_routes, session_routes,
	status_routes, cluster_routes, schema_routes, dashboard_routes,
};

static const struct {
	enum http_method method;
	const char *name;
} method_names[] = {
	{HTTP_GET, "GET, HEAD"}, {HTTP_POST, "POST"}, {HTTP_PUT, "PUT"}, {HTTP_PATCH, "PATCH"}, {HTTP_DELETE, "DELETE"},
};

/* Does the path have the shape of the pattern? A parameter is one piece, not empty. */
static bool matches(const char *pattern, struct str path, struct str params[CALL_PARAMS_MAX], int *ret_params)
{
	const char *at = path.p, *end = path.p + path.n;
	int count = 0;

	for (const char *want = pattern; *want; want++) {
		const char *start = at;

		if (*want != '{') {
			if (at == end || *at++ != *want)
				return false;
			continue;
		}
		want++;		/* the '}' */
		while (at < end && *at != '/')
			at++;
		if (at == start || count == CALL_PARAMS_MAX)
			return false;
		params[count++] = (struct str){start, (size_t)(at - start)};
	}
	*ret_params = count;
	return at == end;
}

/* The first letter behind "/v1/"; '\0' where the path is elsewhere. */
static char noun_of(struct str path)
{
	return path.n > 4 && memcmp(path.p, "/v1/", 4) == 0 ? path.p[4] : '\0';
}

/* Most patterns are passed over by that letter. Written out, because each request asks each pattern. */
static bool has_other_noun(const char *p, char noun)
{
	return noun && p[0] == '/' && p[1] == 'v' && p[2] == '1' && p[3] == '/' && p[4] != noun && p[4] != '{';
}

/* "GET, HEAD, POST" for a set of methods; the sets that occur are few, and the texts must outlive the call. */
static const char *allow_text(unsigned methods)
{
	static _Thread_local char text[64];
	size_t at = 0;

	text[0] = '\0';
	for (size_t i = 0; i < sizeof(method_names) / sizeof(method_names[0]); i++)
		if (methods & 1u << method_names[i].method)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", at ? ", " : "",
					       method_names[i].name);
	return text;
}

const struct route *routes_find(enum http_method method, struct str path, struct str params[CALL_PARAMS_MAX],
				const char **ret_allow)
{
	int fewest = CALL_PARAMS_MAX, count = 0;
	unsigned others = 0;
	char noun = noun_of(path);

	if (method == HTTP_HEAD)
		method = HTTP_GET;
	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++) {
		for (const struct route *r = tables[t]; r->pattern; r++) {
			/* "/v1/memories/batch" is an address of its own, not a memory whose id is "batch". */
			if (has_other_noun(r->pattern, noun) || !matches(r->pattern, path, params, &count) ||
			    count > fewest)
				continue;
			if (r->method == method)
				return r;
			if (count < fewest)
				others = 0;
			others |= 1u << r->method;
			fewest = count;
		}
	}
	*ret_allow = others ? allow_text(others) : NULL;
	return NULL;
}

const struct route *routes_of(const struct description *d)
{
	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
		for (const struct route *r = tables[t]; r->pattern; r++)
			if (r->describes == d)
				return r;
	return NULL;
}

/* --- For whoever describes them --- */

enum { OPERATIONS_MAX = 256 };

static struct operation operations[OPERATIONS_MAX];

static void list_operations(void)
{
	size_t count = 0;

	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
		for (const struct route *r = tables[t]; r->pattern && count < OPERATIONS_MAX - 1; r++)
			if (r->describes)
				operations[count++] = (struct operation){r->method, r->pattern, r->describes};
}

const struct operation *operations_all(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, list_operations);
	return operations;
}
