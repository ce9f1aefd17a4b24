/* Who may reach the server at all.
 *
 * The server listens on loopback, but a browser on the same machine runs pages of strangers. A page whose name was made
 * to resolve to 127.0.0.1 (DNS rebinding) sends its own name as Host; a page that posts across origins sends its
 * Origin. Both are refused unless they name this machine. For an image or a script that stands in a page a browser
 * sends no Origin, but says that the request is cross-site; a link to the dashboard is the one such request that is
 * answered.
 */
#ifndef SPINE_API_HTTP_GUARD_H
#define SPINE_API_HTTP_GUARD_H

#include "core/problem.h"

/* Headers with p == NULL are absent. */
enum problem_code guard_check(struct str host, struct str origin, struct problem *problem);
/* site: the header Sec-Fetch-Site. */
enum problem_code guard_check_site(struct str site, struct str origin, struct str path, struct problem *problem);
/* "127.0.0.1", "127.1.2.3", "[::1]", "localhost", each with or without a port. */
bool guard_is_loopback(struct str host);

#endif
