#include "outbound/webhook_url.h"

#include "outbound/poster_url.h"

#include <arpa/inet.h>

enum { URL_MAX = 2048, HOST_MAX = 255 };

static bool is_host_character(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || memchr("-._[]:", c, 6);
}

static bool is_pattern(struct str s)
{
	if (str_is(s, "*"))
		return true;
	if (str_has_prefix(s, STR("*.")))
		s = str_sub(s, 2, s.n);
	if (s.n == 0 || s.n > HOST_MAX)
		return false;
	/* A colon is of an IPv6 address: ports are not told apart. */
	if (str_find(s, ':') < s.n && s.p[0] != '[')
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!is_host_character(s.p[i]))
			return false;
	return true;
}

bool webhook_url_hosts_are_valid(struct str hosts, struct buf *error)
{
	while (hosts.p) {
		struct str one = str_trim(str_cut(&hosts, ','));

		if (one.n && !is_pattern(one)) {
			buf_printf(error, "--webhook-hosts holds \"%.*s\"; expected names of hosts, separated by "
				   "commas, such as hooks.example.com,*.example.org",
				   (int)(one.n < 100 ? one.n : 100), one.p);
			return false;
		}
	}
	return true;
}

static bool fits(struct str pattern, struct str host)
{
	if (str_is(pattern, "*"))
		return true;
	if (!str_has_prefix(pattern, STR("*.")))
		return pattern.n && str_ieq(pattern, host);
	pattern = str_sub(pattern, 1, pattern.n);
	return host.n > pattern.n && str_ieq(str_sub(host, host.n - pattern.n, host.n), pattern);
}

static bool is_this_machine(const char *host)
{
	struct in_addr v4;

	return str_ieq(str_of(host), STR("localhost")) || strcmp(host, "[::1]") == 0 ||
	       (inet_pton(AF_INET, host, &v4) == 1 && ntohl(v4.s_addr) >> 24 == 127);
}

static bool is_allowed(struct str hosts, const char *host)
{
	if (is_this_machine(host))
		return true;
	while (hosts.p)
		if (fits(str_trim(str_cut(&hosts, ',')), str_of(host)))
			return true;
	return false;
}

enum problem_code webhook_url_check(struct str hosts, struct str url, struct problem *problem)
{
	struct poster_url parts;
	char text[URL_MAX + 1];
	enum problem_code code = P_OK;

	if (url.n > URL_MAX || memchr(url.p, '\0', url.n))
		return problem_set(problem, P_INVALID_FIELD, "webhook",
				   "webhook is longer than %d bytes or holds a NUL", URL_MAX);
	memcpy(text, url.p, url.n);
	text[url.n] = '\0';
	if (!poster_url_parse(text, &parts))
		code = problem_set(problem, P_INVALID_FIELD, "webhook",
				   "webhook is not an address such as http://127.0.0.1:9000/handoffs");
	else if (parts.has_user)
		code = problem_set(problem, P_INVALID_FIELD, "webhook",
				   "webhook names a user; everybody who can list agents would see it. The "
				   "signature shows who is posting");
	else if (!is_allowed(hosts, parts.host))
		code = problem_set(problem, P_INVALID_FIELD, "webhook",
				   "webhook is on the host %.100s; only this machine (127.0.0.1, [::1], "
				   "localhost) and the hosts that the server was given with --webhook-hosts are "
				   "posted to", parts.host);
	poster_url_release(&parts);
	return code;
}
