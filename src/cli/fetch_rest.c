#include "cli/fetch_rest.h"

#include <string.h>

enum { BODY_MAX_BYTES = 1024 * 1024 };	/* ten thousand ids, which resolve takes, and a lease */

static bool is_not_given(const struct json *missing)
{
	return str_is(ask_str(missing, "reason"), "not_given");
}

static uint32_t count_not_given(const struct json *answer)
{
	const struct json *missing = ask_array(answer, "missing");
	uint32_t count = 0;

	for (uint32_t i = 0; i < missing->count; i++)
		count += is_not_given(&missing->items[i]);
	return count;
}

static void put_body(const struct json *answer, const char *list, const char *lease, struct buf *body)
{
	const struct json *missing = ask_array(answer, "missing");
	struct json_writer w;

	json_writer_init(&w, body);
	json_begin_object(&w);
	if (lease)
		json_member_cstr(&w, "lease", lease);
	json_key(&w, list);
	json_begin_array(&w);
	for (uint32_t i = 0; i < missing->count; i++)
		if (is_not_given(&missing->items[i]))
			json_put_str(&w, ask_str(&missing->items[i], "id"));
	json_end_array(&w);
	json_end_object(&w);
}

/* --- Putting together --- */

static struct json join_lists(struct arena *arena, const struct json *first, const struct json *then)
{
	struct json all = {.type = JSON_ARRAY, .items = arena_calloc(arena, (size_t)first->count + then->count + 1,
								     sizeof(*all.items))};

	for (uint32_t i = 0; i < first->count; i++)
		if (!is_not_given(&first->items[i]))
			all.items[all.count++] = first->items[i];
	for (uint32_t i = 0; i < then->count; i++)
		all.items[all.count++] = then->items[i];
	return all;
}

/* The members of the later answer, with what the earlier one has of the two lists before its own. */
static void join(struct arena *arena, const struct json *first, struct json *then)
{
	for (uint32_t i = 0; then->type == JSON_OBJECT && i < then->count; i++) {
		struct json_member *m = &then->members[i];

		if (m->value.type == JSON_ARRAY && (str_is(m->key, "memories") || str_is(m->key, "missing")))
			m->value = join_lists(arena, ask_array(first, m->key.p), &m->value);
	}
}

/* --- Asking --- */

void fetch_rest_make(struct cli *cli, const struct client_request *request, const char *list, const char *lease,
		     struct arena *arena, struct ask *ask)
{
	struct client_request again = *request;
	uint32_t count = count_not_given(&ask->json), before = UINT32_MAX;

	/* Each answer gives one at least: so it ends, also where a server does not keep its word. */
	while (ask->exit == CLI_OK && count > 0 && count < before) {
		struct buf body;
		struct ask next;

		buf_init(&body, BODY_MAX_BYTES);
		put_body(&ask->json, list, lease, &body);
		again.body = buf_str(&body);
		ask_make(cli, &again, arena, &next);
		buf_release(&body);
		before = count;
		if (next.exit == CLI_OK) {
			count = count_not_given(&next.json);
			join(arena, &ask->json, &next.json);
			next.is_joined = true;
		}
		ask_release(ask);
		*ask = next;
	}
}

int fetch_rest_run(struct cli *cli, const struct client_request *request, const char *list, const char *lease,
		   struct ask *ask)
{
	fetch_rest_make(cli, request, list, lease, cli->arena, ask);
	if (ask->exit != CLI_OK)
		ask_report(cli, ask);
	return ask->exit;
}
