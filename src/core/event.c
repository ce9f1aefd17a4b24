#include "core/event.h"

const char *event_name(int kind)
{
	switch (kind) {
#define EVENT_NAME(name, number, text) \
	case EVENT_##name: \
		return text;
	EVENTS(EVENT_NAME)
#undef EVENT_NAME
	default:
		return "unknown";
	}
}
