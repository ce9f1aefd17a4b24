/* Keys. What is made in secret is made here: the engine takes chance as an argument. */
#include "api/describe/descriptions.h"
#include "api/routes.h"
#include "api/translate.h"
#include "base/mem.h"
#include "engine/access/key_change.h"
#include "engine/access/key_create.h"

#include <stdlib.h>
#include <sys/random.h>

static enum problem_code decode_create(struct call *call)
{
	struct key_create *k = call_op(call);

	if (k->order.expires_at_ms && k->order.ttl_ms)
		return call_refuse(call, P_INVALID_FIELD, "ttl_s", "both expires_at and ttl_s are given; give one");
	if (getentropy(k->order.random, sizeof(k->order.random)) != 0)
		abort();
	return P_OK;
}

static enum problem_code decode_rotate(struct call *call)
{
	struct key_change *k = call_op(call);

	if (getentropy(k->random, sizeof(k->random)) != 0)
		abort();
	return P_OK;
}

/* The reply is the only copy then. */
static void encode_create(struct call *call)
{
	struct key_create *k = call_op(call);

	translate_write(call);
	mem_wipe((char *)k->text.p, k->text.n);
	mem_wipe(k->order.random, sizeof(k->order.random));
}

static void encode_rotate(struct call *call)
{
	struct key_change *k = call_op(call);

	translate_write(call);
	mem_wipe((char *)k->text.p, k->text.n);
	mem_wipe(k->random, sizeof(k->random));
}

const struct route access_routes[] = {
	{HTTP_POST, "/v1/keys", &key_create_kind, &describe_create_key, decode_create, encode_create},
	{HTTP_GET, "/v1/keys", &key_list_kind, &describe_list_keys, NULL, NULL},
	{HTTP_GET, "/v1/keys/{}", &key_get_kind, &describe_read_key, NULL, NULL},
	{HTTP_POST, "/v1/keys/{}/rotate", &key_rotate_kind, &describe_rotate_key, decode_rotate, encode_rotate},
	{HTTP_POST, "/v1/keys/{}/revoke", &key_revoke_kind, &describe_revoke_key, NULL, NULL},
	{0},
};
