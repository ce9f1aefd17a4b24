#include "net/http_pass_head.h"

#include "base/mem.h"

#include <strings.h>

enum { FIRST_HEADERS = 16, HEADERS_MAX = 256 };

/* --- Which go no further ----------------------------------------------------------------------- */

static bool is_one_of(struct str name, const char *const *names)
{
	for (; names && *names; names++)
		if (str_ieq(name, str_of(*names)))
			return true;
	return false;
}

static bool is_in(struct str name, const struct http_header *headers)
{
	for (; headers && headers->name; headers++)
		if (str_ieq(name, str_of(headers->name)))
			return true;
	return false;
}

/* connection is the value of a Connection header, which names others that are of this connection alone. */
static bool is_named(struct str name, struct str connection)
{
	while (connection.n > 0)
		if (str_ieq(str_trim(str_cut(&connection, ',')), name))
			return true;
	return false;
}

static bool is_of_connection(struct str name, struct str connection)
{
	static const char *const names[] = {
		"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te",
		"trailer", "transfer-encoding", "upgrade", "content-length", NULL,
	};

	return is_one_of(name, names) || is_named(name, connection);
}

/* --- The request ------------------------------------------------------------------------------- */

static void append(struct curl_slist **lines, const char *line)
{
	struct curl_slist *longer = curl_slist_append(*lines, line);

	if (longer == NULL)
		mem_exhausted(strlen(line));
	*lines = longer;
}

/* A name and a colon without a value would take the header away; a semicolon is how an empty value is said. */
void http_pass_add_line(struct curl_slist **lines, struct buf *room, struct str name, struct str value)
{
	buf_clear(room);
	buf_put(room, name);
	buf_puts(room, value.n ? ": " : ";");
	buf_put(room, value);
	append(lines, buf_str(room).p);
}

static bool goes_on(struct str name, struct str connection, const struct http_pass_order *order)
{
	static const char *const made_anew[] = {"host", "expect", NULL};

	return !is_of_connection(name, connection) && !is_one_of(name, made_anew) &&
	       !is_one_of(name, order->drop_headers) && !is_in(name, order->extra_headers);
}

struct curl_slist *http_pass_lines(const struct http_req *req, const struct http_pass_order *order)
{
	static const char *const unwanted[] = {"Accept", "Content-Type", NULL};
	struct str connection = http_req_header(req, "connection");
	struct curl_slist *lines = NULL;
	struct buf room;

	buf_init(&room, SIZE_MAX / 2);
	room.is_secret = true;
	/* Otherwise libcurl asks first whether it may send a large body, and waits a second for an answer. */
	append(&lines, "Expect:");
	for (const char *const *name = unwanted; *name; name++)
		if (!is_in(str_of(*name), order->extra_headers) &&
		    (http_req_header(req, name == unwanted ? "accept" : "content-type").p == NULL ||
		     !goes_on(str_of(*name), connection, order))) {
			buf_clear(&room);
			buf_printf(&room, "%s:", *name);
			append(&lines, buf_str(&room).p);
		}
	for (uint32_t i = 0; i < req->fields_len; i++) {
		const struct http_field *f = &req->fields[i];
		struct str name = {req->text + f->name_at, f->name_len};

		if (name.n > 0 && goes_on(name, connection, order))
			http_pass_add_line(&lines, &room, name, (struct str){req->text + f->value_at, f->value_len});
	}
	for (const struct http_header *h = order->extra_headers; h && h->name; h++)
		http_pass_add_line(&lines, &room, str_of(h->name), h->value.p ? h->value : STR(""));
	buf_release(&room);
	return lines;
}

/* --- The answer -------------------------------------------------------------------------------- */

void http_pass_head_init(struct http_pass_head *head, struct http_req *req, const char *undone_name)
{
	*head = (struct http_pass_head){.req = req, .length = -1, .undone_name = undone_name};
}

/* "HTTP/1.1 200 OK". Another head may have come before it, that of a 1xx; within one there is no such line. */
static bool read_status(struct http_pass_head *head, struct str line)
{
	size_t bytes = head->bytes;
	uint64_t status;

	if (!str_has_prefix(line, STR("HTTP/1.")) || line.n < 12 || !str_to_u64(str_sub(line, 9, 12), &status))
		return false;
	http_pass_head_init(head, head->req, head->undone_name);
	head->bytes = bytes;
	head->status = (int)status;
	return head->status >= 100 && head->status <= 599;
}

static bool keep(struct http_pass_head *head, struct str name, struct str value)
{
	struct arena *arena = http_req_arena(head->req);

	if (head->count == HEADERS_MAX)
		return false;
	if (head->count == head->cap) {
		size_t cap = head->cap ? head->cap * 2 : FIRST_HEADERS;
		struct http_header *list = arena_calloc(arena, cap + 1, sizeof(*list));

		if (head->count > 0)
			memcpy(list, head->list, head->count * sizeof(*list));
		head->list = list;
		head->cap = cap;
	}
	head->list[head->count++] = (struct http_header){arena_cstr(arena, name), arena_str(arena, value)};
	return true;
}

/* Two lengths are none: it cannot be told which one libcurl goes by. */
static bool read_length(struct http_pass_head *head, struct str value)
{
	uint64_t length;

	if (!str_to_u64(value, &length) || length > INT64_MAX ||
	    (head->length >= 0 && (uint64_t)head->length != length))
		return false;
	head->length = (int64_t)length;
	return true;
}

static bool read_connection(struct http_pass_head *head, struct str value)
{
	if (head->connection_count == HTTP_PASS_CONNECTIONS_MAX)
		return false;
	head->connections[head->connection_count++] = arena_str(http_req_arena(head->req), value);
	return true;
}

static bool read_field(struct http_pass_head *head, struct str line)
{
	struct str value = line, name;

	if (str_find(line, ':') >= line.n)
		return false;
	name = str_cut(&value, ':');
	value = str_trim(value);
	if (!http_head_is_token(name) || memchr(value.p, '\r', value.n) || memchr(value.p, '\0', value.n))
		return false;
	if (str_ieq(name, STR("content-length")))
		return read_length(head, value);
	if (str_ieq(name, STR("connection")))
		return read_connection(head, value);
	if (str_ieq(name, STR("transfer-encoding")))
		head->is_coded = true;
	else if (str_ieq(name, STR("content-type")))
		head->is_events = value.n >= 17 && str_ieq(str_sub(value, 0, 17), STR("text/event-stream"));
	else if (head->undone_name && str_ieq(name, str_of(head->undone_name)))
		head->undone = arena_str(http_req_arena(head->req), value);
	if (is_of_connection(name, STR_NULL) || str_ieq(name, STR("date")) || is_in(name, head->req->headers))
		return true;
	return keep(head, name, value);
}

static bool is_named_by_answer(const struct http_pass_head *head, struct str name)
{
	for (size_t i = 0; i < head->connection_count; i++)
		if (is_named(name, head->connections[i]))
			return true;
	return false;
}

/* What a Connection header has named; that may stand behind. */
static void drop_named(struct http_pass_head *head)
{
	size_t kept = 0;

	for (size_t i = 0; i < head->count; i++)
		if (!is_named_by_answer(head, str_of(head->list[i].name)))
			head->list[kept++] = head->list[i];
	head->count = kept;
	if (head->list)
		head->list[kept] = (struct http_header){0};
}

bool http_pass_head_line(struct http_pass_head *head, struct str line)
{
	struct str text = line;

	/* Of the body's trailer nothing is given on. */
	if (head->is_whole)
		return true;
	head->bytes += line.n;
	if (head->bytes > HTTP_PASS_HEADERS_BYTES)
		return false;
	while (text.n > 0 && (text.p[text.n - 1] == '\n' || text.p[text.n - 1] == '\r'))
		text.n--;
	if (text.n > 0)
		return head->status == 0 ? read_status(head, text) : read_field(head, text);
	head->is_whole = head->status >= 200;
	if (!head->is_whole)
		head->status = 0;
	/* Beside it a length means nothing (RFC 9112, 6.3): libcurl goes by the chunks. */
	if (head->is_coded)
		head->length = -1;
	drop_named(head);
	return true;
}
