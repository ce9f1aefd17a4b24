/* The request of POST /v1/envelopes, read into a draft. */
#ifndef SPINE_API_ENVELOPE_DECODE_H
#define SPINE_API_ENVELOPE_DECODE_H

#include "api/call.h"
#include "engine/envelope/pack.h"

/* Reads a request (agent_handoff's arguments), a version 1 envelope or a version 2 envelope, whichever the body is. */
enum problem_code envelope_decode(struct call *call, const struct json *body, struct packing *ret);

#endif
