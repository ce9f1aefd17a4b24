#include "store/postgres/postgres_kept.h"

#include "base/mem.h"
#include "store/postgres/postgres_gather.h"
#include "store/postgres/postgres_internal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	SPACE_BUCKETS = 256,
	MARKS = 16,
	ENVELOPE_WINDOW = 4096,		/* of the numbers given last, which were used is known */
	CAREFUL = 512,			/* transactions: more than a batch that is run again one by one */
	GATHER_ROWS = 20000, GATHER_BYTES = 8 << 20,
};

struct kept_space {
	struct kept_space *next;
	int64_t id;
	struct space_row row;		/* its name is owned */
	bool has_row;
	int64_t new_bytes, new_agents;	/* in the row, and not in what was sent */
	bool is_changed;		/* by this transaction */
	bool has_event;
	int64_t last_event;		/* its number */
	bool has_handoff;
	uint64_t last_handoff;
	bool has_envelope;
	uint64_t envelope_top;		/* the highest that was ever given */
	uint64_t envelope_known;	/* from here on it is known which were given */
	uint64_t envelopes[ENVELOPE_WINDOW / 64];	/* bits, by the number's rest */
};

struct postgres_kept {
	struct postgres_gather gather;
	struct postgres_live *live;	/* NULL: to be read */
	struct kept_space *spaces[SPACE_BUCKETS];
	size_t marks[MARKS];		/* of the order, for the transaction and each savepoint */
	size_t depth;
	bool has_event;
	int64_t last_event;
	bool has_target_due;
	int64_t target_due_ms;
	int careful;			/* so many transactions */
	bool has_counted;		/* for a space, and it is not sent */
};

static struct postgres_kept *kept_of(const struct store_conn *c)
{
	return postgres_of(c)->kept;
}

bool postgres_keeps(const struct store_conn *c)
{
	return kept_of(c) && postgres_of(c)->in_transaction;
}

enum store_status postgres_kept_may_write(struct store_conn *c)
{
	const struct postgres_conn *own = postgres_of(c);

	if (own->is_broken)
		return own->why_broken;
	if (postgres_keeps(c))
		return own->session ? STORE_OK : STORE_BUSY;
	snprintf(c->error, sizeof(c->error), "only who writes the shard writes, and in a transaction");
	return STORE_REFUSED;
}

/* --- Life --- */

struct postgres_kept *postgres_kept_new(int64_t shard)
{
	struct postgres_kept *k = mem_zalloc(sizeof(*k));

	postgres_gather_init(&k->gather, shard);
	return k;
}

static void free_space(struct kept_space *s)
{
	free((char *)(uintptr_t)s->row.name.p);
	free(s);
}

static void forget_spaces(struct postgres_kept *k)
{
	for (size_t i = 0; i < SPACE_BUCKETS; i++)
		for (struct kept_space *s = k->spaces[i], *next; s; s = next) {
			next = s->next;
			free_space(s);
		}
	memset(k->spaces, 0, sizeof(k->spaces));
}

void postgres_kept_free(struct postgres_kept *k)
{
	if (k == NULL)
		return;
	forget_spaces(k);
	postgres_live_free(k->live);
	postgres_gather_release(&k->gather);
	free(k);
}

/* --- The way of a transaction --- */

void postgres_kept_begin(struct store_conn *c)
{
	struct postgres_kept *k = kept_of(c);

	if (k == NULL)
		return;
	k->depth = 0;
	k->careful -= k->careful > 0;
	postgres_kept_mark(c);
}

bool postgres_kept_is_unsent(const struct store_conn *c)
{
	return postgres_keeps(c) && (kept_of(c)->gather.row_count > 0 || kept_of(c)->has_counted);
}

/* What was counted for a space goes along. */
static void gather_spaces(struct postgres_kept *k)
{
	for (size_t i = 0; i < SPACE_BUCKETS; i++)
		for (struct kept_space *s = k->spaces[i]; s; s = s->next) {
			if (s->new_bytes == 0 && s->new_agents == 0)
				continue;
			postgres_gather_space(&k->gather, s->id, s->new_bytes, s->new_agents);
			s->new_bytes = s->new_agents = 0;
			s->is_changed = true;
		}
	k->has_counted = false;
}

/* Those who pack read the row of their space, and nearly every transaction counts in it: until it is committed they are
 * given the one before. */
static void cache_spaces(struct store_conn *c, struct postgres_kept *k)
{
	for (size_t i = 0; i < SPACE_BUCKETS; i++)
		for (struct kept_space *s = k->spaces[i]; s; s = s->next) {
			if (s->is_changed)
				postgres_cache_add(c, &row_space, s->id, STR_NULL, &s->row);
			s->is_changed = false;
		}
}

enum store_status postgres_kept_send(struct store_conn *c)
{
	struct postgres_kept *k = kept_of(c);

	enum store_status status;

	if (!postgres_kept_is_unsent(c))
		return STORE_OK;
	status = postgres_begin_now(c);
	if (status != STORE_OK)
		return status;
	gather_spaces(k);
	status = postgres_gather_send_rows(&k->gather, c);
	postgres_gather_clear(&k->gather);
	return status;
}

enum store_status postgres_kept_begun(struct store_conn *c)
{
	struct postgres_kept *k = kept_of(c);
	enum store_status status;

	if (k == NULL)
		return STORE_OK;
	status = postgres_gather_send_statements(&k->gather, c);
	postgres_gather_drop_statements(&k->gather);
	return status;
}

size_t postgres_kept_bytes(const struct store_conn *c)
{
	return kept_of(c) ? kept_of(c)->gather.bytes : 0;
}

struct postgres_gather *postgres_kept_make(struct store_conn *c)
{
	struct postgres_kept *k = kept_of(c);

	gather_spaces(k);
	postgres_gather_make(&k->gather);
	return &k->gather;
}

void postgres_kept_commit(struct store_conn *c)
{
	struct postgres_kept *k = kept_of(c);

	if (k == NULL)
		return;
	postgres_gather_clear(&k->gather);
	if (k->live)
		postgres_live_keep(k->live);
	cache_spaces(c, k);
	postgres_cache_commit(c);
}

static void forget_numbers(struct postgres_kept *k)
{
	forget_spaces(k);
	k->has_event = k->has_target_due = k->has_counted = false;
	postgres_gather_clear(&k->gather);
}

void postgres_kept_rollback(struct store_conn *c)
{
	struct postgres_kept *k = kept_of(c);

	if (k == NULL)
		return;
	forget_numbers(k);
	if (k->live)
		postgres_live_undo(k->live, 0);
	postgres_cache_rollback(c);
}

void postgres_kept_mark(struct store_conn *c)
{
	struct postgres_kept *k = kept_of(c);

	if (k == NULL)
		return;
	assert(k->depth < MARKS);
	k->marks[k->depth++] = k->live ? postgres_live_mark(k->live) : 0;
}

void postgres_kept_release(struct store_conn *c)
{
	if (kept_of(c))
		kept_of(c)->depth--;
}

void postgres_kept_undo(struct store_conn *c)
{
	struct postgres_kept *k = kept_of(c);

	if (k == NULL)
		return;
	forget_numbers(k);
	if (k->live)
		postgres_live_undo(k->live, k->marks[k->depth - 1]);
	postgres_cache_rollback(c);
}

void postgres_kept_forget(struct store_conn *c)
{
	struct postgres_kept *k = kept_of(c);

	if (k == NULL)
		return;
	forget_numbers(k);
	postgres_live_free(k->live);
	k->live = NULL;
	if (postgres_of(c)->cache)
		row_cache_clear(postgres_of(c)->cache);
}

void postgres_kept_be_careful(struct store_conn *c)
{
	postgres_kept_forget(c);
	if (kept_of(c))
		kept_of(c)->careful = CAREFUL;
}

bool postgres_kept_is_careful(const struct store_conn *c)
{
	return kept_of(c)->careful > 0;
}

/* --- Spaces --- */

static struct kept_space **place_of(struct postgres_kept *k, int64_t id)
{
	struct kept_space **at = &k->spaces[(uint64_t)id % SPACE_BUCKETS];

	while (*at && (*at)->id != id)
		at = &(*at)->next;
	return at;
}

static struct kept_space *space_of(struct postgres_kept *k, int64_t id)
{
	struct kept_space **at = place_of(k, id);

	if (*at == NULL) {
		*at = mem_zalloc(sizeof(**at));
		(*at)->id = id;
	}
	return *at;
}

static enum store_status read_row(struct store_conn *c, struct kept_space *s)
{
	struct space_row row;
	struct arena arena;
	enum store_status status;

	arena_init(&arena);
	status = postgres_space_read(c, s->id, &arena, &row);
	if (status == STORE_OK) {
		s->row = row;
		s->row.name = (struct str){mem_strndup(row.name.p, row.name.n), row.name.n};
		s->has_row = true;
	}
	arena_release(&arena);
	return status;
}

enum store_status postgres_kept_space_grows(struct store_conn *c, int64_t space, int64_t bytes, int64_t agents)
{
	struct kept_space *s = space_of(kept_of(c), space);
	enum store_status status = s->has_row ? STORE_OK : read_row(c, s);

	if (status != STORE_OK)
		return status;
	s->row.bytes += bytes;
	s->new_bytes += bytes;
	s->row.agents += agents;
	s->new_agents += agents;
	kept_of(c)->has_counted = true;
	return STORE_OK;
}

static void keep_only_event(struct kept_space *s)
{
	struct kept_space kept = {.next = s->next, .id = s->id, .has_event = true, .last_event = s->last_event};

	free((char *)(uintptr_t)s->row.name.p);
	*s = kept;
}

void postgres_kept_space_changed(struct store_conn *c, int64_t space)
{
	struct kept_space **at, *s;

	postgres_cache_change(c, &row_space, space, STR_NULL);
	if (!postgres_keeps(c))
		return;
	at = place_of(kept_of(c), space);
	s = *at;
	if (s == NULL)
		return;
	assert((s->new_bytes == 0 && s->new_agents == 0) || postgres_of(c)->is_broken);
	/* No statement gives an event its number: to read that again would be a round trip for each memory. */
	if (s->has_event) {
		keep_only_event(s);
		return;
	}
	*at = s->next;
	free_space(s);
}

/* --- Numbers --- */

enum store_status postgres_kept_event_next(struct store_conn *c, int64_t space, int64_t *ret_id, int64_t *ret_number)
{
	struct postgres_kept *k = kept_of(c);
	struct kept_space *s = space_of(k, space);
	int64_t last = k->last_event, number = s->last_event;
	bool has_number = s->has_event;
	enum store_status status = STORE_OK;

	if (!k->has_event)
		status = postgres_event_read_last(c, &last);
	if (status == STORE_OK && !has_number)
		status = postgres_event_read_number(c, space, &number);
	if (status != STORE_OK)
		return status;
	/* What was read may have made something of what was kept go. */
	s = space_of(k, space);
	k->has_event = s->has_event = true;
	*ret_id = k->last_event = last + 1;
	*ret_number = s->last_event = number + 1;
	return STORE_OK;
}

bool postgres_kept_event_last(const struct store_conn *c, int64_t *ret)
{
	const struct postgres_kept *k = kept_of(c);

	if (k == NULL || !k->has_event)
		return false;
	*ret = k->last_event;
	return true;
}

enum store_status postgres_kept_handoff_last(struct store_conn *c, int64_t space, uint64_t *ret)
{
	struct kept_space *s = space_of(kept_of(c), space);
	enum store_status status = STORE_OK;

	if (!s->has_handoff)
		status = postgres_handoff_read_last(c, space, &s->last_handoff);
	if (status != STORE_OK)
		return status;
	s->has_handoff = true;
	*ret = s->last_handoff;
	return STORE_OK;
}

void postgres_kept_handoff_given(struct store_conn *c, int64_t space, uint64_t num)
{
	space_of(kept_of(c), space)->last_handoff = num;
}

static uint64_t *word_of(struct kept_space *s, uint64_t num)
{
	return &s->envelopes[num % ENVELOPE_WINDOW / 64];
}

/* Also one that only a handoff names. */
static enum store_status read_top(struct store_conn *c, int64_t space, uint64_t *ret)
{
	static const char sql[] =
		"SELECT max(envelope) FROM handoff WHERE shard = $1 AND envelope > $2 AND envelope <= $3";
	struct postgres_query q;
	uint64_t named = 0;
	enum store_status status = postgres_envelope_last(c, space, ret);

	if (status != STORE_OK)
		return status;
	postgres_query(&q, c, sql);
	postgres_bind_int(&q, 2, postgres_key(space, 0));
	postgres_bind_int(&q, 3, postgres_key(space, MEMORY_NUM_MAX));
	status = postgres_read_num(&q, &named);
	*ret = *ret > named ? *ret : named;
	return status;
}

enum store_status postgres_kept_envelope_is_free(struct store_conn *c, int64_t space, uint64_t num, bool *ret)
{
	struct kept_space *s = space_of(kept_of(c), space);
	enum store_status status = STORE_OK;

	if (!s->has_envelope) {
		status = read_top(c, space, &s->envelope_top);
		s->envelope_known = s->envelope_top + 1;
	}
	if (status != STORE_OK)
		return status;
	s->has_envelope = true;
	*ret = num > s->envelope_top || (num >= s->envelope_known && (*word_of(s, num) >> num % 64 & 1) == 0);
	return STORE_OK;
}

/* The window ends with the highest. */
void postgres_kept_envelope_given(struct store_conn *c, int64_t space, uint64_t num)
{
	struct kept_space *s = space_of(kept_of(c), space);

	if (!s->has_envelope)
		return;
	if (num >= s->envelope_top + ENVELOPE_WINDOW) {
		memset(s->envelopes, 0, sizeof(s->envelopes));
		s->envelope_top = s->envelope_known = num;
	}
	while (s->envelope_top < num) {
		s->envelope_top++;
		*word_of(s, s->envelope_top) &= ~(UINT64_C(1) << s->envelope_top % 64);
	}
	if (s->envelope_known + ENVELOPE_WINDOW <= s->envelope_top)
		s->envelope_known = s->envelope_top - ENVELOPE_WINDOW + 1;
	if (num >= s->envelope_known)
		*word_of(s, num) |= UINT64_C(1) << num % 64;
}

/* --- Agents that are due --- */

bool postgres_kept_target_due(const struct store_conn *c, int64_t *ret_ms)
{
	const struct postgres_kept *k = kept_of(c);

	if (k == NULL || !k->has_target_due)
		return false;
	*ret_ms = k->target_due_ms;
	return true;
}

void postgres_kept_target_due_is(struct store_conn *c, int64_t due_ms)
{
	if (!postgres_keeps(c))
		return;
	kept_of(c)->has_target_due = true;
	kept_of(c)->target_due_ms = due_ms;
}

void postgres_kept_target_due_changed(struct store_conn *c)
{
	if (kept_of(c))
		kept_of(c)->has_target_due = false;
}

/* --- Rows of the transaction --- */

/* A transaction may be large: not all of it is held in memory. */
static enum store_status send_much(struct store_conn *c)
{
	const struct postgres_gather *g = &kept_of(c)->gather;

	return g->row_count < GATHER_ROWS && g->bytes < GATHER_BYTES ? STORE_OK : postgres_kept_send(c);
}

enum store_status postgres_kept_event(struct store_conn *c, const struct event_row *event)
{
	postgres_gather_event(&kept_of(c)->gather, event);
	return send_much(c);
}

enum store_status postgres_kept_envelope(struct store_conn *c, const struct envelope_row *row, int64_t task,
					 bool is_new)
{
	postgres_gather_envelope(&kept_of(c)->gather, row, task, is_new);
	return send_much(c);
}

enum store_status postgres_kept_handoff(struct store_conn *c, const struct handoff_row *h, bool is_new)
{
	postgres_gather_handoff(&kept_of(c)->gather, h, is_new);
	return send_much(c);
}

enum store_status postgres_kept_statement(struct store_conn *c, const struct postgres_query *q)
{
	enum store_status status = postgres_kept_may_write(c);

	if (status != STORE_OK)
		return status;
	postgres_gather_statement(&kept_of(c)->gather, q);
	return send_much(c);
}

const struct postgres_gather *postgres_kept_gathered(const struct store_conn *c)
{
	return postgres_keeps(c) ? &kept_of(c)->gather : NULL;
}

/* --- What is open --- */

struct postgres_live *postgres_kept_live(struct store_conn *c, enum store_status *ret_status)
{
	struct postgres_kept *k = kept_of(c);

	*ret_status = STORE_OK;
	if (k == NULL || k->live || !postgres_of(c)->in_transaction)
		return k ? k->live : NULL;
	k->live = postgres_live_new();
	*ret_status = postgres_live_read(c, k->live);
	if (*ret_status != STORE_OK) {
		postgres_live_free(k->live);
		k->live = NULL;
		return NULL;
	}
	/* How it is now is no change. */
	postgres_live_keep(k->live);
	return k->live;
}
