#include "engine/memory/origin.h"

#include "codec/json_member.h"

#include <stdio.h>
#include <stdlib.h>

enum { ORIGIN_BYTES_MAX = 4096, ORIGIN_DEPTH_MAX = 4 };
#define KEY_PREFIX "key-"

/* Only what people can read as it is, and not more of it than that. */
static struct str client_of(const struct op *op)
{
	struct str client = op->client_name;
	char *p;

	if (client.p == NULL)
		return STR_NULL;
	if (client.n > ORIGIN_CLIENT_MAX)
		client.n = ORIGIN_CLIENT_MAX;
	p = arena_alloc(op->arena, client.n + 1);
	for (size_t i = 0; i < client.n; i++)
		p[i] = client.p[i] >= ' ' && client.p[i] <= '~' ? client.p[i] : '?';
	return (struct str){p, client.n};
}

static struct str write_origin(const struct op *op, const char *protocol, const struct json *claimed)
{
	struct json_writer w;
	struct buf out;
	struct str text;

	buf_init(&out, 2 * ORIGIN_BYTES_MAX);
	json_writer_init(&w, &out);
	json_begin_object(&w);
	if (claimed) {
		json_key(&w, "claimed");
		json_put_canonical(&w, claimed);
	}
	json_member_optional(&w, "client", client_of(op));
	json_key(&w, "key");
	if (op->access)
		json_put_str(&w, arena_printf(op->arena, KEY_PREFIX "%llu", (unsigned long long)op->access->key));
	else
		json_put_null(&w);
	json_member_cstr(&w, "protocol", protocol);
	json_end_object(&w);
	text = arena_str(op->arena, buf_str(&out));
	buf_release(&out);
	return text;
}

struct str origin_of(const struct op *op)
{
	return write_origin(op, op->protocol ? op->protocol : "server", NULL);
}

static bool read_origin(struct str origin, struct arena *arena, struct json *ret)
{
	struct json_error error;

	return origin.p && origin.n <= ORIGIN_BYTES_MAX && json_parse(origin, ORIGIN_DEPTH_MAX, arena, ret, &error) &&
	       ret->type == JSON_OBJECT;
}

/* What was moved twice keeps the claim of where it began. */
struct str origin_moved(const struct op *op, struct str claimed)
{
	const struct json *first;
	struct json told;

	if (!read_origin(claimed, op->arena, &told))
		return write_origin(op, "transfer", NULL);
	first = json_get(&told, "claimed");
	return write_origin(op, "transfer", first && first->type == JSON_OBJECT ? first : &told);
}
