#include "core/cluster/protocol.h"

bool protocol_knows(int64_t number, int since)
{
	return number >= (since > PROTOCOL_FIRST ? since : PROTOCOL_FIRST);
}
