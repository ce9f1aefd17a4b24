#include "serve/listen_address.h"

#include "api/http/guard.h"

#include <arpa/inet.h>
#include <string.h>

static bool is_address(const char *host, bool is_v6)
{
	struct in6_addr addr;

	return inet_pton(is_v6 ? AF_INET6 : AF_INET, host, &addr) == 1;
}

bool listen_address_is_loopback(const char *host)
{
	return strcmp(host, "::1") == 0 || guard_is_loopback(str_of(host));
}

bool listen_address_parse(const char *listen, char host[LISTEN_HOST_MAX], int *ret_port, struct buf *error)
{
	const char *colon = strrchr(listen, ':');
	struct str name = {listen, colon ? (size_t)(colon - listen) : 0};
	uint64_t port;

	if (colon == NULL || !str_to_u64(str_of(colon + 1), &port) || port > 65535 || name.n == 0 ||
	    name.n >= LISTEN_HOST_MAX) {
		buf_printf(error, "cannot listen on \"%s\"; expected ADDRESS:PORT, as in 127.0.0.1:8788", listen);
		return false;
	}
	if (str_ieq(name, STR("localhost")))
		name = STR("127.0.0.1");
	if (name.p[0] == '[' && name.p[name.n - 1] == ']')
		name = str_sub(name, 1, name.n - 1);
	memcpy(host, name.p, name.n);
	host[name.n] = '\0';
	if (!is_address(host, listen[0] == '[')) {
		buf_printf(error, "cannot listen on %s: that is no address. Those of loopback (127.0.0.1:8788, "
			   "[::1]:8788) are served always, others with keys and TLS", listen);
		return false;
	}
	*ret_port = (int)port;
	return true;
}
