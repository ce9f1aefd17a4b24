/* What goes through this node to another one and back: the head of an answer, line by line as libcurl gives it, and
 * the header of the request. What goes on is one line each, and what is of a connection alone goes no further. */
#include "fuzz.h"

#include "net/http_pass_head.h"

static const struct http_limits limits = {.max_header_bytes = 8192, .max_headers = 32, .max_uri_bytes = 500};
static const char *const of_connection[] = {
	"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
	"transfer-encoding", "upgrade", "content-length",
};

static bool is_of_connection(struct str name)
{
	for (size_t i = 0; i < sizeof(of_connection) / sizeof(of_connection[0]); i++)
		if (str_ieq(name, str_of(of_connection[i])))
			return true;
	return false;
}

static bool is_one_line(struct str s)
{
	return s.n == 0 || (!memchr(s.p, '\r', s.n) && !memchr(s.p, '\n', s.n) && !memchr(s.p, '\0', s.n));
}

static bool is_token(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] <= ' ' || s.p[i] >= 0x7f || strchr("()<>@,;:\\\"/[]?={}", s.p[i]))
			return false;
	return s.n > 0;
}

/* --- The answer --- */

static struct str next_line(struct str *rest)
{
	size_t n = str_find(*rest, '\n');
	struct str line = str_sub(*rest, 0, n < rest->n ? n + 1 : n);

	*rest = str_sub(*rest, line.n, rest->n);
	return line;
}

static bool goes_on(const struct http_pass_head *head, struct str name)
{
	for (size_t i = 0; i < head->count; i++)
		if (str_ieq(str_of(head->list[i].name), name))
			return true;
	return false;
}

static void check_fields(const struct http_pass_head *head)
{
	for (size_t i = 0; i < head->count; i++) {
		struct str name = str_of(head->list[i].name);

		PROMISE(is_token(name), "a name is a token");
		PROMISE(is_one_line(head->list[i].value), "a value is one line");
		PROMISE(!is_of_connection(name), "what is of a connection goes no further");
		PROMISE(!str_ieq(name, STR("date")) && !str_ieq(name, STR("spine-node")),
			"this node's headers are its own");
	}
	PROMISE(head->list == NULL || head->list[head->count].name == NULL, "a list has an end");
}

/* lines: those of the last head, without the first one. */
static void check_whole(const struct http_pass_head *head, struct str lines)
{
	PROMISE(head->status >= 200 && head->status <= 599, "an answer has a status");
	PROMISE(head->bytes <= HTTP_PASS_HEADERS_BYTES && head->length >= -1, "an answer has limits");
	while (lines.n > 0) {
		struct str value = next_line(&lines), name = str_cut(&value, ':');

		while (value.n > 0 && (value.p[value.n - 1] == '\n' || value.p[value.n - 1] == '\r'))
			value.n--;
		if (str_ieq(name, STR("connection")))
			while (value.n > 0)
				PROMISE(!goes_on(head, str_trim(str_cut(&value, ','))),
					"what a Connection header names goes no further");
		else if (str_ieq(name, STR("transfer-encoding")))
			PROMISE(head->length == -1, "a body in chunks has no other length");
	}
}

static void read_answer(struct str text)
{
	static const struct http_header own[] = {{"Spine-Node", {"n1", 2}}, {NULL, {NULL, 0}}};
	struct http_req req = {.headers = own};
	struct http_pass_head head;
	struct str last = text, lines = text;

	arena_init(&req.arena);
	http_pass_head_init(&head, &req, "Spine-Undone");
	while (text.n > 0 && !head.is_whole) {
		struct str line = next_line(&text);

		if (str_has_prefix(line, STR("HTTP/")))
			last = text;
		if (!http_pass_head_line(&head, line))
			break;
	}
	if (head.is_whole) {
		lines = str_sub(last, 0, (size_t)(text.p - last.p));
		check_fields(&head);
		check_whole(&head, lines);
	}
	arena_release(&req.arena);
}

/* --- The request --- */

static void check_lines(const struct curl_slist *lines)
{
	for (; lines; lines = lines->next) {
		struct str line = str_of(lines->data);
		size_t n = strcspn(lines->data, ":;");

		PROMISE(is_one_line(line) && n < line.n && is_token(str_sub(line, 0, n)), "a line has a name");
		/* "Name:" without a value takes away what libcurl would add. */
		if (line.p[n] == ':' && n + 1 == line.n)
			continue;
		PROMISE(!is_of_connection(str_sub(line, 0, n)), "what is of a connection goes no further");
		PROMISE(!str_ieq(str_sub(line, 0, n), STR("cookie")), "what is dropped goes no further");
		PROMISE(!str_ieq(str_sub(line, 0, n), STR("spine-passed")) || str_eq(line, STR("Spine-Passed: sealed")),
			"nobody passes for a node");
	}
}

static void pass_request(char *data, size_t size)
{
	static const struct http_header extra[] = {{"Spine-Passed", {"sealed", 6}}, {NULL, {NULL, 0}}};
	static const char *const drop[] = {"cookie", NULL};
	static struct http_conn conn;
	const struct http_pass_order order = {.extra_headers = extra, .drop_headers = drop};
	const struct http_problem *problem = NULL;
	struct http_field fields[32];
	struct http_scan scan = {0};
	struct curl_slist *lines;
	struct http_head head;
	struct http_req *req;

	if (http_scan(&scan, (struct str){data, size}, &limits, &problem) != HTTP_SCAN_DONE ||
	    http_head_parse(data, scan.at, &limits, fields, &head) != NULL)
		return;
	req = http_req_new(&conn, &head, (struct str){data, scan.at});
	lines = http_pass_lines(req, &order);
	check_lines(lines);
	curl_slist_free_all(lines);
	arena_release(&req->arena);
	free(req);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t choice = fuzz_choice(&data, &size);
	char *copy = malloc(size + 1);

	memcpy(copy, data, size);
	if (choice & 0x80)
		pass_request(copy, size);
	else
		read_answer((struct str){copy, size});
	free(copy);
	return 0;
}
