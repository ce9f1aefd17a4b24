/* What the server says about itself, for programs: JSON Schemas of the envelopes, and the whole API as OpenAPI.
 *
 * The documents are written by hand in schemas/ and are part of the binary (schemas.S). Tests compare them with what
 * the server does. They need no key, so none of them is copied for who asks: strangers could have many copies made.
 */
#include "api/describe/descriptions.h"
#include "api/describe/openapi.h"
#include "api/routes.h"

#include <pthread.h>

extern const char schema_envelope_1_start[], schema_envelope_1_end[];
extern const char schema_envelope_2_start[], schema_envelope_2_end[];

struct schema {
	const char *name;
	const char *title;
	const char *start;
	const char *end;
};

static const struct schema schemas[] = {
	{"envelope-2.json", "Envelope, version 2", schema_envelope_2_start, schema_envelope_2_end},
	{"envelope-1.json", "Envelope, version 1", schema_envelope_1_start, schema_envelope_1_end},
};
enum { SCHEMAS = sizeof(schemas) / sizeof(schemas[0]), OPENAPI_MAX = 16 << 20 };

/* --- GET /v1/schemas --- */

static void encode_list(struct call *call)
{
	struct json_writer w;

	json_writer_init(&w, &call->reply);
	json_begin_object(&w);
	json_key(&w, "schemas");
	json_begin_array(&w);
	for (size_t i = 0; i < SCHEMAS; i++) {
		json_begin_object(&w);
		json_member_cstr(&w, "name", schemas[i].name);
		json_member_cstr(&w, "title", schemas[i].title);
		json_member_str(&w, "url", arena_printf(call->op->arena, "/v1/schemas/%s", schemas[i].name));
		json_end_object(&w);
	}
	json_end_array(&w);
	call_end_reply(call, &w);
}

/* --- GET /v1/schemas/{name} --- */

static enum problem_code decode_one(struct call *call)
{
	struct str name = call->params[0];

	for (size_t i = 0; i < SCHEMAS; i++) {
		if (!str_is(name, schemas[i].name))
			continue;
		call->input = (void *)&schemas[i];
		return P_OK;
	}
	return call_refuse(call, P_NOT_FOUND, "name",
			   "there is no schema \"%.*s\"; GET /v1/schemas lists them", (int)(name.n < 64 ? name.n : 64),
			   name.p);
}

static void encode_one(struct call *call)
{
	const struct schema *s = call->input;

	call->content_type = "application/schema+json";
	buf_share(&call->reply, (struct str){s->start, (size_t)(s->end - s->start)});
}

/* --- GET /openapi.json --- */

/* The same bytes each time: made when somebody asks first, and kept. */
static struct buf openapi;

static void make_openapi(void)
{
	buf_init(&openapi, OPENAPI_MAX);
	openapi_write(&openapi);
}

static void encode_openapi(struct call *call)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_openapi);
	buf_share(&call->reply, buf_str(&openapi));
}

const struct route schema_routes[] = {
	{HTTP_GET, "/v1/schemas", &nothing_kind, &describe_list_schemas, NULL, encode_list},
	{HTTP_GET, "/v1/schemas/{}", &nothing_kind, &describe_read_schema, decode_one, encode_one},
	{HTTP_GET, "/openapi.json", &nothing_kind, &describe_openapi, NULL, encode_openapi},
	{0},
};
