/* Small readers of text, all on the same bytes: ids and mentions, times, Base64, trace contexts, addresses, and the
 * guard's look for credentials. What one of them writes, it reads again. */
#include "fuzz.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "cli/when.h"
#include "codec/base64.h"
#include "codec/rfc3339.h"
#include "core/delivery/handoff_id.h"
#include "core/envelope/envelope_id.h"
#include "core/guard/credentials.h"
#include "core/memory/mention.h"
#include "core/watch/trace_context.h"
#include "outbound/webhook_url.h"

enum { FOUND = 64, NOW = 1000000 };

static void read_ids(struct str text, struct arena *arena)
{
	struct mention_list list = {0};
	struct memory_id id, again;
	char name[MEMORY_ID_SIZE];

	if (memory_id_parse(text, &id)) {
		size_t n = memory_id_format(id.num, id.version, name);

		PROMISE(memory_id_parse((struct str){name, n}, &again) && again.num == id.num &&
			again.version == id.version, "an id is read as it is written");
	}
	mention_collect(&list, text, arena);
	PROMISE(list.count <= MENTION_MAX, "mentions have a limit");
	for (size_t i = 0; i < list.count; i++)
		PROMISE(mention_has(&list, list.ids[i]), "what was collected is there");
}

static void read_times(struct str text)
{
	int64_t ms, again;
	char name[CLOCK_TEXT_SIZE];

	if (rfc3339_parse(text, &ms)) {
		clock_format(ms, name);
		PROMISE(rfc3339_parse(str_of(name), &again) && again == ms, "a time is read as it is written");
	}
	when_parse(text, NOW, &ms);
	when_parse_later(text, NOW, &ms);
}

static void read_base64(struct str text, enum base64_kind kind)
{
	struct buf bytes, again;

	buf_init(&bytes, 1 << 20);
	buf_init(&again, 1 << 20);
	if (base64_decode(text, kind, &bytes)) {
		base64_encode(buf_str(&bytes), kind, &again);
		PROMISE(str_eq(text, buf_str(&again)), "Base64 has one spelling");
	}
	buf_clear(&bytes);
	buf_clear(&again);
	base64_encode(text, kind, &again);
	PROMISE(base64_decode(buf_str(&again), kind, &bytes) && str_eq(buf_str(&bytes), text), "Base64 goes both ways");
	buf_release(&bytes);
	buf_release(&again);
}

static void look_for_credentials(struct str text)
{
	struct credential found[FOUND];
	size_t count = credentials_scan(text, found, FOUND), end = 0;

	for (size_t i = 0; i < count; i++) {
		PROMISE(found[i].at >= end && found[i].len > 0 && found[i].at + found[i].len <= text.n,
			"credentials stand in the text, in its order");
		end = found[i].at + found[i].len;
	}
	count = credentials_scan_value(STR("password"), text, found, FOUND);
	PROMISE(count <= FOUND && (count == 0 || found[0].at + found[0].len <= text.n), "a value is in its text");
}

static void read_addresses(struct str text)
{
	struct trace_context context;
	struct problem problem = {0};
	char trace[TRACEPARENT_SIZE];
	struct buf error;

	if (trace_context_parse(text, &context)) {
		trace_context_format(&context, trace);
		PROMISE(trace_context_parse(str_of(trace), &context), "a trace is read as it is written");
	}
	buf_init(&error, 4096);
	if (webhook_url_check(STR("*.example.com"), text, &problem) != P_OK)
		PROMISE(problem.detail[0] != '\0', "an address is refused with a reason");
	webhook_url_hosts_are_valid(text, &error);
	buf_release(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = fuzz_str(data, size);
	struct arena arena;

	arena_init(&arena);
	text = arena_str(&arena, text);
	read_ids(text, &arena);
	read_times(text);
	read_base64(text, BASE64_PADDED);
	read_base64(text, BASE64_URL);
	look_for_credentials(text);
	if (memchr(text.p, '\0', text.n) == NULL)
		read_addresses(text);
	arena_release(&arena);
	return 0;
}
