/* Addresses: of a database, to listen on, of other servers; the headers Host and Origin of a browser. What is refused
 * is refused with a sentence, and the sentence about a database has nothing of its password. */
#include "fuzz.h"

#include "api/http/guard.h"
#include "client/url.h"
#include "outbound/poster_url.h"
#include "serve/listen_address.h"
#include "store/store.h"

#include <arpa/inet.h>

/* No sentence has it by itself. */
#define PASSWORD "zQ7xkW"

static void read_database(const char *address, bool has_password)
{
	struct buf error;
	bool is_good;

	buf_init(&error, 4096);
	is_good = store_address_is_good(address, &error);
	PROMISE(is_good == (error.len == 0), "an address is refused with a reason");
	PROMISE(!has_password || error.len == 0 || !memmem(error.data, error.len, PASSWORD, strlen(PASSWORD)),
		"nobody is told the password");
	PROMISE(!is_good || strncmp(address, "postgres", 8) == 0, "a database has its scheme");
	buf_release(&error);
}

/* The password stands anywhere in the address: whoever forgets to encode a mark of it has it there. */
static void hide_password(struct str text, struct arena *arena, size_t at)
{
	at = text.n ? at % (text.n + 1) : 0;
	read_database(arena_printf(arena, "postgres://%.*s" PASSWORD "%.*s", (int)at, text.p, (int)(text.n - at),
				   text.p + at).p, true);
}

static void read_listen(const char *text)
{
	char host[LISTEN_HOST_MAX], again[LISTEN_HOST_MAX], whole[LISTEN_HOST_MAX + 16];
	int port = -1, port_again = -1;
	struct buf error;

	buf_init(&error, 16384);
	if (listen_address_parse(text, host, &port, &error)) {
		unsigned char bytes[sizeof(struct in6_addr)];
		bool is_v6 = strchr(host, ':') != NULL;

		PROMISE(port >= 0 && port <= 65535, "a port is one");
		PROMISE(inet_pton(is_v6 ? AF_INET6 : AF_INET, host, bytes) == 1, "an address is one");
		snprintf(whole, sizeof(whole), is_v6 ? "[%s]:%d" : "%s:%d", host, port);
		PROMISE(listen_address_parse(whole, again, &port_again, &error) && port == port_again &&
			strcmp(host, again) == 0, "an address is read as it is written");
	} else {
		PROMISE(error.len > 0, "an address to listen on is refused with a reason");
	}
	buf_release(&error);
}

/* What is written into the log is the beginning of the same address, and has no user and no password. */
static void read_server(const char *text)
{
	char *origin = poster_url_origin(text), *with_path;
	struct poster_url u, again;

	if (poster_url_parse(text, &u)) {
		PROMISE(u.path[0] == '/', "a path begins with a slash");
		if (origin[0]) {
			PROMISE(poster_url_parse(origin, &again) && strcmp(again.host, u.host) == 0 &&
				strcmp(again.path, "/") == 0 && !again.has_user, "an origin is that of the address");
			poster_url_release(&again);
		}
		with_path = poster_url_with_path(&u, "/v1/traces");
		free(with_path);
	} else {
		PROMISE(origin[0] == '\0', "what is no address has no origin");
	}
	poster_url_release(&u);
	free(origin);
}

static void read_browser(struct str host, struct str origin)
{
	static const struct guard guards[] = {
		{.is_strict = true},
		{.origins = {"https://a.example,http://b.example:3000", 39}, .is_tls = true},
		{.public_urls = {"https://spine.example", 21}, .is_beyond = true},
	};
	struct buf error;

	for (size_t i = 0; i < sizeof(guards) / sizeof(guards[0]); i++) {
		struct problem problem = {0};
		enum problem_code code = guard_check(&guards[i], host, origin, &problem);

		PROMISE((code == P_OK) == (problem.code == P_OK), "a problem has its code");
		guard_is_https(&guards[i], host);
		problem = (struct problem){0};
		guard_check_site(&guards[i], host, origin, STR("/v1/x"), &problem);
	}
	PROMISE(!guard_is_loopback(host) || str_ieq(str_sub(host, 0, host.n < 9 ? host.n : 9), STR("localhost")) ||
		str_has_prefix(host, STR("127.")) || str_has_prefix(host, STR("[::1]")), "loopback has a few names");
	buf_init(&error, 16384);
	PROMISE(guard_origins_are_valid("--allow-origin", origin, &error) == (error.len == 0),
		"an origin is refused with a reason");
	buf_release(&error);
}

static int digit(char c)
{
	return c <= '9' ? c - '0' : c - 'A' + 10;
}

static void escape(struct str text)
{
	struct buf b;
	size_t at = 0;

	buf_init(&b, 1 << 20);
	url_put_escaped(&b, text);
	for (size_t i = 0; i < b.len; i++, at++) {
		char c = b.data[i];

		PROMISE(c > ' ' && c < 0x7f && !strchr("/?#&=+:", c), "what is escaped ends no part of an address");
		if (c == '%') {
			PROMISE(i + 2 < b.len, "an escape is whole");
			c = (char)(digit(b.data[i + 1]) << 4 | digit(b.data[i + 2]));
			i += 2;
		}
		PROMISE(at < text.n && c == text.p[at], "what is escaped means itself");
	}
	PROMISE(at == text.n, "all of it is escaped");
	buf_release(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t at = fuzz_choice(&data, &size);
	struct str text = fuzz_str(data, size), rest;
	struct arena arena;

	arena_init(&arena);
	text = arena_str(&arena, text);
	escape(text);
	rest = text;
	read_browser(str_cut(&rest, '\n'), rest);
	if (size == 0 || memchr(text.p, '\0', text.n) == NULL) {
		read_database(arena_cstr(&arena, text), false);
		hide_password(text, &arena, at);
		read_listen(arena_cstr(&arena, text));
		read_server(arena_cstr(&arena, text));
	}
	arena_release(&arena);
	return 0;
}
