#include "core/watch/trace_context.h"

#include "base/buf.h"
#include "codec/sha256.h"

#include <stdio.h>

enum { VERSION_AT = 0, TRACE_AT = 3, SPAN_AT = 36, FLAGS_AT = 53, LENGTH = 55 };

/* Lower case only. False also where all bytes are 0 and must not be. */
static bool read_hex(const char *text, size_t bytes, bool may_be_zero, uint8_t *ret)
{
	bool some = false;

	for (size_t i = 0; i < 2 * bytes; i++) {
		int digit = str_hex_digit(text[i]);

		if (digit < 0 || (text[i] >= 'A' && text[i] <= 'F'))
			return false;
		ret[i / 2] = (uint8_t)(i % 2 ? ret[i / 2] << 4 | digit : digit);
		some = some || digit;
	}
	return some || may_be_zero;
}

bool trace_context_parse(struct str s, struct trace_context *ret)
{
	struct trace_context context = {0};
	uint8_t version;

	if (s.n < LENGTH || !read_hex(s.p + VERSION_AT, 1, true, &version) || version == 0xff)
		return false;
	/* Version 00 ends here; a later one may go on behind another dash. */
	if (s.n > LENGTH && (version == 0 || s.p[LENGTH] != '-'))
		return false;
	if (s.p[TRACE_AT - 1] != '-' || s.p[SPAN_AT - 1] != '-' || s.p[FLAGS_AT - 1] != '-')
		return false;
	if (!read_hex(s.p + TRACE_AT, TRACE_ID_SIZE, false, context.trace) ||
	    !read_hex(s.p + SPAN_AT, SPAN_ID_SIZE, false, context.span) ||
	    !read_hex(s.p + FLAGS_AT, 1, true, &context.flags))
		return false;
	*ret = context;
	return true;
}

void trace_context_format(const struct trace_context *context, char ret[TRACEPARENT_SIZE])
{
	int at = snprintf(ret, TRACEPARENT_SIZE, "00-");

	for (int i = 0; i < TRACE_ID_SIZE; i++)
		at += snprintf(ret + at, (size_t)(TRACEPARENT_SIZE - at), "%02x", context->trace[i]);
	ret[at++] = '-';
	for (int i = 0; i < SPAN_ID_SIZE; i++)
		at += snprintf(ret + at, (size_t)(TRACEPARENT_SIZE - at), "%02x", context->span[i]);
	snprintf(ret + at, (size_t)(TRACEPARENT_SIZE - at), "-%02x", context->flags & TRACE_SAMPLED);
}

void trace_span_id(const uint8_t trace[TRACE_ID_SIZE], const char *what, const uint8_t digest[32], uint64_t first,
		   uint64_t second, uint8_t ret[SPAN_ID_SIZE])
{
	static const uint8_t none[SPAN_ID_SIZE];
	uint8_t hash[SHA256_SIZE];
	struct buf text;

	buf_init(&text, 256);
	buf_append(&text, trace, TRACE_ID_SIZE);
	buf_append(&text, digest, 32);
	buf_printf(&text, "%s %llu %llu", what, (unsigned long long)first, (unsigned long long)second);
	sha256(buf_str(&text), hash);
	buf_release(&text);
	memcpy(ret, hash, SPAN_ID_SIZE);
	/* All zeros is not an id. */
	if (memcmp(ret, none, SPAN_ID_SIZE) == 0)
		ret[0] = 1;
}
