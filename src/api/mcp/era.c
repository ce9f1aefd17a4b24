#include "api/mcp/era.h"

#include "codec/base64.h"
#include "codec/sha256.h"

#include <assert.h>
#include <stdio.h>
#include <sys/random.h>

#define META_VERSION "io.modelcontextprotocol/protocolVersion"
#define META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"

static const char *const names[MCP_VERSIONS] = {"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"};

const char *mcp_version_name(enum mcp_version version)
{
	return names[version];
}

enum mcp_version mcp_version_of(struct str name)
{
	enum mcp_version version = MCP_2025_03_26;

	while (version < MCP_VERSIONS && !str_is(name, names[version]))
		version++;
	return version;
}

/* --- What the client can do --- */

static bool has_object(const struct json *of, const char *key)
{
	const struct json *value = json_get(of, key);

	return value && value->type == JSON_OBJECT;
}

/* One that names only the other mode cannot show a form. */
static bool shows_forms(const struct json *capabilities)
{
	const struct json *elicitation = json_get(capabilities, "elicitation");

	return has_object(capabilities, "elicitation") &&
	       (elicitation->count == 0 || json_get(elicitation, "form") || !json_get(elicitation, "url"));
}

unsigned era_client(const struct json *capabilities)
{
	return (shows_forms(capabilities) ? MCP_CAN_ELICIT : 0u) |
	       (has_object(capabilities, "sampling") ? MCP_CAN_SAMPLE : 0u) |
	       (has_object(capabilities, "roots") ? MCP_CAN_ROOTS : 0u) |
	       (has_object(json_get(capabilities, "extensions"), "io.modelcontextprotocol/tasks") ? MCP_CAN_TASKS : 0u);
}

/* --- Sessions: "mcp-VERSION.CLIENT.RANDOM.OWNER", all of it in hexadecimal digits --- */

#define SESSION_FORM "mcp-0.0.00000000000000000000000000000000.0000000000000000"
enum { RANDOM_END = sizeof("mcp-0.0.00000000000000000000000000000000") - 1, OWNER_DIGITS = 16 };

static_assert((int)sizeof(SESSION_FORM) <= (int)MCP_SESSION_SIZE, "a session fits");

/* Ties what stands before it to the key that made it (0: nobody needed one). Who has another key can make sessions of
 * its own only: those that others were given are none to it. */
static struct str owner_of(struct str begin, uint64_t key, char hex[SHA256_HEX_SIZE])
{
	char of[MCP_SESSION_SIZE + 32];

	snprintf(of, sizeof(of), "mcp session of key-%llu: %.*s", (unsigned long long)key, STR_ARG(begin));
	sha256_hex(str_of(of), hex);
	return (struct str){hex, OWNER_DIGITS};
}

void era_session(enum mcp_version version, unsigned client, uint64_t key, char ret[MCP_SESSION_SIZE])
{
	uint64_t chance[2] = {0};
	char hex[SHA256_HEX_SIZE];

	/* That two are not the same is all that is asked of it: who one is, the key says. */
	if (getentropy(chance, sizeof(chance)) != 0)
		chance[0] = (uint64_t)(uintptr_t)ret;
	snprintf(ret, MCP_SESSION_SIZE, "mcp-%x.%x.%016llx%016llx", (unsigned)version, client & 0xf,
		 (unsigned long long)chance[0], (unsigned long long)chance[1]);
	snprintf(ret + RANDOM_END, MCP_SESSION_SIZE - RANDOM_END, ".%.*s", STR_ARG(owner_of(str_of(ret), key, hex)));
}

static bool read_session(struct mcp_call *m)
{
	struct str s = m->session;
	char hex[SHA256_HEX_SIZE];

	if (s.n != sizeof(SESSION_FORM) - 1 || !str_has_prefix(s, STR("mcp-")) || s.p[5] != '.' || s.p[7] != '.' ||
	    s.p[RANDOM_END] != '.')
		return false;
	for (size_t i = 8; i < RANDOM_END; i++)
		if (str_hex_digit(s.p[i]) < 0)
			return false;
	if (str_hex_digit(s.p[4]) < 0 || str_hex_digit(s.p[4]) >= MCP_2026_07_28 || str_hex_digit(s.p[6]) < 0)
		return false;
	m->client = (unsigned)str_hex_digit(s.p[6]);
	return str_eq(str_sub(s, RANDOM_END + 1, s.n), owner_of(str_sub(s, 0, RANDOM_END), mcp_key(m), hex));
}

/* --- Before 2026-07-28 --- */

static bool unsupported(struct mcp_call *m, struct str version)
{
	struct buf data;
	struct json_writer w;

	buf_init(&data, 4096);
	json_writer_init(&w, &data);
	json_begin_object(&w);
	json_key(&w, "supported");
	json_begin_array(&w);
	for (int i = MCP_VERSIONS - 1; i >= 0; i--)
		json_put_cstr(&w, names[i]);
	json_end_array(&w);
	json_member_str(&w, "requested", mcp_short(version));
	json_end_object(&w);
	mcp_error_data(m, MCP_UNSUPPORTED_VERSION, buf_str(&data), "this server does not speak version %.*s of the "
		       "protocol", STR_ARG(mcp_short(version)));
	buf_release(&data);
	return false;
}

static bool read_legacy(struct mcp_call *m, struct str version)
{
	m->version = version.p ? mcp_version_of(version) : MCP_2025_03_26;
	m->session = http_req_header(m->req, "mcp-session-id");
	if (m->session.p && !read_session(m)) {
		m->session = STR_NULL;
		mcp_error(m, MCP_SESSION_NOT_FOUND, "Mcp-Session-Id is not a session of this server; send initialize");
		return false;
	}
	return true;
}

/* --- 2026-07-28 --- */

static bool mismatch(struct mcp_call *m, const char *header, struct str has, struct str wants)
{
	if (has.p == NULL)
		mcp_error(m, MCP_HEADER_MISMATCH, "the header %s is missing; expected %.*s", header,
			  STR_ARG(mcp_short(wants)));
	else
		mcp_error(m, MCP_HEADER_MISMATCH, "the header %s is %.*s, but the body says %.*s", header,
			  STR_ARG(mcp_short(has)), STR_ARG(mcp_short(wants)));
	return false;
}

/* A value that no header can hold stands in it as "=?base64?…?=". */
static struct str decoded(struct mcp_call *m, struct str value)
{
	struct buf text;

	if (value.n < 11 || !str_has_prefix(value, STR("=?base64?")) || !str_has_suffix(value, STR("?=")))
		return value;
	buf_init(&text, value.n);
	if (!base64_decode(str_sub(value, 9, value.n - 2), BASE64_PADDED, &text) || !str_is_utf8(buf_str(&text)))
		buf_clear(&text);
	value = arena_str(m->call.op->arena, buf_str(&text));
	buf_release(&text);
	return value;
}

/* Which member of params stands in Mcp-Name, too; NULL: none does. */
static const char *named_by(struct str method)
{
	static const char *const by[][2] = {
		{"tools/call", "name"}, {"prompts/get", "name"}, {"resources/read", "uri"}, {"tasks/get", "taskId"},
		{"tasks/update", "taskId"}, {"tasks/cancel", "taskId"},
	};

	for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++)
		if (str_is(method, by[i][0]))
			return by[i][1];
	return NULL;
}

static bool check_headers(struct mcp_call *m)
{
	struct str method = http_req_header(m->req, "mcp-method"), name = http_req_header(m->req, "mcp-name");
	const char *member = named_by(m->method);
	struct str wants = member ? mcp_param(m, member) : STR_NULL;

	/* A notification need not have them. */
	if (m->id == NULL)
		return true;
	if (method.p == NULL || !str_eq(method, m->method))
		return mismatch(m, "Mcp-Method", method, m->method);
	if (wants.p && (name.p == NULL || !str_eq(decoded(m, name), wants)))
		return mismatch(m, "Mcp-Name", name, wants);
	return true;
}

static bool read_modern(struct mcp_call *m, struct str header)
{
	const struct json *version = json_get(m->meta, META_VERSION);
	const struct json *capabilities = json_get(m->meta, META_CAPABILITIES);

	m->version = MCP_2026_07_28;
	if (header.p == NULL)
		return mismatch(m, "MCP-Protocol-Version", header, STR("the version in _meta"));
	if (version == NULL || version->type != JSON_STRING || capabilities == NULL ||
	    capabilities->type != JSON_OBJECT) {
		mcp_error(m, MCP_INVALID_PARAMS, "params._meta lacks " META_VERSION " (a text) or " META_CAPABILITIES
			  " (an object)");
		return false;
	}
	if (!str_eq(header, version->s))
		return mismatch(m, "MCP-Protocol-Version", header, version->s);
	if (mcp_version_of(header) != MCP_2026_07_28)
		return unsupported(m, header);
	m->client = era_client(capabilities);
	return check_headers(m);
}

bool era_read(struct mcp_call *m)
{
	struct str header = http_req_header(m->req, "mcp-protocol-version");
	const struct json *in_body = json_get(m->meta, META_VERSION);

	if (in_body || str_is(header, names[MCP_2026_07_28]))
		return m->id || in_body ? read_modern(m, header) : true;
	if (header.p && mcp_version_of(header) == MCP_VERSIONS)
		return unsupported(m, header);
	return read_legacy(m, header);
}
