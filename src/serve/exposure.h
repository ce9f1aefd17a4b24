/* Who can reach the server, and whether it may be started like that. */
#ifndef SPINE_SERVE_EXPOSURE_H
#define SPINE_SERVE_EXPOSURE_H

#include "base/buf.h"
#include "serve/serve.h"

/* Beyond this machine the server is closed: it needs keys, and TLS, unless its operator spells out that it does not
 * (--insecure). A public name means a proxy, whose requests all come from this machine: it needs keys, too. False and a
 * sentence that says what to do. */
bool exposure_is_allowed(const struct serve_config *config, const char *host, bool has_tls, bool has_keys,
			 struct buf *error);

#endif
