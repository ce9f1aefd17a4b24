/* Memories: store, read, fetch, search, pin, forget. */
#include "call.h"

#include "error.h"
#include "fetch.h"

#include <stdio.h>

enum { SEARCH_ARGS = 10, LIMIT = 20, LIMIT_MAX = 1000, TAGS_MAX = 100 };

ms_status ms_store(ms_client *client, const ms_memory *memory, ms_answer **ret, ms_error *ret_error)
{
	ms_request request = {.operation = "storeMemory", .idempotency_key = memory->idempotency_key};
	struct msi_body b;

	msi_body_begin(&b, ret_error);
	msi_body_needed(&b, "content", memory->content);
	msi_body_text(&b, "summary", memory->summary);
	msi_body_text(&b, "kind", memory->kind);
	msi_body_list(&b, "tags", memory->tags);
	msi_body_text(&b, "importance", memory->importance);
	msi_body_text(&b, "trust", memory->trust);
	msi_body_text(&b, "task", memory->task);
	msi_body_text(&b, "scope", memory->shared ? "space" : NULL);
	msi_body_true(&b, "pinned", memory->pinned);
	msi_body_int(&b, "ttl_s", memory->ttl_s);
	msi_body_text(&b, "supersedes", memory->supersedes);
	msi_body_json(&b, "metadata", memory->metadata_json, MS_OBJECT);
	msi_body_extra(&b, "extra_json", memory->extra_json);
	return msi_call_with(client, &request, &b, NULL, NULL, ret, ret_error);
}

ms_status ms_get(ms_client *client, const char *id, ms_answer **ret, ms_error *ret_error)
{
	return msi_call_one(client, "readMemory", "id", id, ret, ret_error);
}

ms_status ms_fetch(ms_client *client, const char *const *ids, ms_answer **ret, ms_error *ret_error)
{
	static const struct msi_fetch how = {.operation = "fetchMemories", .list = "ids"};

	if (ids == NULL) {
		if (ret)
			*ret = NULL;
		return msi_error_invalid(ret_error, "ids", "ids must be given");
	}
	return msi_fetch(client, &how, ids, ret, ret_error);
}

ms_status ms_pin(ms_client *client, const char *id, ms_answer **ret, ms_error *ret_error)
{
	return msi_call_one(client, "pinMemory", "id", id, ret, ret_error);
}

ms_status ms_unpin(ms_client *client, const char *id, ms_answer **ret, ms_error *ret_error)
{
	return msi_call_one(client, "unpinMemory", "id", id, ret, ret_error);
}

ms_status ms_forget(ms_client *client, const char *id, ms_answer **ret, ms_error *ret_error)
{
	return msi_call_one(client, "forgetMemory", "id", id, ret, ret_error);
}

static size_t add_arg(ms_arg *args, size_t count, const char *name, const char *text)
{
	if (text == NULL)
		return count;
	args[count] = (ms_arg){.name = name, .text = text};
	return count + 1;
}

ms_status ms_search(ms_client *client, const ms_search_options *options, ms_answer **ret, ms_error *ret_error)
{
	ms_arg args[SEARCH_ARGS + TAGS_MAX + 1] = {0};
	char limit[16];
	size_t count = 0;

	if (ret)
		*ret = NULL;
	if (options->limit < 0 || options->limit > LIMIT_MAX)
		return msi_error_invalid(ret_error, "limit", "limit must be 1 to 1,000, or 0 for 20");
	for (const char *const *tag = options->tags; tag && *tag; tag++) {
		if (count == TAGS_MAX)
			return msi_error_invalid(ret_error, "tags", "there are more than 100 tags");
		count = add_arg(args, count, "tag", *tag);
	}
	snprintf(limit, sizeof(limit), "%d", options->limit ? options->limit : LIMIT);
	count = add_arg(args, count, "page_size", limit);
	count = add_arg(args, count, "query", options->query);
	count = add_arg(args, count, "kind", options->kind);
	count = add_arg(args, count, "agent", options->agent);
	count = add_arg(args, count, "task", options->task);
	count = add_arg(args, count, "importance", options->importance);
	count = add_arg(args, count, "pinned", options->pinned ? "true" : NULL);
	count = add_arg(args, count, "explain", options->explain ? "true" : NULL);
	add_arg(args, count, "page_token", options->page_token);
	return msi_call(client, &(ms_request){.operation = "listMemories", .args = args}, ret, ret_error);
}
