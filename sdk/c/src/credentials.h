/* What a client proves itself with: its key, given or read from a file. */
#ifndef MSI_CREDENTIALS_H
#define MSI_CREDENTIALS_H

#include "memory_spine.h"

/* The key of a client: options->key, else the file options->key_file, else $SPINE_KEY, else the file $SPINE_KEY_FILE;
 * "" of the first two: none, whatever the environment says. *ret is the caller's, for msi_credentials_free(), or NULL.
 * A file that cannot be read, holds no key, or that others could read, too, is MS_INVALID: never "no key". No error
 * holds any of it. */
ms_status msi_credentials_key(const ms_options *options, char **ret, ms_error *ret_error);
/* Overwrites it before. NULL-safe. */
void msi_credentials_free(char *key);

/* A file that is named by an option must be there: libcurl says less clearly that it is not. */
ms_status msi_credentials_check_file(const char *what, const char *path, ms_error *ret_error);

#endif
