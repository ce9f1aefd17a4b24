/* Addresses, as libcurl itself reads them: what is looked at here is where it connects to. */
#ifndef SPINE_OUTBOUND_POSTER_URL_H
#define SPINE_OUTBOUND_POSTER_URL_H

#include <stdbool.h>

/* Numbers in the host are written out: "127.1" is "127.0.0.1" here. An IPv6 address has its brackets. */
struct poster_url {
	char *host;
	char *path;			/* "/" at least */
	bool has_user;			/* it names a user or a password */
	void *parts;			/* libcurl's */
};

/* False where it is no address of http or https. The parts are owned; poster_url_release frees them in either case. */
bool poster_url_parse(const char *text, struct poster_url *ret);
/* The same address with another path. Returns owned; NULL where there is no such address. */
char *poster_url_with_path(const struct poster_url *u, const char *path);
/* For the log: the scheme, the host and the port. The rest of an address is often a secret. Returns owned. */
char *poster_url_origin(const char *text);
void poster_url_release(struct poster_url *u);

#endif
