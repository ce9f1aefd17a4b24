#include "net/http_head.h"

static const struct http_problem problem_control = {400, "bad_request",
	"The request holds a control character (a NUL, a bare CR, or the start of TLS on this plain HTTP port)."};
static const struct http_problem problem_bare_lf = {400, "bad_request", "A line of the request ends in LF without CR."};
static const struct http_problem problem_blank = {400, "bad_request", "The request begins with empty lines."};
static const struct http_problem problem_folded = {400, "bad_header", "A header line is folded."};
static const struct http_problem problem_head_large = {431, "headers_too_large",
	"The request's headers are too large."};
static const struct http_problem problem_many = {431, "too_many_headers", "The request has too many header fields."};
static const struct http_problem problem_uri = {414, "uri_too_long", "The request's target is too long."};
static const struct http_problem problem_line = {400, "bad_request",
	"The request line is not METHOD SP TARGET SP VERSION."};
static const struct http_problem problem_version = {505, "http_version", "Only HTTP/1.0 and HTTP/1.1 are spoken here."};
static const struct http_problem problem_method = {501, "method_unknown", "The request's method is not known here."};
static const struct http_problem problem_connect = {501, "method_unknown", "CONNECT is not offered: this is no proxy."};
static const struct http_problem problem_target = {400, "bad_target",
	"The request's target is not a path, or holds a fragment or a byte that must be percent-encoded."};
static const struct http_problem problem_authority = {400, "bad_target",
	"The target is an absolute URI that is not http, or whose host is not the one of the Host header."};
static const struct http_problem problem_syntax = {400, "bad_header", "A header line is malformed."};
static const struct http_problem problem_no_host = {400, "missing_host", "An HTTP/1.1 request needs a Host header."};
static const struct http_problem problem_host = {400, "bad_host", "The Host header is not a host and a port."};
static const struct http_problem problem_twice = {400, "duplicate_header",
	"A header that may be sent once only was sent twice."};
static const struct http_problem problem_length = {400, "bad_content_length",
	"Content-Length is not one plain decimal number."};
static const struct http_problem problem_both = {400, "bad_framing",
	"The request has two Content-Length headers, or one beside Transfer-Encoding."};
static const struct http_problem problem_coding = {501, "transfer_coding_unknown",
	"Transfer-Encoding is something else than chunked."};
static const struct http_problem problem_coding10 = {400, "bad_framing", "HTTP/1.0 has no Transfer-Encoding."};
static const struct http_problem problem_expect = {417, "expectation_failed",
	"Only Expect: 100-continue is understood."};

/* A request line is METHOD SP TARGET SP VERSION; this is more than all but the target can take. */
enum { LINE_WITHOUT_TARGET_MAX = 64 };

/* --- Scanning -------------------------------------------------------------------------------- */

/* True for what may stand in a line: no control character but the tab. */
static bool is_text(unsigned char c)
{
	return c >= 0x20 ? c != 0x7f : c == '\t';
}

/* The position of the first byte from `at` that is no text, or n. */
static size_t skip_text(const char *data, size_t at, size_t n)
{
	while (at < n && is_text((unsigned char)data[at]))
		at++;
	return at;
}

/* A whole line of len bytes, without its CRLF, stands at scan->line_at. */
static enum http_scan_result scan_line(struct http_scan *scan, const char *line, size_t len,
				       const struct http_limits *limits, const struct http_problem **ret_problem)
{
	if (len == 0 && scan->lines > 0)
		return HTTP_SCAN_DONE;
	if (len == 0) {
		/* One empty line in front is left over from the last request of some old clients (RFC 9112, 2.2). */
		if (scan->line_at == 0)
			return HTTP_SCAN_MORE;
		*ret_problem = &problem_blank;
		return HTTP_SCAN_REFUSED;
	}
	if (scan->lines > 0 && (line[0] == ' ' || line[0] == '\t')) {
		*ret_problem = &problem_folded;
		return HTTP_SCAN_REFUSED;
	}
	if (scan->lines > limits->max_headers) {
		*ret_problem = &problem_many;
		return HTTP_SCAN_REFUSED;
	}
	scan->lines++;
	return HTTP_SCAN_MORE;
}

/* The part of the head that has come so far is within the limits. */
static const struct http_problem *scan_size(const struct http_scan *scan, size_t len, const struct http_limits *limits)
{
	if (scan->lines == 0 && len - scan->line_at > limits->max_uri_bytes + LINE_WITHOUT_TARGET_MAX)
		return &problem_uri;
	if (len > limits->max_header_bytes)
		return scan->lines == 0 ? &problem_uri : &problem_head_large;
	return NULL;
}

enum http_scan_result http_scan(struct http_scan *scan, struct str data, const struct http_limits *limits,
				const struct http_problem **ret_problem)
{
	const struct http_problem *problem;

	for (;;) {
		enum http_scan_result result;
		size_t end = skip_text(data.p, scan->at, data.n);

		scan->at = (uint32_t)end;
		problem = scan_size(scan, end, limits);
		if (problem)
			break;
		if (end == data.n || (data.p[end] == '\r' && end + 1 == data.n))
			return HTTP_SCAN_MORE;
		if (data.p[end] == '\n') {
			problem = &problem_bare_lf;
			break;
		}
		if (data.p[end] != '\r' || data.p[end + 1] != '\n') {
			problem = &problem_control;
			break;
		}
		scan->at = (uint32_t)end + 2;
		result = scan_line(scan, data.p + scan->line_at, end - scan->line_at, limits, ret_problem);
		if (result == HTTP_SCAN_REFUSED)
			return result;
		if (result == HTTP_SCAN_DONE) {
			problem = scan_size(scan, scan->at, limits);
			if (problem)
				break;
			return result;
		}
		scan->line_at = scan->at;
	}
	*ret_problem = problem;
	return HTTP_SCAN_REFUSED;
}

/* --- The request line ------------------------------------------------------------------------ */

static const struct http_problem *parse_version(struct str version, struct http_head *ret)
{
	static const char shape[] = "HTTP/d.d";

	if (version.n != sizeof(shape) - 1)
		return &problem_line;
	for (size_t i = 0; i < version.n; i++) {
		char c = version.p[i];

		if (shape[i] == 'd' ? c < '0' || c > '9' : c != shape[i])
			return &problem_line;
	}
	if (version.p[5] != '1' || (version.p[7] != '0' && version.p[7] != '1'))
		return &problem_version;
	ret->is_http10 = version.p[7] == '0';
	return NULL;
}

static enum http_method method_of(struct str name)
{
	static const struct {
		struct str name;
		enum http_method method;
	} methods[] = {
		{{"GET", 3}, HTTP_GET},	      {{"POST", 4}, HTTP_POST},	      {{"PUT", 3}, HTTP_PUT},
		{{"PATCH", 5}, HTTP_PATCH},   {{"DELETE", 6}, HTTP_DELETE},   {{"HEAD", 4}, HTTP_HEAD},
		{{"OPTIONS", 7}, HTTP_OPTIONS},
	};

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (str_eq(methods[i].name, name))
			return methods[i].method;
	return HTTP_OTHER;
}

static bool is_letter_or_digit(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool http_head_is_token(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!is_letter_or_digit(c) && c != '-' && (c == '\0' || !strchr("!#$%&'*+.^_`|~", c)))
			return false;
	}
	return s.n > 0;
}

/* *ret_target: the target as sent. */
static const struct http_problem *parse_request_line(struct str line, struct http_head *ret, struct str *ret_target)
{
	const struct http_problem *problem;
	struct str target, version;

	ret->method_name = str_cut(&line, ' ');
	target = str_cut(&line, ' ');
	version = line;
	if (!http_head_is_token(ret->method_name) || target.n == 0 || version.n == 0)
		return &problem_line;
	problem = parse_version(version, ret);
	if (problem)
		return problem;
	ret->method = method_of(ret->method_name);
	*ret_target = target;
	return NULL;
}

/* Cuts "http://" and the host from an absolute target: RFC 9112 wants it accepted. The host must be the one of the
 * Host header, or there would be two opinions about which it is. */
static const struct http_problem *cut_authority(struct str *target, struct str host)
{
	static const struct str scheme = {"http://", 7};
	struct str rest;
	size_t end = 0;

	if (target->n < scheme.n || !str_ieq(str_sub(*target, 0, scheme.n), scheme))
		return &problem_authority;
	rest = str_sub(*target, scheme.n, target->n);
	while (end < rest.n && rest.p[end] != '/' && rest.p[end] != '?')
		end++;
	if (end == 0 || !str_ieq(str_sub(rest, 0, end), host))
		return &problem_authority;
	*target = str_sub(rest, end, rest.n);
	return NULL;
}

static const struct http_problem *parse_target(struct str target, struct str host, const struct http_limits *limits,
					       struct http_head *ret)
{
	const struct http_problem *problem;

	if (target.n > limits->max_uri_bytes)
		return &problem_uri;
	for (size_t i = 0; i < target.n; i++) {
		unsigned char c = (unsigned char)target.p[i];

		if (c <= ' ' || c >= 0x7f || c == '#')
			return &problem_target;
	}
	if (str_is(target, "*") && ret->method == HTTP_OPTIONS) {
		ret->path = target;
		return NULL;
	}
	if (target.p[0] != '/') {
		if (!memchr(target.p, ':', target.n))
			return &problem_target;
		problem = cut_authority(&target, host);
		if (problem)
			return problem;
	}
	ret->path = str_cut(&target, '?');
	ret->query = target.p ? target : STR("");
	if (ret->path.n == 0)
		ret->path = STR("/");
	return NULL;
}

/* --- The fields ------------------------------------------------------------------------------ */

/* What the rules want to know of the fields, gathered in one pass. */
struct known {
	struct str host;
	struct str content_length;
	struct str transfer_encoding;
	struct str expect;
	bool has_close;
	bool has_keep_alive;
};

static struct str field_name(const char *head, const struct http_field *f)
{
	return (struct str){head + f->name_at, f->name_len};
}

static struct str field_value(const char *head, const struct http_field *f)
{
	return (struct str){head + f->value_at, f->value_len};
}

static void read_connection(struct known *known, struct str value)
{
	while (value.n > 0) {
		struct str option = str_trim(str_cut(&value, ','));

		known->has_close |= str_ieq(option, STR("close"));
		known->has_keep_alive |= str_ieq(option, STR("keep-alive"));
	}
}

static void read_field(struct known *known, struct str name, struct str value)
{
	switch (name.n) {
	case 4:
		if (str_eq(name, STR("host")))
			known->host = value;
		break;
	case 6:
		if (str_eq(name, STR("expect")))
			known->expect = value;
		break;
	case 10:
		if (str_eq(name, STR("connection")))
			read_connection(known, value);
		break;
	case 14:
		if (str_eq(name, STR("content-length")))
			known->content_length = value;
		break;
	case 17:
		if (str_eq(name, STR("transfer-encoding")))
			known->transfer_encoding = value;
		break;
	default:
		break;
	}
}

/* Fields whose second occurrence could mean something else to another reader of the same bytes. */
static bool is_single(struct str name)
{
	static const char *const singles[] = {
		"host", "content-length", "content-type", "origin", "if-match", "authorization", "idempotency-key",
		"transfer-encoding", "expect", "spine-agent", "spine-space", "spine-task", "spine-person",
	};

	for (size_t i = 0; i < sizeof(singles) / sizeof(singles[0]); i++)
		if (str_is(name, singles[i]))
			return true;
	return false;
}

static const struct http_problem *read_fields(char *head, struct http_head *ret, struct known *known)
{
	for (size_t i = 0; i < ret->fields_len; i++) {
		struct http_field *f = &ret->fields[i];
		struct str name = field_name(head, f);

		/* llhttp lets spaces into names where it is compiled without LLHTTP_STRICT_MODE. */
		if (!http_head_is_token(name))
			return &problem_syntax;
		for (uint32_t k = f->name_at; k < f->name_at + f->name_len; k++)
			if (head[k] >= 'A' && head[k] <= 'Z')
				head[k] = (char)(head[k] + ('a' - 'A'));
		for (size_t k = 0; k < i; k++) {
			if (!str_eq(name, field_name(head, &ret->fields[k])))
				continue;
			if (is_single(name))
				return &problem_twice;
			ret->has_duplicates = true;
		}
		read_field(known, name, field_value(head, f));
	}
	return NULL;
}

static const struct http_problem *check_host(const struct http_head *ret, struct str host)
{
	if (host.p == NULL)
		return ret->is_http10 ? NULL : &problem_no_host;
	for (size_t i = 0; i < host.n; i++) {
		char c = host.p[i];

		if (!is_letter_or_digit(c) && (c == '\0' || !strchr(".-_~:[]%", c)))
			return &problem_host;
	}
	return NULL;
}

static const struct http_problem *check_framing(struct http_head *ret, const struct known *known,
						const struct http_parse *parse)
{
	if (known->transfer_encoding.p) {
		if (known->content_length.p)
			return &problem_both;
		if (ret->is_http10)
			return &problem_coding10;
		if (!str_ieq(known->transfer_encoding, STR("chunked")))
			return &problem_coding;
		ret->is_chunked = true;
	}
	if (known->content_length.p && !str_to_u64(known->content_length, &ret->content_length))
		return &problem_length;
	if (ret->is_chunked != parse->is_chunked || (known->content_length.p != NULL) != parse->has_content_length ||
	    (known->content_length.p && ret->content_length != parse->content_length))
		return &problem_syntax;
	return NULL;
}

static const struct http_problem *check_expect(struct http_head *ret, struct str expect)
{
	if (expect.p == NULL || ret->is_http10)
		return NULL;
	if (!str_ieq(expect, STR("100-continue")))
		return &problem_expect;
	ret->expects_continue = true;
	return NULL;
}

/* --- All together ---------------------------------------------------------------------------- */

static const struct http_problem *run_parser(struct http_parse *parse, struct str head)
{
	switch (http_parse_head(parse, head)) {
	case HTTP_PARSE_OK:
		return NULL;
	case HTTP_PARSE_BAD_METHOD:
		return &problem_method;
	case HTTP_PARSE_BAD_TARGET:
		return &problem_target;
	case HTTP_PARSE_BAD_LENGTH:
		return &problem_length;
	case HTTP_PARSE_BAD_FRAMING:
		return &problem_both;
	case HTTP_PARSE_TOO_MANY:
		return &problem_many;
	case HTTP_PARSE_BAD:
		break;
	}
	return &problem_syntax;
}

const struct http_problem *http_head_parse(char *head, size_t head_len, const struct http_limits *limits,
					   struct http_field *fields, struct http_head *ret)
{
	struct http_parse parse = {.base = head, .fields = fields, .fields_max = limits->max_headers};
	size_t start = head[0] == '\r' ? 2 : 0;
	struct str rest = {head + start, head_len - start}, line = str_cut(&rest, '\r');
	const struct http_problem *problem;
	struct known known = {0};
	struct str target;

	*ret = (struct http_head){.fields = fields, .query = STR("")};
	problem = parse_request_line(line, ret, &target);
	if (problem)
		return problem;
	if (target.n > limits->max_uri_bytes)
		return &problem_uri;
	if (str_is(ret->method_name, "CONNECT"))
		return &problem_connect;
	problem = run_parser(&parse, (struct str){head, head_len});
	if (problem)
		return problem;
	if (!str_eq(parse.url, target))
		return &problem_line;
	ret->fields_len = parse.fields_len;
	problem = read_fields(head, ret, &known);
	if (problem == NULL)
		problem = check_host(ret, known.host);
	if (problem == NULL)
		problem = parse_target(target, known.host, limits, ret);
	if (problem == NULL)
		problem = check_framing(ret, &known, &parse);
	if (problem == NULL)
		problem = check_expect(ret, known.expect);
	ret->keep_alive = known.has_close ? false : ret->is_http10 ? known.has_keep_alive : true;
	return problem;
}
