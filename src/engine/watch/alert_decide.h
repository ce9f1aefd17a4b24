/* What somebody decides about an alert: has seen it, or wants to hear nothing of it for a while. What fires and what is
 * over is decided by the figures alone (core/watch/alerts.h). */
#ifndef SPINE_ENGINE_ALERT_DECIDE_H
#define SPINE_ENGINE_ALERT_DECIDE_H

#include "engine/op.h"

struct alert_decide {
	struct op op;
	/* In. */
	int64_t id;
	struct str by;
	bool silences;			/* otherwise it is acknowledged */
	int64_t for_ms;			/* silent so long; 0: no longer */
	struct str why;			/* p == NULL: nobody says */
	/* Out. */
	struct alert_row row;
};

extern const struct op_kind alert_decide_kind;

#endif
