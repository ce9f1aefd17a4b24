#include "scenario.h"

#include <inttypes.h>

static const struct scenario *const scenarios[] = {
	&scenario_store, &scenario_store_keyed, &scenario_batch, &scenario_get, &scenario_ready,
	&scenario_envelope, &scenario_deliver, &scenario_step, &scenario_step_three, NULL,
};

const struct scenario *scenario_find(const char *name)
{
	for (const struct scenario *const *s = scenarios; *s; s++)
		if (strcmp((*s)->name, name) == 0)
			return *s;
	return NULL;
}

void scenario_list(struct buf *out)
{
	for (const struct scenario *const *s = scenarios; *s; s++)
		buf_printf(out, "  %-14s %s\n", (*s)->name, (*s)->about);
}

void scenario_put_request(struct buf *out, const char *method, const char *path, const char *headers, struct str body)
{
	buf_printf(out, "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\n%s", method, path, headers);
	if (body.n > 0)
		buf_printf(out, "Content-Type: application/json\r\nContent-Length: %zu\r\n", body.n);
	else if (strcmp(method, "GET") != 0)
		buf_puts(out, "Content-Length: 0\r\n");
	buf_puts(out, "\r\n");
	buf_put(out, body);
}

void scenario_put_text(struct buf *out, uint64_t number, size_t bytes)
{
	enum { WORD_BYTES = 16 };
	static const struct {
		char text[WORD_BYTES];	/* copied whole, as that takes one instruction */
		size_t len;
	} words[16] = {
		{" the", 4}, {" gateway", 8}, {" answers", 8}, {" with", 5}, {" retry", 6}, {" after", 6},
		{" seconds", 8}, {" and", 4}, {" orders", 7}, {" wait", 5}, {" for", 4}, {" payment", 8}, {" of", 3},
		{" customer", 9}, {" queue", 6}, {" policy", 7},
	};
	size_t end = out->len + bytes;
	uint64_t dice = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
	char *room, *at;

	buf_printf(out, "note-%" PRIu64, number);
	room = at = buf_reserve(out, bytes + WORD_BYTES);
	if (room == NULL)
		return;
	for (size_t len = out->len; len < end; len += words[dice & 15].len) {
		dice ^= dice << 13;
		dice ^= dice >> 7;
		dice ^= dice << 17;
		memcpy(at, words[dice & 15].text, WORD_BYTES);
		at += words[dice & 15].len;
	}
	buf_commit(out, (size_t)(at - room));
}
