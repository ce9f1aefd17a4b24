/* net/http.h under bytes that nobody would send: mutations of proper requests, from fixed seeds.
 *
 * Whatever comes, the server answers or closes; what its parts let in keeps their promises; and where the bytes were
 * cut into pieces makes no difference.
 */
#include "http/fixture.h"
#include "net/http_chunk.h"
#include "net/http_head.h"

static const char *const seeds[] = {
	"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
	"GET /a/b?c=d HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
	"POST /echo HTTP/1.1\r\nHost: 127.0.0.1:8788\r\nContent-Type: a/json\r\nContent-Length: 5\r\n\r\nhello",
	"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
	"5\r\nhello\r\na;x=y\r\n0123456789\r\n0\r\n\r\n",
	"PUT /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc",
	"HEAD http://a/x?y HTTP/1.1\r\nhost: a\r\nX-One: 1\r\nX-One: 2\r\nCookie: a=b\r\n\r\n",
	"GET /size?100000 HTTP/1.1\r\nHost: a\r\nAccept: */*\r\nUpgrade: h2c\r\nConnection: Upgrade, x\r\n\r\n",
	"GET /timer?1 HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
	"OPTIONS * HTTP/1.1\r\nHost: [::1]:80\r\nContent-Length: 0\r\n\r\n",
};

enum { SEEDS = sizeof(seeds) / sizeof(seeds[0]), INPUT_MAX = 4096 };

struct input {
	char data[INPUT_MAX];
	size_t len;
};

/* xorshift: the same sequence everywhere. */
static uint32_t roll(uint64_t *rng, size_t below)
{
	*rng ^= *rng << 13;
	*rng ^= *rng >> 7;
	*rng ^= *rng << 17;
	return (uint32_t)((*rng >> 16) % below);
}

static void cut_out(struct input *in, size_t at, size_t len)
{
	memmove(in->data + at, in->data + at + len, in->len - at - len);
	in->len -= len;
}

static void put_in(struct input *in, size_t at, const char *bytes, size_t len)
{
	char copy[INPUT_MAX];

	if (len > INPUT_MAX - in->len)
		return;
	memcpy(copy, bytes, len);
	memmove(in->data + at + len, in->data + at, in->len - at);
	memcpy(in->data + at, copy, len);
	in->len += len;
}

static void mutate(struct input *in, uint64_t *rng)
{
	static const struct str morsels[] = {
		{"\r", 1}, {"\n", 1}, {"\r\n", 2}, {"\r\n\r\n", 4}, {"\0", 1}, {" ", 1}, {"\t", 1}, {":", 1}, {",", 1},
		{"\xff", 1}, {"\r\n ", 3}, {"Content-Length: 3\r\n", 19}, {"Transfer-Encoding: chunked\r\n", 28},
		{"Host: b\r\n", 9},
		{"0\r\n\r\n", 5}, {"ffffffff", 8}, {"99999999999999999999", 20}, {"-", 1}, {"+", 1}, {"%00", 3},
		{";", 1},
		{" HTTP/1.1", 9}, {"X: ", 3}, {"http://", 7}, {"#", 1},
	};
	size_t at = in->len ? roll(rng, in->len) : 0, len = in->len ? roll(rng, in->len - at) % 40 : 0;
	const struct str *morsel = &morsels[roll(rng, sizeof(morsels) / sizeof(morsels[0]))];
	const char *other = seeds[roll(rng, SEEDS)];

	switch (roll(rng, 6)) {
	case 0:
		if (in->len)
			in->data[at] = (char)roll(rng, 256);
		break;
	case 1:
		cut_out(in, at, len);
		break;
	case 2:
		put_in(in, at, in->data + at, len);
		break;
	case 3:
	case 4:
		put_in(in, at, morsel->p, morsel->n);
		break;
	case 5:
		put_in(in, at, other, strlen(other));
		break;
	}
}

static void make_input(struct input *in, uint64_t *rng)
{
	const char *seed = seeds[roll(rng, SEEDS)];

	in->len = 0;
	put_in(in, 0, seed, strlen(seed));
	for (uint32_t n = roll(rng, 5); n > 0; n--)
		mutate(in, rng);
}

/* --- The server ------------------------------------------------------------------------------ */

/* Targets are mutated, too. */
static void answer_mildly(void *ctx, struct http_req *req)
{
	struct str path = http_req_path(req), query = http_req_query(req);

	if (str_is(path, "/hold") || str_is(path, "/status") || (str_is(path, "/timer") && !str_is(query, "1")) ||
	    (str_is(path, "/size") && query.n > 6))
		http_reply(req, 404, NULL, NULL, NULL);
	else
		fixture_on_request(ctx, req);
}

static void whatever_comes_is_answered_or_closed(void **state)
{
	uint64_t rng = 20240607;
	struct fixture f;
	struct input in;
	struct buf b;
	int other;

	(void)state;
	fixture_init(&f);
	f.config.on_request = answer_mildly;
	f.config.limits.header_timeout_ms = f.config.limits.body_timeout_ms = f.config.limits.idle_timeout_ms = 30;
	fixture_start(&f);
	buf_init(&b, 64 << 20);
	for (int i = 0; i < 2000; i++) {
		int fd = client_open(&f);
		size_t at = 0;

		make_input(&in, &rng);
		while (at < in.len) {
			size_t n = 1 + roll(&rng, roll(&rng, 4) ? in.len - at : 3);

			if (n > in.len - at)
				n = in.len - at;
			if (!client_send(fd, in.data + at, n))
				break;
			at += n;
		}
		/* Now and then it is for the deadlines to end it. */
		if (roll(&rng, 50))
			shutdown(fd, SHUT_WR);
		buf_clear(&b);
		client_read_all(fd, &b);
		if (b.len >= 9)
			assert_memory_equal(b.data, "HTTP/1.1 ", 9);
		close(fd);
	}
	other = client_open(&f);
	client_say(other, seeds[0]);
	assert_int_equal(client_status(other), 200);
	close(other);
	buf_release(&b);
	fixture_stop(&f, PATIENCE_MS);
}

/* --- The head -------------------------------------------------------------------------------- */

static const struct http_limits limits = {.max_header_bytes = 2000, .max_headers = 8, .max_uri_bytes = 500};

/* The same bytes, but given in pieces. */
static enum http_scan_result scan_in_pieces(struct str data, uint64_t *rng, struct http_scan *ret_scan,
					    const struct http_problem **ret_problem)
{
	enum http_scan_result result = HTTP_SCAN_MORE;
	size_t len = 0;

	*ret_scan = (struct http_scan){0};
	while (result == HTTP_SCAN_MORE && len < data.n) {
		len += 1 + roll(rng, 7);
		result = http_scan(ret_scan, str_sub(data, 0, len < data.n ? len : data.n), &limits, ret_problem);
	}
	return result;
}

static bool is_inside(struct str s, const char *from, size_t len)
{
	return s.p >= from && s.p + s.n <= from + len;
}

static void check_head(const char *data, size_t len, const struct http_head *head)
{
	bool has_host = false;

	assert_true(is_inside(head->method_name, data, len));
	assert_true(head->path.p[0] == '/' || str_is(head->path, "*"));
	assert_null(memchr(head->path.p, '?', head->path.n));
	assert_false(head->is_chunked && (head->content_length > 0 || head->is_http10));
	for (size_t i = 0; i < head->fields_len; i++) {
		struct str name = {data + head->fields[i].name_at, head->fields[i].name_len};
		struct str value = {data + head->fields[i].value_at, head->fields[i].value_len};

		assert_true(name.n > 0 && is_inside(name, data, len) && is_inside(value, data, len));
		for (size_t k = 0; k < name.n; k++)
			assert_true(name.p[k] > ' ' && name.p[k] < 0x7f && name.p[k] != ':' &&
				    !(name.p[k] >= 'A' && name.p[k] <= 'Z'));
		assert_null(memchr(value.p, '\r', value.n));
		assert_null(memchr(value.p, '\n', value.n));
		assert_null(memchr(value.p, '\0', value.n));
		assert_false(str_is(name, "host") && has_host);
		has_host |= str_is(name, "host");
	}
	assert_true(has_host || head->is_http10);
}

static void heads_that_are_let_in_keep_the_rules(void **state)
{
	uint64_t rng = 42;
	int let_in = 0;

	(void)state;
	for (int i = 0; i < 60000; i++) {
		const struct http_problem *problem = NULL, *piecemeal = NULL;
		struct http_field fields[8];
		struct http_scan scan = {0}, pieces;
		enum http_scan_result result;
		struct http_head head;
		struct input in;

		make_input(&in, &rng);
		result = http_scan(&scan, (struct str){in.data, in.len}, &limits, &problem);
		if (in.len > 0) {
			assert_int_equal(scan_in_pieces((struct str){in.data, in.len}, &rng, &pieces, &piecemeal),
					 result);
			assert_ptr_equal(piecemeal, problem);
		}
		assert_int_equal(problem != NULL, result == HTTP_SCAN_REFUSED);
		if (result != HTTP_SCAN_DONE)
			continue;
		assert_int_equal(scan.at, pieces.at);
		assert_memory_equal(in.data + scan.at - 4, "\r\n\r\n", 4);
		problem = http_head_parse(in.data, scan.at, &limits, fields, &head);
		if (problem) {
			assert_true(problem->status >= 400 && problem->status < 600);
			continue;
		}
		check_head(in.data, scan.at, &head);
		let_in++;
	}
	assert_true(let_in > 5000);
}

/* --- Chunks ---------------------------------------------------------------------------------- */

/* Decodes in pieces of up to `most` bytes. Returns bytes used, SIZE_MAX where it was refused. */
static size_t decode(struct str data, uint64_t *rng, size_t most, struct buf *ret_body, bool *ret_whole)
{
	struct http_chunk chunk = {0};
	size_t at = 0;

	*ret_whole = false;
	while (at < data.n) {
		size_t n = 1 + roll(rng, most);
		struct str piece = str_sub(data, at, n < data.n - at ? at + n : data.n), got;
		enum http_chunk_result result;

		at += piece.n;
		do {
			got = STR("");
			result = http_chunk_decode(&chunk, &piece, &got);
			buf_put(ret_body, got);
		} while (result == HTTP_CHUNK_DATA || result == HTTP_CHUNK_SIZE);
		if (result == HTTP_CHUNK_BAD)
			return SIZE_MAX;
		if (result == HTTP_CHUNK_END) {
			*ret_whole = true;
			return at - piece.n;
		}
	}
	return at;
}

static void chunks_decode_the_same_however_they_are_cut(void **state)
{
	static const char body[] = "5\r\nhello\r\n1;e=\"f\"\r\n \r\n06\r\nworld!\r\n0\r\n\r\nGET";
	uint64_t rng = 7;
	struct buf once, pieces;
	int whole_count = 0;

	(void)state;
	buf_init(&once, INPUT_MAX);
	buf_init(&pieces, INPUT_MAX);
	for (int i = 0; i < 60000; i++) {
		bool whole, whole_in_pieces;
		struct input in = {.len = 0};
		size_t used;

		put_in(&in, 0, body, sizeof(body) - 1);
		for (uint32_t n = roll(&rng, 4); n > 0; n--)
			mutate(&in, &rng);
		buf_clear(&once);
		buf_clear(&pieces);
		used = decode((struct str){in.data, in.len}, &rng, 1, &once, &whole);
		assert_int_equal(decode((struct str){in.data, in.len}, &rng, 50, &pieces, &whole_in_pieces), used);
		assert_int_equal(whole, whole_in_pieces);
		assert_true(str_eq(buf_str(&once), buf_str(&pieces)));
		whole_count += whole;
	}
	assert_true(whole_count > 10000);
	buf_release(&once);
	buf_release(&pieces);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heads_that_are_let_in_keep_the_rules),
		cmocka_unit_test(chunks_decode_the_same_however_they_are_cut),
		cmocka_unit_test(whatever_comes_is_answered_or_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
