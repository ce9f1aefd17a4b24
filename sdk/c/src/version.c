#include "memory_spine.h"

const char *ms_version(void)
{
	return SPINE_VERSION;
}
