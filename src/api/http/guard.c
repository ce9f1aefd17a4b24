#include "api/http/guard.h"

#include <arpa/inet.h>
#include <stdio.h>

/* A port of digits, or nothing, behind a name. */
static bool is_port(struct str s)
{
	uint64_t port;

	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): what has a length is there */
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

enum problem_code guard_check_site(const struct guard *guard, struct str site, struct str origin, struct str path,
				   struct problem *problem)
{
	bool is_other = str_is(site, "cross-site") || (guard->is_strict && str_is(site, "same-site"));

	if (origin.p || !is_other || str_is(path, "/"))
		return P_OK;
	return problem_set(problem, P_ORIGIN_NOT_ALLOWED, "Sec-Fetch-Site", "a page of another site may not call this "
			   "server; open http://127.0.0.1 with this port yourself");
}


/* What follows the scheme; p == NULL where it is not one of the web. */
static struct str authority_of(struct str origin)
{
	if (str_has_prefix(origin, STR("http://")))
		return str_sub(origin, 7, origin.n);
	return str_has_prefix(origin, STR("https://")) ? str_sub(origin, 8, origin.n) : STR_NULL;
}

/* Is the host that of an origin? Browsers write no port that the scheme implies, others may. */
static bool is_host_of(struct str origin, struct str host)
{
	struct str usual = str_has_prefix(origin, STR("https://")) ? STR(":443") : STR(":80");

	if (host.n > usual.n && str_eq(str_sub(host, host.n - usual.n, host.n), usual))
		host.n -= usual.n;
	return host.n > 0 && str_ieq(authority_of(origin), host);
}

static bool is_named(struct str origins, struct str origin)
{
	while (origins.n > 0)
		if (str_eq(str_trim(str_cut(&origins, ',')), origin))
			return true;
	return false;
}

/* The origin of that list whose name and port are the host; p == NULL: none is. */
static struct str origin_of_host(struct str origins, struct str host)
{
	while (origins.n > 0) {
		struct str one = str_trim(str_cut(&origins, ','));

		if (is_host_of(one, host))
			return one;
	}
	return STR_NULL;
}

bool guard_is_own(const struct guard *guard, struct str host, struct str origin)
{
	struct str scheme = guard->is_tls ? STR("https://") : STR("http://");

	if (is_named(guard->public_urls, origin))
		return true;
	/* Under a name that the operator gave, only with the scheme that goes with it. */
	return host.n > 0 && origin_of_host(guard->public_urls, host).p == NULL && str_has_prefix(origin, scheme) &&
	       is_host_of(origin, host);
}

/* A proxy may name any host of ours. Only one that the operator gave with http:// is one of plain HTTP then. */
bool guard_is_https(const struct guard *guard, struct str host)
{
	struct str origin = origin_of_host(guard->public_urls, host), rest = guard->public_urls;
	bool has_https = false;

	while (rest.n > 0)
		has_https |= str_has_prefix(str_trim(str_cut(&rest, ',')), STR("https://"));
	return guard->is_tls || (has_https && !str_has_prefix(origin, STR("http://")));
}

/* Browsers write small letters, and no port that the scheme implies. */
static bool is_origin(struct str origin)
{
	static const char in_name[] = "abcdefghijklmnopqrstuvwxyz0123456789-._", in_v6[] = "[]:0123456789abcdef";
	struct str authority = authority_of(origin), name = {authority.p, str_find(authority, ':')};
	bool is_v6 = authority.n > 0 && authority.p[0] == '[', is_http = str_has_prefix(origin, STR("http:"));
	struct str port;

	if (is_v6)
		name.n = str_find(authority, ']') + 1;
	if (name.n == 0 || name.n > authority.n)
		return false;
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] == '\0' || !strchr(is_v6 ? in_v6 : in_name, name.p[i]))
			return false;
	port = str_sub(authority, name.n, authority.n);
	return is_port(port) && port.n != 1 && !str_is(port, is_http ? ":80" : ":443");
}

bool guard_origins_are_valid(const char *option, struct str origins, struct buf *error)
{
	while (origins.n > 0) {
		struct str one = str_trim(str_cut(&origins, ','));

		if (is_origin(one))
			continue;
		buf_printf(error, "%s is \"%.*s\"; expected an origin as browsers write it, in small "
			   "letters, without a path and without the usual port: https://app.example or "
			   "http://app.example:3000",
			   option, (int)(one.n < 100 ? one.n : 100), one.p);
		return false;
	}
	return true;
}

static bool may_call(const struct guard *guard, struct str host, struct str origin)
{
	if (is_named(guard->origins, origin) || guard_is_own(guard, host, origin))
		return true;
	return !guard->is_strict && guard_is_loopback(authority_of(origin));
}

/* An address, not a name. */
static bool is_address(struct str host)
{
	struct str name = {host.p, str_find(host, ':')};
	char text[INET6_ADDRSTRLEN];
	struct in6_addr addr;
	bool is_v6 = host.n && host.p[0] == '[';

	if (is_v6)
		name = str_sub(host, 1, str_find(host, ']'));
	if (name.n == 0 || name.n >= sizeof(text) || memchr(name.p, '\0', name.n))
		return false;
	snprintf(text, sizeof(text), "%.*s", STR_ARG(name));
	return inet_pton(is_v6 ? AF_INET6 : AF_INET, text, &addr) == 1;
}

static bool is_host(const struct guard *guard, struct str host)
{
	return guard_is_loopback(host) || origin_of_host(guard->public_urls, host).p ||
	       (guard->is_beyond && is_address(host));
}

enum problem_code guard_check(const struct guard *guard, struct str host, struct str origin, struct problem *problem)
{
	if (host.p && !is_host(guard, host))
		return problem_set(problem, P_HOST_NOT_ALLOWED, "Host",
				   "this server answers only to the names of this machine (127.0.0.1, "
				   "[::1], localhost) and those that its operator gave it (spine serve "
				   "--public-url), not to %.*s",
				   (int)(host.n < 100 ? host.n : 100), host.p);
	if (origin.p == NULL || may_call(guard, host, origin))
		return P_OK;
	return problem_set(problem, P_ORIGIN_NOT_ALLOWED, "Origin", "pages of %.*s may not call this server; its "
			   "operator can allow an origin by name (spine serve --allow-origin)",
			   (int)(origin.n < 100 ? origin.n : 100), origin.p);
}
