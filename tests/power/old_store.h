/* A store of the oldest schema that is still read, with something in every table of it. */
#ifndef SPINE_TESTS_POWER_OLD_STORE_H
#define SPINE_TESTS_POWER_OLD_STORE_H

#include <stdbool.h>

/* In root/data. */
bool old_store_make(const char *root);

#endif
