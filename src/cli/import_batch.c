/* How sending is made safe to repeat: the request's Idempotency-Key is a hash of its content, so that the server
 * answers a repetition with the first answer. Where that answer is no longer kept, the ids are found to be taken;
 * then what is stored is compared with what the file says, and what is the same counts as done.
 */
#include "cli/import_batch.h"

#include "base/mem.h"
#include "cli/fetch_rest.h"
#include "codec/rfc3339.h"
#include "codec/sha256.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum { BODY_MAX_BYTES = 64 * 1024 * 1024, KEY_SIZE = 7 + SHA256_HEX_SIZE, WARNINGS_MAX = 5 };

/* What the server computes; an import cannot set it. */
static const char *const computed_fields[] = {
	"version", "state", "digest", "updated_at", "superseded_by", "current_version", "score", "relevance", "origin",
	"flags", "below_floor", "explain", "warnings", NULL
};

void import_batch_init(struct import_batch *batch, size_t max_items)
{
	*batch = (struct import_batch){.room = max_items};
	arena_init(&batch->arena);
	batch->items = mem_calloc(max_items, sizeof(*batch->items));
}

void import_batch_clear(struct import_batch *batch)
{
	arena_release(&batch->arena);
	batch->count = 0;
	batch->bytes = 0;
}

void import_batch_release(struct import_batch *batch)
{
	arena_release(&batch->arena);
	free(batch->items);
}

void import_batch_add(struct import_batch *batch, const struct json *memory, uint64_t line, size_t bytes)
{
	assert(batch->count < batch->room);
	batch->items[batch->count++] = (struct import_item){
		.line = line,
		.id = id_number(ask_str(memory, "id")),
		.supersedes = id_number(ask_str(memory, "supersedes")),
		.memory = memory,
	};
	batch->bytes += bytes;
}

bool import_batch_holds(const struct import_batch *batch, uint64_t id)
{
	for (size_t i = 0; i < batch->count; i++)
		if (batch->items[i].id == id)
			return true;
	return false;
}

/* --- The request --- */

static bool is_computed(struct str key)
{
	for (const char *const *f = computed_fields; *f; f++)
		if (str_is(key, *f))
			return true;
	return false;
}

static void put_item(const struct import *import, const struct import_item *item, struct json_writer *w)
{
	const struct json *m = item->memory;

	json_begin_object(w);
	for (uint32_t i = 0; i < m->count; i++) {
		struct str key = m->members[i].key;

		/* An id that is not one ("ms-x") stays, for the server to say so. */
		if (is_computed(key) || str_is(key, "supersedes") || (str_is(key, "id") && import->new_ids))
			continue;
		json_key_str(w, key);
		json_put(w, &m->members[i].value);
	}
	if (item->supersedes) {
		char target[32];

		snprintf(target, sizeof(target), "ms-%llu", (unsigned long long)item->supersedes);
		json_member_cstr(w, "supersedes", target);
	}
	if (import->agent && json_get(m, "agent") == NULL)
		json_member_cstr(w, "agent", import->agent);
	json_end_object(w);
}

/* Returns how many there are to be sent. */
static size_t put_request(const struct import *import, const struct import_batch *batch, struct buf *out)
{
	struct json_writer w;
	size_t count = 0;

	json_writer_init(&w, out);
	json_begin_object(&w);
	json_key(&w, "memories");
	json_begin_array(&w);
	for (size_t i = 0; i < batch->count; i++)
		if (!batch->items[i].is_done) {
			put_item(import, &batch->items[i], &w);
			count++;
		}
	json_end_array(&w);
	json_end_object(&w);
	return count;
}

static void make_key(struct str body, char ret[KEY_SIZE])
{
	char hex[SHA256_HEX_SIZE];

	sha256_hex(body, hex);
	snprintf(ret, KEY_SIZE, "import-%s", hex);
}

/* The item that was sent at that place of the list. */
static struct import_item *sent_item(struct import_batch *batch, size_t index)
{
	for (size_t i = 0; i < batch->count; i++)
		if (!batch->items[i].is_done && index-- == 0)
			return &batch->items[i];
	return NULL;
}

/* --- Failure --- */

static int fail(struct import *import, uint64_t line, struct str code, struct str detail, int exit)
{
	import->failed_line = line;
	import->failed_code = arena_str(import->cli->arena, code);
	import->failed_detail = arena_str(import->cli->arena, detail);
	return exit;
}

/* "memories[3].content" is about the line of the fourth. */
static int fail_ask(struct import *import, struct import_batch *batch, const struct ask *ask)
{
	struct str field = ask->field, detail = ask->failure ? str_of(ask->failure) : ask->detail;
	const struct import_item *item = NULL;
	uint64_t index;

	if (str_has_prefix(field, STR("memories["))) {
		field = str_sub(field, 9, field.n);
		if (str_to_u64(str_cut(&field, ']'), &index))
			item = sent_item(batch, (size_t)index);
	}
	return fail(import, item ? item->line : 0, ask->code, detail, ask->exit);
}

/* --- What is there already --- */

/* Asks for the memories of these ids, which are written into *body. */
static void fetch(struct import *import, struct import_batch *batch, const uint64_t *ids, size_t count, struct ask *ret)
{
	struct client_request request = {.method = "POST", .path = "/v1/memories/fetch", .repeatable = true};
	struct json_writer w;
	struct buf body;

	buf_init(&body, BODY_MAX_BYTES);
	json_writer_init(&w, &body);
	json_begin_object(&w);
	json_key(&w, "ids");
	json_begin_array(&w);
	for (size_t i = 0; i < count; i++)
		json_put_str(&w, arena_printf(&batch->arena, "ms-%llu", (unsigned long long)ids[i]));
	json_end_array(&w);
	json_end_object(&w);
	request.body = buf_str(&body);
	ask_make(import->cli, &request, &batch->arena, ret);
	if (ret->exit == CLI_OK)
		fetch_rest_make(import->cli, &request, "ids", NULL, &batch->arena, ret);
	buf_release(&body);
}

static bool same_value(const struct json *a, const struct json *b)
{
	struct json_writer w;
	struct buf left, right;
	bool same;

	buf_init(&left, BODY_MAX_BYTES);
	buf_init(&right, BODY_MAX_BYTES);
	json_writer_init(&w, &left);
	json_put_canonical(&w, a);
	json_writer_init(&w, &right);
	json_put_canonical(&w, b);
	same = str_eq(buf_str(&left), buf_str(&right));
	buf_release(&left);
	buf_release(&right);
	return same;
}

/* Times may be written in many ways, and are answered in one. */
static bool same_time(const struct json *a, const struct json *b)
{
	int64_t a_ms, b_ms;

	return a->type == JSON_STRING && b->type == JSON_STRING && rfc3339_parse(a->s, &a_ms) &&
	       rfc3339_parse(b->s, &b_ms) && a_ms == b_ms;
}

/* The server drops tags that stand twice, and keeps the order. */
static bool same_tags(const struct json *line, const struct json *stored)
{
	uint32_t next = 0;

	if (line->type != JSON_ARRAY || stored->type != JSON_ARRAY)
		return false;
	for (uint32_t i = 0; i < line->count; i++) {
		uint32_t before = 0;

		while (before < i && !same_value(&line->items[before], &line->items[i]))
			before++;
		if (before < i)
			continue;
		if (next == stored->count || !same_value(&line->items[i], &stored->items[next++]))
			return false;
	}
	return next == stored->count;
}

/* What a field is that was not given, or given as null. */
static bool is_default(struct str key, const struct json *stored)
{
	static const struct { const char *key, *text; } texts[] = {
		{"kind", "note"}, {"importance", "medium"}, {"trust", "agent"}, {NULL, NULL},
	};

	for (size_t i = 0; texts[i].key; i++)
		if (str_is(key, texts[i].key))
			return stored->type == JSON_STRING && str_is(stored->s, texts[i].text);
	if (stored->type == JSON_ARRAY || stored->type == JSON_OBJECT)
		return stored->count == 0;
	return stored->type == JSON_NULL || (stored->type == JSON_BOOL && !stored->boolean);
}

static bool same_field(struct str key, const struct json *line, const struct json *stored)
{
	if (line->type == JSON_NULL)
		return is_default(key, stored) || str_is(key, "created_at");
	if (str_is(key, "created_at") || str_is(key, "expires_at"))
		return same_time(line, stored);
	if (str_is(key, "tags"))
		return same_tags(line, stored);
	return str_is(key, "ttl_s") || same_value(line, stored);
}

/* Everything that the line says is so. What it does not say, and what the server does not know, is not compared. */
static bool is_same(const struct import_item *item, const struct json *stored)
{
	for (uint32_t i = 0; i < item->memory->count; i++) {
		const struct json_member *m = &item->memory->members[i];
		const struct json *there = json_get_str(stored, m->key);

		if (is_computed(m->key) || (str_is(m->key, "supersedes") && item->supersedes == 0))
			continue;
		if (there && !same_field(m->key, &m->value, there))
			return false;
	}
	return true;
}

static const struct json *find_memory(const struct json *memories, uint64_t id)
{
	for (uint32_t i = 0; i < memories->count; i++)
		if (id_number(ask_str(&memories->items[i], "id")) == id)
			return &memories->items[i];
	return NULL;
}

static int fail_taken(struct import *import, const struct import_item *item)
{
	return fail(import, item->line, STR("id_taken"),
		    arena_printf(import->cli->arena, "ms-%llu is taken by another memory; --new-ids gives the imported "
				 "ones new ids", (unsigned long long)item->id), CLI_CONFLICT);
}

/* Something is stored already: marks as done what is stored already just as the file says. Fails where it is stored
 * differently. */
static int settle_taken(struct import *import, struct import_batch *batch, const struct ask *refusal)
{
	uint64_t *ids = arena_calloc(&batch->arena, batch->count, sizeof(*ids));
	size_t count = 0, settled = 0;
	const struct json *memories, *missing;
	int code = CLI_OK;
	struct ask ask;

	for (size_t i = 0; i < batch->count; i++)
		if (!batch->items[i].is_done && batch->items[i].id)
			ids[count++] = batch->items[i].id;
	fetch(import, batch, ids, count, &ask);
	if (ask.exit != CLI_OK)
		code = fail_ask(import, batch, &ask);
	memories = ask_array(&ask.json, "memories");
	missing = ask_array(&ask.json, "missing");
	for (size_t i = 0; i < batch->count && code == CLI_OK; i++) {
		struct import_item *item = &batch->items[i];
		const struct json *stored = item->is_done || !item->id ? NULL : find_memory(memories, item->id);
		const struct json *gone = item->is_done || !item->id ? NULL : find_memory(missing, item->id);

		if (gone && str_is(ask_str(gone, "reason"), "forgotten"))
			code = fail_taken(import, item);
		if (stored && !is_same(item, stored))
			code = fail_taken(import, item);
		if (stored && code == CLI_OK) {
			item->is_done = true;
			import->counts.unchanged++;
			settled++;
		}
	}
	/* Without anything settled the same request would be refused again, and again. */
	if (code == CLI_OK && settled == 0)
		code = fail_ask(import, batch, refusal);
	ask_release(&ask);
	return code;
}

/* --- Links --- */

static void unlink_item(struct import *import, struct import_item *item)
{
	item->supersedes = 0;
	import->counts.unlinked++;
}

/* What is superseded stood further up in the file, or must be in the space; what is in neither was forgotten. */
static int check_links(struct import *import, struct import_batch *batch)
{
	uint64_t *ids = arena_calloc(&batch->arena, batch->count, sizeof(*ids));
	const struct json *missing;
	uint64_t line, renamed;
	size_t count = 0;
	struct ask ask;

	for (size_t i = 0; i < batch->count; i++) {
		struct import_item *item = &batch->items[i];

		if (item->supersedes == 0)
			continue;
		if (import->new_ids && id_map_get(&import->renamed, item->supersedes, &renamed))
			item->supersedes = renamed;
		else if (import->new_ids)
			unlink_item(import, item);
		else if (!id_map_get(&import->lines, item->supersedes, &line) || line > item->line)
			ids[count++] = item->supersedes;
	}
	if (count == 0)
		return CLI_OK;
	fetch(import, batch, ids, count, &ask);
	missing = ask_array(&ask.json, "missing");
	for (size_t i = 0; i < batch->count && ask.exit == CLI_OK; i++)
		if (batch->items[i].supersedes && find_memory(missing, batch->items[i].supersedes))
			unlink_item(import, &batch->items[i]);
	if (ask.exit != CLI_OK)
		fail_ask(import, batch, &ask);
	ask_release(&ask);
	return ask.exit;
}

/* --- Sending --- */

/* A field that is not known stands in every line, as a rule. */
static void warn(struct import *import, const struct json *warning)
{
	import->warnings++;
	if (import->warnings <= WARNINGS_MAX)
		cli_note(import->cli, "spine: warning: %.*s: %.*s", STR_ARG(ask_str(warning, "field")),
			 STR_ARG(ask_str(warning, "detail")));
	else if (import->warnings == WARNINGS_MAX + 1)
		cli_note(import->cli, "spine: warning: (and so on)");
}

static void note_stored(struct import *import, struct import_batch *batch, const struct ask *ask)
{
	const struct json *memories = ask_array(&ask->json, "memories");
	const struct json *warnings = ask_array(&ask->json, "warnings");
	/* The first answer again, to an earlier import. (One of several calls may repeat what another of them did.) */
	bool was_there = ask->reply.is_replayed && ask->reply.calls == 1;
	size_t at = 0;

	for (size_t i = 0; i < batch->count; i++) {
		struct import_item *item = &batch->items[i];
		uint64_t stored = 0, successor = id_number(ask_str(item->memory, "superseded_by"));

		if (item->is_done)
			continue;
		if (successor)
			id_map_put(&import->successors, successor, item->line);
		if (at < memories->count)
			stored = id_number(ask_str(&memories->items[at++], "id"));
		if (import->new_ids && item->id && stored)
			id_map_put(&import->renamed, item->id, stored);
		item->is_done = true;
		if (was_there)
			import->counts.unchanged++;
		else
			import->counts.imported++;
	}
	for (uint32_t i = 0; i < warnings->count; i++)
		warn(import, &warnings->items[i]);
}

/* Refusals that a memory gets which is stored already: its id is taken, and what it supersedes is superseded, by
 * itself. */
static bool is_about_stored(struct str code)
{
	return str_is(code, "id_taken") || str_is(code, "already_superseded");
}

static int send_rest(struct import *import, struct import_batch *batch, bool *ret_again)
{
	struct client_request request = {.method = "POST", .path = "/v1/memories/batch", .creates = true};
	char key[KEY_SIZE];
	struct buf body;
	struct ask ask;
	int code = CLI_OK;

	*ret_again = false;
	buf_init(&body, BODY_MAX_BYTES);
	if (put_request(import, batch, &body) > 0) {
		make_key(buf_str(&body), key);
		request.body = buf_str(&body);
		request.idempotency_key = key;
		ask_make(import->cli, &request, &batch->arena, &ask);
		if (ask.exit == CLI_OK) {
			note_stored(import, batch, &ask);
		} else if (is_about_stored(ask.code) && !import->new_ids) {
			code = settle_taken(import, batch, &ask);
			*ret_again = code == CLI_OK;
		} else {
			code = fail_ask(import, batch, &ask);
		}
		ask_release(&ask);
	}
	buf_release(&body);
	return code;
}

int import_batch_send(struct import *import, struct import_batch *batch)
{
	bool again = true;
	int code = check_links(import, batch);

	while (code == CLI_OK && again)
		code = send_rest(import, batch, &again);
	return code;
}
