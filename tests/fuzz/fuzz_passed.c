/* The word of a node about a request that it passes on: what was sealed is believed, and nothing else. Any bytes as a
 * header, and sealed ones of which one part was changed. */
#include "fuzz.h"

#include "core/cluster/passed.h"

#define SECRET STR("0123456789abcdef0123456789abcdef")

static const int64_t now_ms = INT64_C(1790000000000);

/* Small and large letters of the seal's digits are the same number. */
static bool is_same_seal(struct str a, struct str b)
{
	size_t digits = 64;

	return a.n == b.n && a.n > digits && str_eq(str_sub(a, 0, a.n - digits), str_sub(b, 0, b.n - digits)) &&
	       str_ieq(str_sub(a, a.n - digits, a.n), str_sub(b, b.n - digits, b.n));
}

static bool is_believed(struct str value, struct str secret, const struct passed_request *request)
{
	struct passed got = {0};
	struct buf again;
	bool is_good = passed_check(value, secret, request, now_ms, &got) == PASSED_GOOD;

	if (!is_good)
		return false;
	PROMISE(got.node.n > 0 && fuzz_is_inside(got.node, value), "a node is in its header");
	PROMISE(got.key.p == NULL || (got.key.n > 0 && fuzz_is_inside(got.key, value)), "a key is in its header");
	PROMISE(got.at_ms >= now_ms - PASSED_WINDOW_MS && got.at_ms <= now_ms + PASSED_WINDOW_MS,
		"what is believed is of now");
	buf_init(&again, 4096);
	passed_seal(&again, secret, &got, request);
	PROMISE(is_same_seal(buf_str(&again), value), "what is believed was sealed so");
	buf_release(&again);
	return true;
}

/* Letters that a node and a key may have; a byte in, a letter out. */
static struct str word(struct arena *arena, struct str bytes, size_t max)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	size_t n = bytes.n < max ? bytes.n : max;
	char *text = arena_alloc(arena, n + 1);

	for (size_t i = 0; i < n; i++)
		text[i] = letters[(uint8_t)bytes.p[i] % (sizeof(letters) - 1)];
	return n > 0 ? (struct str){text, n} : STR("n");
}

static struct str changed(struct arena *arena, struct str s, size_t at, uint8_t by)
{
	char *text = arena_alloc(arena, s.n + 1);

	memcpy(text, s.p, s.n);
	text[at % s.n] = (char)(text[at % s.n] ^ by);
	return (struct str){text, s.n};
}

/* The same bytes, but another request: the last of the target's is the first of the space's. */
static struct passed_request shifted(struct arena *arena, const struct passed_request *r)
{
	struct str last = str_sub(r->target, r->target.n - 1, r->target.n);
	struct str space = arena_printf(arena, "%c%.*s", last.p[0], STR_ARG(r->space));

	return (struct passed_request){r->method, str_sub(r->target, 0, r->target.n - 1), space};
}

static void seal_and_change(struct arena *arena, struct str rest, size_t at, uint8_t by)
{
	struct str node = word(arena, str_cut(&rest, '\n'), PASSED_NODE_MAX), key_bytes = str_cut(&rest, '\n');
	struct str key = key_bytes.n ? word(arena, key_bytes, PASSED_KEY_MAX) : STR_NULL;
	struct passed_request request = {
		.method = str_cut(&rest, '\n'), .target = str_cut(&rest, '\n'), .space = str_cut(&rest, '\n'),
	};
	struct passed_request other = request;
	struct passed passed = {.node = node, .at_ms = now_ms, .key = str_is(key, "-") ? STR_NULL : key}, got;
	struct str value, wrong;
	struct buf sealed;

	buf_init(&sealed, 4096);
	passed_seal(&sealed, SECRET, &passed, &request);
	value = buf_str(&sealed);
	PROMISE(passed_check(value, SECRET, &request, now_ms, &got) == PASSED_GOOD && str_eq(got.node, node) &&
		got.at_ms == now_ms && str_eq(got.key, passed.key), "what was sealed is read as it was");
	PROMISE(passed_check(value, SECRET, &request, now_ms + PASSED_WINDOW_MS + 1, &got) == PASSED_STALE,
		"a seal holds for a minute");
	wrong = changed(arena, value, at, by);
	PROMISE(!is_believed(wrong, SECRET, &request) || is_same_seal(wrong, value), "a changed word is not believed");
	PROMISE(!is_believed(str_sub(value, 0, at % value.n), SECRET, &request), "a cut word is not believed");
	PROMISE(!is_believed(value, changed(arena, SECRET, at, by), &request), "another secret is not believed");
	other.method = arena_printf(arena, "%.*sX", STR_ARG(request.method));
	PROMISE(!is_believed(value, SECRET, &other), "another method is not believed");
	if (request.target.n > 0) {
		other = shifted(arena, &request);
		PROMISE(!is_believed(value, SECRET, &other), "another target is not believed");
	}
	buf_release(&sealed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct passed_request request = {
		.method = {"POST", 4}, .target = {"/v1/things?x=1", 14}, .space = {"team-7", 6},
	};
	uint8_t choice = fuzz_choice(&data, &size), at = fuzz_choice(&data, &size);
	struct arena arena;
	struct str text;

	arena_init(&arena);
	text = arena_str(&arena, fuzz_str(data, size));
	if (choice == 0)
		is_believed(text, SECRET, &request);
	else
		seal_and_change(&arena, text, at, choice);
	arena_release(&arena);
	return 0;
}
