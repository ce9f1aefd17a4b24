/* Where the server is told to listen. Which addresses it may is serve.c's. */
#ifndef SPINE_SERVE_LISTEN_ADDRESS_H
#define SPINE_SERVE_LISTEN_ADDRESS_H

#include "base/buf.h"

enum { LISTEN_HOST_MAX = 64 };

/* "ADDRESS:PORT" or "[ADDRESS]:PORT"; "localhost" is 127.0.0.1. On failure a sentence. */
bool listen_address_parse(const char *listen, char host[LISTEN_HOST_MAX], int *ret_port, struct buf *error);
bool listen_address_is_loopback(const char *host);

#endif
