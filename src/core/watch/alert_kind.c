/* The kinds of alerts and their names. */
#include "core/watch/alerts_internal.h"

static const struct {
	const char *name;
	enum alert_severity severity;
	bool pages;
	bool is_of_agent;
} kinds[ALERT_KIND_COUNT] = {
#define ALERT_KIND_ROW(kind, name, severity, pages, is_of_agent) [ALERT_##kind] = {name, severity, pages, is_of_agent},
	ALERT_KINDS(ALERT_KIND_ROW)
#undef ALERT_KIND_ROW
};

const char *alert_kind_name(enum alert_kind kind)
{
	return kinds[kind].name;
}

bool alert_kind_find(struct str name, enum alert_kind *ret)
{
	for (int kind = 0; kind < ALERT_KIND_COUNT; kind++)
		if (str_is(name, kinds[kind].name)) {
			*ret = (enum alert_kind)kind;
			return true;
		}
	return false;
}

enum alert_severity alert_kind_severity(enum alert_kind kind)
{
	return kinds[kind].severity;
}

bool alert_kind_pages(enum alert_kind kind)
{
	return kinds[kind].pages;
}

bool alert_kind_is_of_agent(enum alert_kind kind)
{
	return kinds[kind].is_of_agent;
}

const char *alert_severity_name(int severity)
{
	return severity <= ALERT_INFO ? "info" : severity == ALERT_WARNING ? "warning" : "critical";
}
