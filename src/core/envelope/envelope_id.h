/* The ids of envelopes: "env-17". */
#ifndef SPINE_CORE_ENVELOPE_ID_H
#define SPINE_CORE_ENVELOPE_ID_H

#include "base/str.h"

enum { ENVELOPE_ID_SIZE = 32 };

/* All of s. False, and *ret untouched, where it is not such an id. */
bool envelope_id_parse(struct str s, uint64_t *ret);
/* Terminated. Returns the length. */
size_t envelope_id_format(uint64_t num, char ret[ENVELOPE_ID_SIZE]);

#endif
