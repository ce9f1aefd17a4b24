/* The text of a double as ECMAScript writes it. Internal to the codec; callers use json_put_double. */
#ifndef SPINE_CODEC_JSON_DOUBLE_H
#define SPINE_CODEC_JSON_DOUBLE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The longest is "-0.0000012345678901234567": 25 characters. */
enum { JSON_DOUBLE_SIZE = 32 };

/* Writes value, which is finite, and returns the length; there is no terminator. */
size_t json_double_format(double value, char ret[JSON_DOUBLE_SIZE]);

#ifdef __cplusplus
}
#endif

#endif
