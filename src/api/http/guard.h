/* Who may reach the server at all.
 *
 * The server usually listens on loopback, but a browser on the same machine runs pages of strangers. A page whose name
 * was made to resolve to 127.0.0.1 (DNS rebinding) sends its own name as Host; a page that posts across origins sends
 * its Origin. Both are refused unless they name this machine, or the operator has said so: the server's names behind a
 * proxy or on a network (--public-url), and pages of others that may call (--allow-origin). For an image or a script
 * that stands in a page a browser sends no Origin, but says that the request is cross-site; a link to the dashboard is
 * the one such request that is answered.
 */
#ifndef SPINE_API_HTTP_GUARD_H
#define SPINE_API_HTTP_GUARD_H

#include "core/problem.h"

struct guard {
	struct str origins;	/* of pages that may call, as browsers write them, separated by commas; empty: none */
	bool is_strict;		/* pages of this machine may not, either, but for the server's own and those named */
	struct str public_urls;	/* the server's own origins beside those of loopback, in the same form */
	bool is_tls;		/* it speaks https itself: then its own pages are https, too */
	bool is_beyond;		/* it listens on an address of a network: then any address may be its Host. A name
				 * that was made to lead here is still none */
};

/* Whether each is an origin as browsers write it: scheme, name and port, without a path. On failure a sentence about
 * that option. */
bool guard_origins_are_valid(const char *option, struct str origins, struct buf *error);
/* Headers with p == NULL are absent. */
enum problem_code guard_check(const struct guard *guard, struct str host, struct str origin, struct problem *problem);
/* Whether the origin is that of the pages which this server has under that name. */
bool guard_is_own(const struct guard *guard, struct str host, struct str origin);
/* Does the client speak https, with this server or with a proxy before it? */
bool guard_is_https(const struct guard *guard, struct str host);
/* site: the header Sec-Fetch-Site. Another port of the same name is the same site to a browser. */
enum problem_code guard_check_site(const struct guard *guard, struct str site, struct str origin, struct str path,
				   struct problem *problem);
/* "127.0.0.1", "127.1.2.3", "[::1]", "localhost", each with or without a port. */
bool guard_is_loopback(struct str host);

#endif
