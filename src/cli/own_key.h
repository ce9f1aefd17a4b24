/* The key that the command shows to the server: from --key-file, SPINE_KEY or SPINE_KEY_FILE, in this order. Never from
 * an argument: others on this machine can read those. The C library (sdk/c) reads it, and refuses a file that others
 * can read. */
#ifndef SPINE_CLI_OWN_KEY_H
#define SPINE_CLI_OWN_KEY_H

#include "cli/cli.h"

/* The file that the key is in; NULL where SPINE_KEY has it, or nothing. Borrowed from the options. */
const char *own_key_file(const struct cli *cli);
/* Is a key named somewhere, whether it can be read or not? */
bool own_key_is_there(const struct cli *cli);

#endif
