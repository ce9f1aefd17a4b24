/* Keys as strangers send them: the text, the Authorization and Cookie headers, ids, cookies of sessions. What is taken
 * for one is written as the server itself writes it, and nothing is read beyond the header. */
#include "fuzz.h"

#include "api/http/entry.h"
#include "api/http/sessions.h"
#include "core/access/access_key.h"

#include <stdio.h>

static void read_text(struct str text)
{
	char prefix[ACCESS_KEY_TEXT_SIZE];
	uint64_t num = 0;

	if (!access_key_parse(text, &num))
		return;
	snprintf(prefix, sizeof(prefix), "spk_%llu_", (unsigned long long)num);
	PROMISE(num > 0 && num <= ACCESS_KEY_NUM_MAX, "a key has a number");
	PROMISE(text.n < ACCESS_KEY_TEXT_SIZE && text.n == strlen(prefix) + 43, "a key is as long as one");
	PROMISE(str_has_prefix(text, str_of(prefix)), "a number has one spelling");
	for (size_t i = 0; i < text.n; i++)
		PROMISE(text.p[i] > ' ' && text.p[i] < 0x7f, "a key is ASCII");
}

static void read_id(struct str id)
{
	char again[24];
	uint64_t num = 0;

	if (!access_key_id_parse(id, &num))
		return;
	snprintf(again, sizeof(again), "key-%llu", (unsigned long long)num);
	PROMISE(str_eq(id, str_of(again)), "an id has one spelling");
}

/* What the server makes it also reads, with the fuzzer's bytes as chance. */
static void make_text(struct str bytes)
{
	uint8_t chance[8 + ACCESS_KEY_RANDOM] = {0};
	char text[ACCESS_KEY_TEXT_SIZE];
	uint64_t num, read = 0;

	memcpy(chance, bytes.p, bytes.n < sizeof(chance) ? bytes.n : sizeof(chance));
	memcpy(&num, chance, sizeof(num));
	num &= ACCESS_KEY_NUM_MAX;
	num += num == 0;
	access_key_text(num, chance + 8, text);
	PROMISE(access_key_parse(str_of(text), &read) && read == num, "a key that was made is read");
	text[strlen(text) - 1] = '\0';
	PROMISE(!access_key_parse(str_of(text), &read), "a key that was cut is none");
}

static void read_authorization(struct str header)
{
	struct str text = entry_bearer(header);

	PROMISE(text.p != NULL && text.n <= header.n, "a header that is there has a text, if an empty one");
	if (text.n == 0)
		return;
	PROMISE(fuzz_is_inside(text, header), "a key is in its header");
	PROMISE(str_eq(text, str_trim(text)), "a key has no space around it");
	PROMISE(header.n > 7 && str_ieq(str_sub(header, 0, 7), STR("bearer ")), "the scheme is Bearer");
	read_text(text);
}

static void check_cookie(struct str value, struct str header)
{
	PROMISE(fuzz_is_inside(value, header), "a cookie is in its header");
	PROMISE(str_find(value, ';') == value.n, "a cookie ends where the next begins");
	PROMISE((size_t)(value.p - header.p) >= strlen(SESSION_COOKIE "=") &&
		memcmp(value.p - strlen(SESSION_COOKIE "="), SESSION_COOKIE "=", strlen(SESSION_COOKIE "=")) == 0,
		"a cookie has the session's name");
}

/* As it came, and behind other cookies. */
static void read_cookie(struct str header, struct sessions *sessions, struct arena *arena)
{
	struct str value = sessions_cookie(header);
	struct buf with;

	if (value.p) {
		check_cookie(value, header);
		/* Nobody knows this session's cookie: one that were found would be looked up without a keyring. */
		PROMISE(sessions_find(sessions, NULL, value, 1000, arena) == NULL, "a cookie is not guessed");
		sessions_end(sessions, value);
	}
	buf_init(&with, 1 << 20);
	buf_put(&with, header);
	buf_puts(&with, "; " SESSION_COOKIE "=17.abc");
	PROMISE(sessions_cookie(buf_str(&with)).p != NULL, "other cookies do not hide the session's");
	buf_release(&with);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct sessions *sessions;
	uint8_t choice = fuzz_choice(&data, &size);
	struct access access = {.key = 1, .secret = 1};
	char cookie[SESSION_COOKIE_SIZE], *copy = malloc(size + 1);
	struct str text = {copy, size};
	struct arena arena;

	if (sessions == NULL) {
		sessions = sessions_new();
		sessions_begin(sessions, &access, 1, cookie);
	}
	memcpy(copy, data, size);
	copy[size] = 'x';	/* no end of a string behind it */
	arena_init(&arena);
	switch (choice % 5) {
	case 0:
		read_text(text);
		break;
	case 1:
		read_id(text);
		break;
	case 2:
		make_text(text);
		break;
	case 3:
		read_authorization(text);
		break;
	default:
		read_cookie(text, sessions, &arena);
	}
	arena_release(&arena);
	free(copy);
	return 0;
}
