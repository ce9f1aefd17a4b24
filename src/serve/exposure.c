#include "serve/exposure.h"

#include "serve/listen_address.h"

bool exposure_is_allowed(const struct serve_config *config, const char *host, bool has_tls, bool has_keys,
			 struct buf *error)
{
	bool is_loopback = listen_address_is_loopback(host);

	if (config->insecure || (is_loopback && (config->public_urls == NULL || has_keys)))
		return true;
	if (is_loopback)
		buf_printf(error, "--public-url says that others reach this server by a proxy, which makes every "
			   "request one of this machine, and without keys they could do everything. Make one first "
			   "(spine key create admin --data %s), or say --insecure if all of them may",
			   config->data_dir);
	else if (!has_keys)
		buf_printf(error, "cannot listen on %s: it is no loopback address, so others can reach it, and without "
			   "keys they could do everything. Make one first (spine key create admin --data %s), or say "
			   "--insecure if all of that network may", config->listen, config->data_dir);
	else if (!has_tls)
		buf_printf(error, "cannot listen on %s without TLS: it is no loopback address, so keys and memories "
			   "would go over the network in the clear. Give it a certificate (--tls-cert, --tls-key), "
			   "listen on 127.0.0.1 behind a proxy that speaks https (--public-url), or say --insecure if "
			   "that network is yours", config->listen);
	else
		return true;
	return false;
}
