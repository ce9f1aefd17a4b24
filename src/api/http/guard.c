#include "api/http/guard.h"

#include <arpa/inet.h>
#include <stdio.h>

/* A port of digits, or nothing, behind a name. */
static bool is_port(struct str s)
{
	uint64_t port;

	return s.n == 0 || (s.p[0] == ':' && (s.n == 1 || (str_to_u64(str_sub(s, 1, s.n), &port) && port <= 65535)));
}

static bool is_loopback_v4(struct str name)
{
	char text[INET_ADDRSTRLEN];
	struct in_addr addr;

	if (str_eq(name, STR("127.0.0.1")))	/* nearly always */
		return true;
	if (name.n == 0 || name.n >= sizeof(text) || memchr(name.p, '\0', name.n))
		return false;
	snprintf(text, sizeof(text), "%.*s", STR_ARG(name));
	return inet_pton(AF_INET, text, &addr) == 1 && (ntohl(addr.s_addr) >> 24) == 127;
}

bool guard_is_loopback(struct str host)
{
	struct str name;

	if (str_has_prefix(host, STR("[::1]")))
		return is_port(str_sub(host, 5, host.n));
	name = (struct str){host.p, str_find(host, ':')};
	if (!is_port(str_sub(host, name.n, host.n)))
		return false;
	return str_ieq(name, STR("localhost")) || is_loopback_v4(name);
}

enum problem_code guard_check_site(struct str site, struct str origin, struct str path, struct problem *problem)
{
	if (origin.p || !str_is(site, "cross-site") || str_is(path, "/"))
		return P_OK;
	return problem_set(problem, P_ORIGIN_NOT_ALLOWED, "Sec-Fetch-Site", "a page of another site may not call this "
			   "server; open http://127.0.0.1 with this port yourself");
}

enum problem_code guard_check(struct str host, struct str origin, struct problem *problem)
{
	struct str rest = origin;

	if (host.p && !guard_is_loopback(host))
		return problem_set(problem, P_HOST_NOT_ALLOWED, "Host",
				   "this server answers only to the names of this machine (127.0.0.1, "
				   "[::1], localhost), not to %.*s",
				   (int)(host.n < 100 ? host.n : 100), host.p);
	if (origin.p == NULL)
		return P_OK;
	if (str_has_prefix(origin, STR("http://")))
		rest = str_sub(origin, 7, origin.n);
	else if (str_has_prefix(origin, STR("https://")))
		rest = str_sub(origin, 8, origin.n);
	if (rest.n < origin.n && guard_is_loopback(rest))
		return P_OK;
	return problem_set(problem, P_ORIGIN_NOT_ALLOWED, "Origin", "pages of %.*s may not call this server",
			   (int)(origin.n < 100 ? origin.n : 100), origin.p);
}
