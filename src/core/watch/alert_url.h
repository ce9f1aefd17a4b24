/* Where something can be done about an alert: the address of a page of the dashboard. */
#ifndef SPINE_CORE_ALERT_URL_H
#define SPINE_CORE_ALERT_URL_H

#include "base/arena.h"
#include "store/records.h"

/* The path, as in "/#/default/parked?agent=coder", in the arena. */
struct str alert_url(const struct alert_row *alert, struct str space_name, struct arena *arena);

#endif
