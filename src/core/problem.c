#include "core/problem.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

static const struct problem_kind kinds[] = {
	{"ok", 200, false},
#define PROBLEM_KIND(code, name, status, retryable) {name, status, retryable},
	PROBLEMS(PROBLEM_KIND)
#undef PROBLEM_KIND
};

const struct problem_kind *problem_kind(enum problem_code code)
{
	assert((size_t)code < sizeof(kinds) / sizeof(kinds[0]));
	return &kinds[code];
}

/* A sentence shows what came from outside, cut where it was too long: within a character, maybe. */
static void repair_utf8(char *text)
{
	struct str all = str_of(text);
	size_t good;

	while ((good = str_utf8_prefix(all)) < all.n)
		text[good] = '?';
}

enum problem_code problem_set(struct problem *p, enum problem_code code, const char *field, const char *format, ...)
{
	va_list args;

	*p = (struct problem){.code = code};
	if (field)
		snprintf(p->field, sizeof(p->field), "%s", field);
	va_start(args, format);
	vsnprintf(p->detail, sizeof(p->detail), format, args);
	va_end(args);
	repair_utf8(p->detail);
	repair_utf8(p->field);
	return code;
}

void problem_prefix(struct problem *p, const char *list, size_t index)
{
	struct buf field;

	buf_init(&field, 2 * sizeof(p->field));
	buf_printf(&field, "%s[%zu]%s%s", list, index, p->field[0] ? "." : "", p->field);
	snprintf(p->field, sizeof(p->field), "%s", field.data);
	repair_utf8(p->field);
	buf_release(&field);
}

void problem_within(struct problem *p, const char *object)
{
	char field[sizeof(p->field)];

	memcpy(field, p->field, sizeof(field));
	snprintf(p->field, sizeof(p->field), "%s%s%.90s", object, field[0] ? "." : "", field);
}

enum { BUSY_RETRY_MS = 1000 };

enum problem_code problem_of_status(struct problem *p, enum store_status status)
{
	if (status == STORE_FULL)
		return problem_set(p, P_STORE_FULL, NULL, "the disk is full; nothing was stored");
	if (status == STORE_BUSY) {
		problem_set(p, P_STORE_BUSY, NULL,
			    "another process holds the store's lock for writing; nothing was stored");
		p->retry_after_ms = BUSY_RETRY_MS;
		return p->code;
	}
	if (status == STORE_NOT_FOUND)
		return problem_set(p, P_INTERNAL, NULL, "a row that must be there is not; nothing was changed");
	if (status == STORE_EXISTS)
		return problem_set(p, P_INTERNAL, NULL, "a key that must be free is taken; nothing was changed");
	if (status == STORE_REFUSED)
		return problem_set(p, P_INTERNAL, NULL, "what is stored does not allow it; nothing was changed");
	if (status == STORE_UNKNOWN)
		return problem_of_unknown(p, STR_NULL);
	if (status == STORE_DAMAGED)
		return problem_set(p, P_STORE_DAMAGED, NULL, "a part of the store that this needs is damaged on the "
				   "disk, and is not shown; nothing was changed. spine check says what is on it");
	return problem_set(p, P_STORE_FAILED, NULL,
			   "the store failed and accepts no writes until the server is restarted; nothing of this "
			   "request was stored, and what was acknowledged before is safe");
}

enum problem_code problem_of_unknown(struct problem *p, struct str key)
{
	static const char what[] = "the disk failed while this was being stored: whether it is there shows when the "
				   "server was restarted";

	if (key.p == NULL)
		return problem_set(p, P_OUTCOME_UNKNOWN, NULL, "%s; look for it then, before it is sent again", what);
	problem_set(p, P_OUTCOME_UNKNOWN, NULL, "%s; send it again then with the same Idempotency-Key (%.*s), and it "
		    "is carried out once", what, key.n < 200 ? (int)key.n : 200, key.p);
	p->is_settled_by_key = true;
	return p->code;
}

bool problem_is_retryable(const struct problem *p)
{
	return problem_kind(p->code)->retryable || p->is_settled_by_key ||
	       (p->code == P_QUOTA_EXCEEDED && !p->is_full);
}

enum store_status problem_store_status(enum problem_code code)
{
	if (code == P_STORE_FULL)
		return STORE_FULL;
	if (code == P_STORE_BUSY)
		return STORE_BUSY;
	if (code == P_STORE_DAMAGED)
		return STORE_DAMAGED;
	if (code == P_INTERNAL)
		return STORE_REFUSED;
	if (code == P_OUTCOME_UNKNOWN)
		return STORE_UNKNOWN;
	return code == P_STORE_FAILED ? STORE_FAILED : STORE_OK;
}
