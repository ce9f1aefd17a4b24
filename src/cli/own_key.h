/* The key that the command shows to the server: from --key-file, SPINE_KEY or SPINE_KEY_FILE, in this order. Never from
 * an argument: others on this machine can read those. */
#ifndef SPINE_CLI_OWN_KEY_H
#define SPINE_CLI_OWN_KEY_H

#include "cli/cli.h"

/* NULL, in *ret, where there is none. False, with the reason told, where a file cannot be used: it must be readable by
 * its owner only. In the arena. */
bool own_key_read(const struct cli *cli, const char **ret);
/* Is a key named somewhere, whether it can be read or not? */
bool own_key_is_there(const struct cli *cli);

#endif
