#include "cli/contents.h"

static void put_count(struct buf *out, int64_t count, const char *one, const char *many)
{
	buf_printf(out, "%lld %s", (long long)count, count == 1 ? one : many);
}

void contents_put(struct buf *out, const struct admin_check *found)
{
	put_count(out, found->memories, "memory in ", "memories in ");
	put_count(out, found->versions, "version, ", "versions, ");
	put_count(out, found->envelopes, "envelope, ", "envelopes, ");
	put_count(out, found->handoffs, "handoff, ", "handoffs, ");
	put_count(out, found->events, "event", "events");
}

void contents_put_json(struct json_writer *w, const struct admin_check *found)
{
	json_member_int(w, "memories", found->memories);
	json_member_int(w, "versions", found->versions);
	json_member_int(w, "envelopes", found->envelopes);
	json_member_int(w, "handoffs", found->handoffs);
	json_member_int(w, "events", found->events);
}
