/* The ids of memories: "ms-4821", and "ms-4821@2" for one version. */
#ifndef SPINE_CORE_MEMORY_ID_H
#define SPINE_CORE_MEMORY_ID_H

#include "base/str.h"

enum { MEMORY_ID_SIZE = 32 };

struct memory_id {
	uint64_t num;
	uint32_t version;	/* 0: the newest */
};

/* All of s. False, and *ret untouched, where it is not such an id (or out of range). */
bool memory_id_parse(struct str s, struct memory_id *ret);
/* "ms-4821", or "ms-4821@2" where version is not 0. Terminated. Returns the length. */
size_t memory_id_format(uint64_t num, uint32_t version, char ret[MEMORY_ID_SIZE]);

#endif
