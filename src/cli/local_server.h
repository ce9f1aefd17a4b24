/* Where the server of a data directory listens, as it wrote into server.json there. For those who looked elsewhere. */
#ifndef SPINE_CLI_LOCAL_SERVER_H
#define SPINE_CLI_LOCAL_SERVER_H

#include "base/arena.h"

/* "http://127.0.0.1:8802", in the arena; NULL where no server runs on the data directory. */
const char *local_server_url(struct arena *arena, const char *data_dir);
/* What to do about it, as a sentence without its end. In the arena. */
const char *local_server_hint(struct arena *arena, const char *url);

#endif
