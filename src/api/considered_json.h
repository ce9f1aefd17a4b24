/* What an envelope was chosen from, as JSON. */
#ifndef SPINE_API_CONSIDERED_JSON_H
#define SPINE_API_CONSIDERED_JSON_H

#include "codec/json.h"
#include "core/envelope/considered.h"

/* The members of an object that the caller has begun. */
void considered_json_put(struct json_writer *w, const struct considered *considered);

#endif
