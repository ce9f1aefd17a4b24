/* Signing in and out on the dashboard; only HTTP has it. */
#ifndef SPINE_API_SESSION_CALL_H
#define SPINE_API_SESSION_CALL_H

#include "engine/op.h"

struct session_call {
	struct op op;
	struct str text;		/* the key that somebody shows */
	/* Out. */
	bool needs_key;
	const struct access *key;	/* NULL: nobody has signed in */
};

#endif
