/* core/memory/memory.h: what may be done to memories, and what comes of it. The store is real, the time is an
 * argument. */
#include "temp_store.h"

#include "core/memory/memory.h"

struct desk {
	struct temp_store store;
	struct problem problem;
	bool changed;
};

static int setup(void **state)
{
	struct desk *d = mem_zalloc(sizeof(*d));

	temp_store_init(&d->store);
	must(store_begin(d->store.c));
	*state = d;
	return 0;
}

static int teardown(void **state)
{
	struct desk *d = *state;

	store_rollback(d->store.c);
	temp_store_release(&d->store);
	free(d);
	return 0;
}

static struct memory_draft draft(const char *content)
{
	return (struct memory_draft){.has = MEMORY_HAS_CONTENT, .content = str_of(content)};
}

static enum problem_code create(struct desk *d, const struct memory_draft *draft, struct memory *ret)
{
	return memory_create(d->store.c, d->store.space, draft, T0, ret, &d->problem);
}

static uint64_t make(struct desk *d, const char *content)
{
	struct memory_draft one = draft(content);
	struct memory m;

	assert_int_equal(create(d, &one, &m), P_OK);
	return m.num;
}

static enum problem_code update(struct desk *d, uint64_t num, uint32_t if_version, const struct memory_draft *draft,
				int64_t now_ms, struct memory *ret)
{
	return memory_update(d->store.c, d->store.space, num, if_version, draft, now_ms, &d->store.arena, ret,
			     &d->changed, &d->problem);
}

static struct memory read_one(struct desk *d, uint64_t num, uint32_t version)
{
	struct memory m;

	assert_int_equal(memory_read(d->store.c, d->store.space, (struct memory_id){num, version}, &d->store.arena, &m,
				     &d->problem), P_OK);
	return m;
}

static int64_t count(struct desk *d)
{
	int64_t n;

	must(store_space_count(d->store.c, d->store.space, &n));
	return n;
}

/* --- Ids ------------------------------------------------------------------------------------------ */

static void ids_are_read_strictly_and_written_back(void **state)
{
	static const struct {
		const char *text;
		uint64_t num;
		uint32_t version;
	} good[] = {{"ms-1", 1, 0}, {"ms-4821", 4821, 0}, {"ms-1@1", 1, 1}, {"ms-7@4294967295", 7, UINT32_MAX},
		    {"ms-1099511627775", MEMORY_NUM_MAX, 0}};
	static const char *const bad[] = {
		"", "ms", "ms-", "ms-0", "ms-01", "ms-+1", "ms--1", "ms-1 ", " ms-1", "MS-1", "ms-x", "ms-1x", "ms-1@",
		"ms-1@0", "ms-1@01", "ms-1@-1", "ms-1@x", "ms-1@1@1",
		"ms-1@4294967296", "ms-1099511627776", "ms-18446744073709551617", "ms-1\n", "4821", "m-1", "ms_1",
		"ms-@1",
	};
	char text[MEMORY_ID_SIZE];
	struct memory_id id;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(memory_id_parse(str_of(good[i].text), &id));
		assert_int_equal(id.num, good[i].num);
		assert_int_equal(id.version, good[i].version);
		assert_int_equal(memory_id_format(id.num, id.version, text), strlen(good[i].text));
		assert_string_equal(text, good[i].text);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		id = (struct memory_id){77, 7};
		if (memory_id_parse(str_of(bad[i]), &id))
			fail_msg("\"%s\" is no id", bad[i]);
		assert_int_equal(id.num, 77);
	}
	assert_false(memory_id_parse((struct str){"ms-1\0", 5}, &id));
}

/* --- State ---------------------------------------------------------------------------------------- */

static void forgotten_goes_before_superseded_and_that_before_expired(void **state)
{
	struct memory m = {0};

	(void)state;
	assert_int_equal(memory_state(&m, T0), MEMORY_ACTIVE);
	m.expires_at_ms = T0 + 1;
	assert_int_equal(memory_state(&m, T0), MEMORY_ACTIVE);
	assert_int_equal(memory_state(&m, T0 + 1), MEMORY_EXPIRED);
	m.superseded_by = 5;
	assert_int_equal(memory_state(&m, T0 + 1), MEMORY_SUPERSEDED);
	m.forgotten_at_ms = T0;
	assert_int_equal(memory_state(&m, T0 + 1), MEMORY_GONE);
	assert_string_equal(memory_state_name(MEMORY_GONE), "forgotten");
}

static void names_of_importance_and_trust_are_read_and_written(void **state)
{
	enum importance importance;
	enum trust trust;

	(void)state;
	for (int i = 0; i < 4; i++) {
		assert_true(memory_importance_parse(str_of(memory_importance_name((enum importance)i)), &importance));
		assert_int_equal(importance, i);
		assert_true(memory_trust_parse(str_of(memory_trust_name((enum trust)i)), &trust));
		assert_int_equal(trust, i);
	}
	assert_false(memory_importance_parse(STR("urgent"), &importance));
	assert_false(memory_importance_parse(STR(""), &importance));
	assert_false(memory_trust_parse(STR("Agent"), &trust));
}

/* --- Creating ------------------------------------------------------------------------------------- */

static void a_new_memory_has_the_defaults_of_the_protocol(void **state)
{
	struct desk *d = *state;
	struct memory_draft one = draft("text");
	struct memory m, stored;
	uint8_t digest[32];

	assert_int_equal(create(d, &one, &m), P_OK);
	stored = read_one(d, m.num, 0);
	sha256(STR("text"), digest);
	for (int i = 0; i < 2; i++) {
		const struct memory *r = i ? &stored : &m;

		assert_int_equal(r->num, 1);
		assert_int_equal(r->version, 1);
		assert_int_equal(r->created_at_ms, T0);
		assert_int_equal(r->updated_at_ms, T0);
		assert_int_equal(r->importance, IMPORTANCE_MEDIUM);
		assert_int_equal(r->trust, TRUST_AGENT);
		assert_str(r->kind, "note");
		assert_str(r->tags, "[]");
		assert_str(r->metadata, "{}");
		assert_null(r->agent.p);
		assert_false(r->pinned);
		assert_memory_equal(r->digest, digest, sizeof(digest));
	}
}

static void a_lifetime_counts_from_now(void **state)
{
	struct desk *d = *state;
	struct memory_draft one = draft("text");
	struct memory m;

	one.has |= MEMORY_HAS_TTL;
	one.ttl_s = 60;
	assert_int_equal(create(d, &one, &m), P_OK);
	assert_int_equal(m.expires_at_ms, T0 + 60000);
	one.ttl_s = MEMORY_TTL_MAX_S;
	assert_int_equal(create(d, &one, &m), P_OK);
	assert_int_equal(m.expires_at_ms, T0 + MEMORY_TTL_MAX_S * 1000);
}

static void nothing_is_created_in_the_future(void **state)
{
	struct desk *d = *state;
	struct memory_draft one = draft("text");
	struct memory m;

	one.has |= MEMORY_HAS_CREATED_AT;
	one.created_at_ms = T0 + 1;
	assert_int_equal(create(d, &one, &m), P_INVALID_FIELD);
	assert_string_equal(d->problem.field, "created_at");
	assert_int_equal(count(d), 0);
	one.created_at_ms = T0;
	assert_int_equal(create(d, &one, &m), P_OK);
	one.created_at_ms = 5;
	assert_int_equal(create(d, &one, &m), P_OK);
	assert_int_equal(m.created_at_ms, 5);
	assert_int_equal(m.updated_at_ms, T0);
}

static void a_taken_id_is_a_problem_and_nothing_is_written(void **state)
{
	struct desk *d = *state;
	struct memory_draft one = draft("text");
	struct memory m;

	one.has |= MEMORY_HAS_ID;
	one.num = 9;
	assert_int_equal(create(d, &one, &m), P_OK);
	assert_int_equal(create(d, &one, &m), P_ID_TAKEN);
	assert_string_equal(d->problem.field, "id");
	assert_non_null(strstr(d->problem.detail, "ms-9"));
	assert_int_equal(count(d), 1);
	assert_int_equal(make(d, "next"), 10);
}

static void what_is_superseded_knows_its_successor(void **state)
{
	struct desk *d = *state;
	struct memory_draft one = draft("new");
	uint64_t old = make(d, "old");
	struct memory m;

	one.has |= MEMORY_HAS_SUPERSEDES;
	one.supersedes = old;
	assert_int_equal(create(d, &one, &m), P_OK);
	assert_int_equal(m.supersedes, old);
	assert_int_equal(read_one(d, old, 0).superseded_by, m.num);

	assert_int_equal(create(d, &one, &m), P_ALREADY_SUPERSEDED);
	assert_string_equal(d->problem.field, "supersedes");
	one.supersedes = 77;
	assert_int_equal(create(d, &one, &m), P_MEMORY_NOT_FOUND);
	one.supersedes = 2;
	must(store_memory_forget(d->store.c, d->store.space, 2, T0));
	assert_int_equal(create(d, &one, &m), P_MEMORY_FORGOTTEN);
	assert_int_equal(count(d), 1);
}

static void many_are_created_or_none_and_the_problem_names_the_place(void **state)
{
	struct desk *d = *state;
	struct memory_draft drafts[4] = {draft("a"), draft("b"), draft("c"), draft("d")};
	struct memory made[4];
	uint64_t old = make(d, "old");

	drafts[1].has |= MEMORY_HAS_SUPERSEDES;
	drafts[1].supersedes = old;
	drafts[3].has |= MEMORY_HAS_ID;
	drafts[3].num = old;
	assert_int_equal(memory_create_many(d->store.c, d->store.space, drafts, 4, T0, made, &d->problem), P_ID_TAKEN);
	assert_string_equal(d->problem.field, "memories[3].id");
	assert_int_equal(count(d), 1);
	assert_int_equal(read_one(d, old, 0).superseded_by, 0);

	assert_int_equal(memory_create_many(d->store.c, d->store.space, drafts, 3, T0, made, &d->problem), P_OK);
	assert_int_equal(count(d), 4);
	assert_int_equal(made[0].num, 2);
	assert_int_equal(made[2].num, 4);
	assert_int_equal(read_one(d, old, 0).superseded_by, 3);
	assert_int_equal(make(d, "the transaction goes on"), 5);
}

/* --- Changing ------------------------------------------------------------------------------------- */

static void a_change_makes_a_version_and_no_change_makes_none(void **state)
{
	struct desk *d = *state;
	uint64_t num = make(d, "one");
	struct memory_draft change = draft("two"), same = draft("two"), empty = {0};
	struct memory m;

	assert_int_equal(update(d, num, 0, &change, T0 + 5, &m), P_OK);
	assert_true(d->changed);
	assert_int_equal(m.version, 2);
	assert_int_equal(m.current_version, 2);
	assert_int_equal(m.updated_at_ms, T0 + 5);
	assert_int_equal(m.created_at_ms, T0);
	assert_int_equal(update(d, num, 0, &same, T0 + 9, &m), P_OK);
	assert_false(d->changed);
	assert_int_equal(m.version, 2);
	assert_int_equal(m.updated_at_ms, T0 + 5);
	assert_int_equal(update(d, num, 0, &empty, T0 + 9, &m), P_OK);
	assert_false(d->changed);
	assert_str(read_one(d, num, 1).content, "one");
	assert_str(read_one(d, num, 0).content, "two");
}

static void each_field_alone_makes_a_version(void **state)
{
	struct desk *d = *state;
	uint64_t num = make(d, "one");
	struct memory_draft fields[] = {
		{.has = MEMORY_HAS_CONTENT, .content = STR("two")}, {.has = MEMORY_HAS_SUMMARY, .summary = STR("s")},
			{.has = MEMORY_HAS_KIND, .kind = STR("fact")},
		{.has = MEMORY_HAS_TAGS, .tags = STR("[\"a\"]")}, {.has = MEMORY_HAS_IMPORTANCE,
								   .importance = IMPORTANCE_HIGH},
								   	{.has = MEMORY_HAS_AGENT, .agent = STR("a")},
		{.has = MEMORY_HAS_TASK, .task = STR("t")}, {.has = MEMORY_HAS_TRUST, .trust = TRUST_USER},
			{.has = MEMORY_HAS_METADATA, .metadata = STR("{\"a\":1}")},
		{.has = MEMORY_HAS_EXPIRES_AT, .expires_at_ms = T0 + 7}, {.has = MEMORY_HAS_TTL, .ttl_s = 9},
			{.has = MEMORY_HAS_EXPIRES_AT}, {.has = MEMORY_HAS_SUMMARY},
		{.has = MEMORY_HAS_AGENT}, {.has = MEMORY_HAS_TASK},
	};
	uint32_t version = 1;
	struct memory m;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		assert_int_equal(update(d, num, 0, &fields[i], T0, &m), P_OK);
		assert_true(d->changed);
		assert_int_equal(m.version, ++version);
		assert_int_equal(update(d, num, 0, &fields[i], T0, &m), P_OK);
		assert_false(d->changed);
	}
	m = read_one(d, num, 0);
	assert_null(m.summary.p);
	assert_null(m.agent.p);
	assert_int_equal(m.expires_at_ms, 0);
	assert_str(m.content, "two");
	assert_int_equal(m.trust, TRUST_USER);
}

static void a_pin_is_a_change_but_no_version(void **state)
{
	struct desk *d = *state;
	uint64_t num = make(d, "one");
	struct memory_draft pin = {.has = MEMORY_HAS_PINNED, .pinned = true};
	struct memory m;

	assert_int_equal(update(d, num, 0, &pin, T0 + 5, &m), P_OK);
	assert_true(d->changed);
	assert_true(m.pinned);
	assert_int_equal(m.version, 1);
	assert_int_equal(m.updated_at_ms, T0);
	assert_int_equal(update(d, num, 0, &pin, T0 + 5, &m), P_OK);
	assert_false(d->changed);
	assert_true(read_one(d, num, 0).pinned);
}

static void a_change_needs_the_version_that_was_named(void **state)
{
	struct desk *d = *state;
	uint64_t num = make(d, "one");
	struct memory_draft change = draft("two"), later = draft("three");
	struct memory m = {.num = 77};

	assert_int_equal(update(d, num, 2, &change, T0, &m), P_PRECONDITION_FAILED);
	assert_int_equal(m.num, 77);
	assert_int_equal(update(d, num, 1, &change, T0, &m), P_OK);
	assert_int_equal(update(d, num, 1, &later, T0, &m), P_PRECONDITION_FAILED);
	assert_string_equal(d->problem.extra_key, "current_version");
	assert_int_equal(d->problem.extra, 2);
	assert_int_equal(memory_revert(d->store.c, d->store.space, num, 1, 1, &(struct memory_draft){0},
					T0, &d->store.arena, &m, &d->changed,
				       &d->problem), P_PRECONDITION_FAILED);
	assert_int_equal(memory_forget(d->store.c, d->store.space, num, 1, T0, &d->store.arena, &m, &d->changed,
				       &d->problem), P_PRECONDITION_FAILED);
	assert_str(read_one(d, num, 0).content, "two");
}

static void a_revert_says_again_what_the_version_said(void **state)
{
	struct desk *d = *state;
	uint64_t num = make(d, "one");
	struct memory_draft change = draft("two");
	struct memory m;

	change.has |= MEMORY_HAS_PINNED | MEMORY_HAS_SUMMARY;
	change.pinned = true;
	change.summary = STR("s");
	assert_int_equal(update(d, num, 0, &change, T0 + 1, &m), P_OK);
	assert_int_equal(memory_revert(d->store.c, d->store.space, num, 2, 1, &(struct memory_draft){0},
					T0 + 2, &d->store.arena, &m, &d->changed,
				       &d->problem), P_OK);
	assert_true(d->changed);
	assert_int_equal(m.version, 3);
	assert_str(m.content, "one");
	assert_null(m.summary.p);
	assert_true(m.pinned);	/* of the memory, not of a version */
	assert_int_equal(m.updated_at_ms, T0 + 2);
	assert_int_equal(memory_revert(d->store.c, d->store.space, num, 0, 3, &(struct memory_draft){0},
					T0 + 3, &d->store.arena, &m, &d->changed,
				       &d->problem), P_OK);
	assert_false(d->changed);
	assert_int_equal(memory_revert(d->store.c, d->store.space, num, 0, 4, &(struct memory_draft){0},
					T0 + 3, &d->store.arena, &m, &d->changed,
				       &d->problem), P_INVALID_FIELD);
	assert_string_equal(d->problem.field, "version");
}

static void what_is_forgotten_stays_so_and_cannot_be_changed(void **state)
{
	struct desk *d = *state;
	uint64_t num = make(d, "one");
	struct memory_draft change = draft("two");
	struct memory m;

	assert_int_equal(memory_forget(d->store.c, d->store.space, num, 1, T0 + 1, &d->store.arena, &m, &d->changed,
				       &d->problem), P_OK);
	assert_true(d->changed);
	assert_int_equal(m.forgotten_at_ms, T0 + 1);
	assert_null(m.content.p);
	assert_int_equal(memory_forget(d->store.c, d->store.space, num, 0, T0 + 2, &d->store.arena, &m, &d->changed,
				       &d->problem), P_OK);
	assert_false(d->changed);
	assert_int_equal(m.forgotten_at_ms, T0 + 1);
	assert_int_equal(update(d, num, 0, &change, T0, &m), P_MEMORY_FORGOTTEN);
	assert_int_equal(memory_revert(d->store.c, d->store.space, num, 0, 1, &(struct memory_draft){0},
					T0, &d->store.arena, &m, &d->changed,
				       &d->problem), P_MEMORY_FORGOTTEN);
	assert_int_equal(read_one(d, num, 1).forgotten_at_ms, T0 + 1);
}

static void what_is_unknown_cannot_be_changed(void **state)
{
	struct desk *d = *state;
	struct memory_draft change = draft("two");
	struct memory m;

	make(d, "one");
	assert_int_equal(update(d, 5, 0, &change, T0, &m), P_MEMORY_NOT_FOUND);
	assert_non_null(strstr(d->problem.detail, "ms-5"));
	assert_int_equal(memory_forget(d->store.c, d->store.space, 5, 0, T0, &d->store.arena, &m, &d->changed,
				       &d->problem), P_MEMORY_NOT_FOUND);
	assert_int_equal(memory_revert(d->store.c, 99, 1, 0, 1, &(struct memory_draft){0},
					T0, &d->store.arena, &m, &d->changed, &d->problem),
			 P_MEMORY_NOT_FOUND);
	assert_int_equal(memory_read(d->store.c, d->store.space, (struct memory_id){1, 2}, &d->store.arena, &m,
				     &d->problem), P_MEMORY_NOT_FOUND);
	assert_non_null(strstr(d->problem.detail, "ms-1@2"));
}

int main(void)
{
#define with_desk(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest memory[] = {
		cmocka_unit_test(ids_are_read_strictly_and_written_back),
		cmocka_unit_test(forgotten_goes_before_superseded_and_that_before_expired),
		cmocka_unit_test(names_of_importance_and_trust_are_read_and_written),
		with_desk(a_new_memory_has_the_defaults_of_the_protocol),
		with_desk(a_lifetime_counts_from_now),
		with_desk(nothing_is_created_in_the_future),
		with_desk(a_taken_id_is_a_problem_and_nothing_is_written),
		with_desk(what_is_superseded_knows_its_successor),
		with_desk(many_are_created_or_none_and_the_problem_names_the_place),
		with_desk(a_change_makes_a_version_and_no_change_makes_none),
		with_desk(each_field_alone_makes_a_version),
		with_desk(a_pin_is_a_change_but_no_version),
		with_desk(a_change_needs_the_version_that_was_named),
		with_desk(a_revert_says_again_what_the_version_said),
		with_desk(what_is_forgotten_stays_so_and_cannot_be_changed),
		with_desk(what_is_unknown_cannot_be_changed),
	};

	return cmocka_run_group_tests(memory, NULL, NULL);
}
