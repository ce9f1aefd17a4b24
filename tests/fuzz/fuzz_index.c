/* The search index: documents and queries of any bytes, a line each. What is listed is there, hits fall in score and
 * come once, and an explanation gives the score of its hit. */
#include "fuzz.h"

#include "text/analyze.h"
#include "text/index.h"
#include "text/termbag.h"

enum { HITS = 64, NOW = 1000000 };

struct fuzz_index {
	struct index *ix;
	struct index_scratch *scratch;
	struct analyzer *analyzer;
	struct termbag bag;
	uint64_t next;
};

static void add(struct fuzz_index *f, struct str text, uint8_t how)
{
	static const char *const labels[] = {"a", "b", "c", "d"};
	struct str label = str_of(labels[how & 3]);

	termbag_clear(&f->bag);
	termbag_add_text(&f->bag, f->analyzer, text, 1);
	index_add(f->ix, &(struct index_document){
		.id = how & 0x40 ? 1 + how % 5 : ++f->next, .terms = &f->bag, .labels = &label, .label_count = 1,
		.group = how & 4 ? label : STR_NULL, .created_ms = NOW - how * 1000,
		.expires_ms = how & 8 ? NOW + how - 128 : INDEX_NEVER, .boost = (float)(how >> 4) / 4,
		.hidden = (how & 0x30) == 0x30,
	});
}

static void check_hits(const struct fuzz_index *f, const struct index_hit *hits, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		PROMISE(index_has(f->ix, hits[i].id), "a hit is there");
		PROMISE(i == 0 || hits[i].score <= hits[i - 1].score, "scores fall");
		for (size_t k = 0; k < i; k++)
			PROMISE(hits[k].id != hits[i].id, "a hit comes once");
	}
}

static void search(struct fuzz_index *f, struct str text, uint8_t how)
{
	struct str wanted = STR("a");
	struct index_labels group = {&wanted, 1};
	struct index_query q = {.terms = &f->bag, .filter = index_filter_any(), .max_postings = how & 2 ? 3 : 0,
				.shortlist = 8};
	struct index_hit hits[HITS];
	struct index_explanation e;
	uint64_t ids[HITS];
	size_t count, listed;

	termbag_clear(&f->bag);
	termbag_add_text(&f->bag, f->analyzer, text, 1);
	if (how & 1) {
		q.filter.require = &group;
		q.filter.require_count = 1;
	}
	q.filter.include_hidden = how & 4;
	q.filter.include_expired = how & 8;
	count = how & 16 ? index_search_near(f->ix, &q, NOW, HITS, f->scratch, hits)
			 : index_search(f->ix, &q, NOW, HITS, f->scratch, hits);
	check_hits(f, hits, count);
	for (size_t i = 0; i < count; i++)
		if (index_explain(f->ix, &q, NOW, hits[i].id, f->scratch, &e))
			index_explanation_release(&e);
	listed = index_list(f->ix, &q.filter, NOW, how & 32, HITS, f->scratch, ids);
	PROMISE(listed <= index_count(f->ix, &q.filter, NOW, f->scratch), "no more are listed than are counted");
	for (size_t i = 1; i < listed; i++)
		PROMISE(how & 32 ? ids[i] > ids[i - 1] : ids[i] < ids[i - 1], "a list is in order");
}

static void play(struct fuzz_index *f, struct str text)
{
	while (text.p && text.n) {
		struct str line = str_cut(&text, '\n');
		uint8_t verb = line.n ? (uint8_t)line.p[0] : 0, how = line.n > 1 ? (uint8_t)line.p[1] : 0;
		struct str rest = str_sub(line, line.n > 1 ? 2 : line.n, line.n);

		if (verb == '?')
			search(f, rest, how);
		else if (verb == '-')
			index_remove(f->ix, 1 + how % 8);
		else if (verb == '!')
			index_set_hidden(f->ix, 1 + how % 8, how & 1);
		else
			add(f, rest, how);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_index f = {.scratch = index_scratch_new(), .analyzer = analyzer_new()};

	f.ix = index_new(&index_config_default);
	termbag_init(&f.bag, index_config_default.seed);
	play(&f, fuzz_str(data, size));
	termbag_release(&f.bag);
	index_free(f.ix);
	index_scratch_free(f.scratch);
	analyzer_free(f.analyzer);
	return 0;
}
