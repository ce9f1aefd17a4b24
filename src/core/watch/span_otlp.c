/* Spans in the JSON of OTLP: opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest. Ids are hexadecimal,
 * 64-bit integers are strings. */
#include "core/watch/span.h"

#include <inttypes.h>
#include <stdio.h>

enum { STATUS_ERROR = 2 };

static void put_hex(struct json_writer *w, const char *key, const uint8_t *bytes, size_t count)
{
	static const char digits[] = "0123456789abcdef";
	char text[2 * TRACE_ID_SIZE];

	for (size_t i = 0; i < count; i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 15];
	}
	json_member_str(w, key, (struct str){text, 2 * count});
}

static void put_int(struct json_writer *w, const char *key, int64_t value, const char *unit)
{
	char text[48];

	snprintf(text, sizeof(text), "%" PRId64 "%s", value, unit);
	json_member_cstr(w, key, text);
}

static void put_attribute(struct json_writer *w, const struct span_attribute *a)
{
	json_begin_object(w);
	json_member_cstr(w, "key", a->key);
	json_key(w, "value");
	json_begin_object(w);
	if (a->type == SPAN_INT)
		put_int(w, "intValue", a->i, "");
	else if (a->type == SPAN_DOUBLE)
		json_member_double(w, "doubleValue", a->d);
	else
		json_member_str(w, "stringValue", a->text);
	json_end_object(w);
	json_end_object(w);
}

static void put_text_attribute(struct json_writer *w, const char *key, struct str text)
{
	put_attribute(w, &(struct span_attribute){.key = key, .text = text});
}

static void put_span(struct json_writer *w, const struct span *span)
{
	static const uint8_t none[SPAN_ID_SIZE];

	json_begin_object(w);
	put_hex(w, "traceId", span->context.trace, TRACE_ID_SIZE);
	put_hex(w, "spanId", span->context.span, SPAN_ID_SIZE);
	if (memcmp(span->parent, none, SPAN_ID_SIZE) != 0)
		put_hex(w, "parentSpanId", span->parent, SPAN_ID_SIZE);
	json_member_int(w, "flags", span->context.flags);
	json_member_str(w, "name", span->name);
	json_member_int(w, "kind", span->kind);
	put_int(w, "startTimeUnixNano", span->start_ms, "000000");
	put_int(w, "endTimeUnixNano", span->end_ms, "000000");
	json_key(w, "attributes");
	json_begin_array(w);
	for (size_t i = 0; i < span->attribute_count; i++)
		put_attribute(w, &span->attributes[i]);
	json_end_array(w);
	json_key(w, "status");
	json_begin_object(w);
	if (span->has_failed) {
		json_member_int(w, "code", STATUS_ERROR);
		if (span->message.n)
			json_member_str(w, "message", span->message);
	}
	json_end_object(w);
	json_end_object(w);
}

static void put_resource(struct json_writer *w, struct str instance)
{
	json_key(w, "resource");
	json_begin_object(w);
	json_key(w, "attributes");
	json_begin_array(w);
	put_text_attribute(w, "service.name", STR("memory-spine"));
	put_text_attribute(w, "service.version", str_of(SPINE_VERSION));
	put_text_attribute(w, "service.instance.id", instance);
	json_end_array(w);
	json_end_object(w);
}

void span_write_otlp(const struct span *spans, size_t count, struct str instance, struct buf *out)
{
	struct json_writer w;

	json_writer_init(&w, out);
	json_begin_object(&w);
	json_key(&w, "resourceSpans");
	json_begin_array(&w);
	json_begin_object(&w);
	put_resource(&w, instance);
	json_key(&w, "scopeSpans");
	json_begin_array(&w);
	json_begin_object(&w);
	json_key(&w, "scope");
	json_begin_object(&w);
	json_member_cstr(&w, "name", "memory-spine");
	json_member_cstr(&w, "version", SPINE_VERSION);
	json_end_object(&w);
	json_key(&w, "spans");
	json_begin_array(&w);
	for (size_t i = 0; i < count; i++)
		put_span(&w, &spans[i]);
	json_end_array(&w);
	json_end_object(&w);
	json_end_array(&w);
	json_end_object(&w);
	json_end_array(&w);
	json_end_object(&w);
}
