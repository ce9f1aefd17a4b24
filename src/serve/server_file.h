/* DATA/server.json says where the server listens, for scripts that gave it port 0 and for people. */
#ifndef SPINE_SERVE_SERVER_FILE_H
#define SPINE_SERVE_SERVER_FILE_H

#include "base/log.h"

void server_file_write(const char *data_dir, const char *url, const struct log *log);
void server_file_remove(const char *data_dir);

#endif
