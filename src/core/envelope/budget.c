#include "core/envelope/budget.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Cells of the table: a million takes about half a millisecond. Within it the choice is the best that there is, so
 * that more room, or more to choose from, never gives less. */
enum { BUDGET_CELLS_MAX = 1 << 23 };

/* All items together may be worth this much, so that sums have room in 32 bits, also below 0. */
enum { WORTH_UNITS = 1 << 14, WORTH_MAX = 1 << 30 };

enum { LANES = 4 };

static void choose_best(struct budget_item *items, size_t count)
{
	for (size_t i = 0; i < count; i++)
		items[i].chosen = 0;
}

static bool all_fit(const struct budget_item *items, size_t count, int64_t capacity)
{
	int64_t total = 0;

	for (size_t i = 0; i < count; i++) {
		total += items[i].cost[0];
		if (total > capacity)
			return false;
	}
	return true;
}

/* The tokens that matter when item i is looked at: fewer than `from` cannot be left for it, even if all items behind
 * it are taken at their dearest, and more than `to` cannot be spent on it and those before it, so that everything
 * above is as it is there. Where almost everything fits, which is usual, this is a narrow band of the table. */
struct band {
	size_t from;
	size_t to;
	uint8_t *took;		/* for each number of tokens in it the form, plus one; LANES spare ones before it */
};

static int64_t dearest(const struct budget_item *item)
{
	int64_t cost = 0;

	for (int f = 0; f < item->form_count; f++)
		cost = item->cost[f] > cost ? item->cost[f] : cost;
	return cost;
}

static struct band *make_bands(const struct budget_item *items, size_t count, int64_t capacity, struct arena *arena)
{
	struct band *bands = arena_calloc(arena, count, sizeof(*bands));
	int64_t before = 0, behind = 0;

	for (size_t i = 0; i < count; i++) {
		before += dearest(&items[i]);
		bands[i].to = (size_t)(before < capacity ? before : capacity);
	}
	for (size_t i = count; i-- > 0; behind += dearest(&items[i])) {
		bands[i].from = (size_t)(behind < capacity ? capacity - behind : 0);
		if (bands[i].from > bands[i].to)
			bands[i].from = bands[i].to;
		bands[i].took = (uint8_t *)arena_calloc(arena, LANES + bands[i].to - bands[i].from + 1, 1) + LANES;
	}
	return bands;
}

/* Values as whole numbers, because sums of those are exact: of items that are worth the same it is then always the
 * first that is kept, and not the one that rounding favours at the moment. */
static int64_t worth(double value)
{
	int64_t units = llround(value * WORTH_UNITS);

	return units > 0 ? units : 1;
}

double budget_value(double value)
{
	return (double)worth(value) / WORTH_UNITS;
}

static int64_t worth_of_all(const struct budget_item *items, size_t count)
{
	int64_t total = 0;

	for (size_t i = 0; i < count && total < WORTH_MAX; i++) {
		int64_t most = 0;

		for (int f = 0; f < items[i].form_count; f++)
			most = worth(items[i].value[f]) > most ? worth(items[i].value[f]) : most;
		total += most;
	}
	return total;
}

/* A form of the item at hand that is not too dear by itself. */
struct option {
	int32_t cost;
	int32_t gain;
	int32_t took;		/* the form, plus one */
};

typedef int32_t four_ints __attribute__((vector_size(LANES * sizeof(int32_t))));
typedef int8_t four_bytes __attribute__((vector_size(LANES)));

/* The worst form first: where it comes to the same, an item before keeps its better one. */
static int make_options(const struct budget_item *item, size_t capacity, struct option *ret)
{
	int count = 0;

	for (int f = item->form_count - 1; f >= 0; f--)
		if (item->cost[f] <= (int64_t)capacity)
			ret[count++] = (struct option){(int32_t)item->cost[f], (int32_t)worth(item->value[f]), f + 1};
	return count;
}

static inline four_ints read_four(const int32_t *p)
{
	four_ints v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Decides about an item for LANES numbers of tokens at once. */
static inline void choose_four(int32_t *best, uint8_t *took, const struct option *options, int count)
{
	four_ints top = read_four(best), form = {0};
	four_bytes bytes;

	for (int i = 0; i < count; i++) {
		four_ints with = read_four(best - options[i].cost) + options[i].gain;
		four_ints is_more = with > top;		/* all bits of each, or none */

		top = (with & is_more) | (top & ~is_more);
		form = (options[i].took & is_more) | (form & ~is_more);
	}
	bytes = __builtin_convertvector(form, four_bytes);
	memcpy(best, &top, sizeof(top));
	memcpy(took, &bytes, sizeof(bytes));
}

/* best[u] is the highest value that u tokens can hold; far below 0 where u is. */
static void solve(struct budget_item *items, size_t count, size_t capacity, struct arena *arena)
{
	int32_t *best = (int32_t *)arena_calloc(arena, 2 * (LANES + capacity) + 1, sizeof(*best)) + LANES + capacity;
	struct band *bands = make_bands(items, count, (int64_t)capacity, arena);
	size_t known = 0;

	for (size_t u = 1; u <= LANES + capacity; u++)
		best[-(ptrdiff_t)u] = -WORTH_MAX;
	for (size_t i = 0; i < count; i++) {
		const struct band *band = &bands[i];
		struct option options[BUDGET_FORMS];
		int option_count = make_options(&items[i], capacity, options);
		ptrdiff_t from = (ptrdiff_t)band->from;

		for (; known < band->to; known++)
			best[known + 1] = best[known];
		/* From above, as what is below must still be without the item. A few below the band do not matter. */
		for (ptrdiff_t u = (ptrdiff_t)band->to + 1 - LANES; u > from - LANES; u -= LANES)
			choose_four(best + u, band->took + (u - from), options, option_count);
	}
	for (size_t i = count, u = capacity; i-- > 0;) {
		size_t at = u < bands[i].to ? u : bands[i].to;
		int form = bands[i].took[at - bands[i].from] - 1;

		items[i].chosen = form;
		if (form != BUDGET_NONE)
			u -= (size_t)items[i].cost[form];
	}
}

/* --- Many items --- */

/* Going from one form of an item (or from none) to a better one. */
struct step {
	uint32_t item;
	int16_t from;		/* forms */
	int16_t to;
	int64_t cost;
	double gain;		/* of value for a token */
};

static int64_t cost_of(const struct budget_item *item, int form)
{
	return form == BUDGET_NONE ? 0 : item->cost[form];
}

static double value_of(const struct budget_item *item, int form)
{
	return form == BUDGET_NONE ? 0 : item->value[form];
}

/* The steps of one item, each the one with the most gain from where the last one led, so that gains only fall. */
static size_t item_steps(const struct budget_item *item, uint32_t index, struct step *ret)
{
	size_t count = 0;
	int from = BUDGET_NONE;

	for (;;) {
		struct step top = {.item = index, .from = (int16_t)from, .to = BUDGET_NONE};

		for (int f = 0; f < item->form_count; f++) {
			int64_t cost = item->cost[f] - cost_of(item, from);
			double value = item->value[f] - value_of(item, from);

			if (cost <= 0 || value <= 0 || value / (double)cost <= top.gain)
				continue;
			top.gain = value / (double)cost;
			top.cost = cost;
			top.to = (int16_t)f;
		}
		if (top.to == BUDGET_NONE)
			return count;
		ret[count++] = top;
		from = top.to;
	}
}

/* The most gain first; ties by position, so that the order is always the same. */
static int by_gain(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	if (x->gain != y->gain)
		return x->gain > y->gain ? -1 : 1;
	if (x->item != y->item)
		return x->item < y->item ? -1 : 1;
	return x->from < y->from ? -1 : 1;
}

static void take_steps(struct budget_item *items, size_t count, int64_t capacity, struct arena *arena)
{
	struct step *steps = arena_calloc(arena, count * BUDGET_FORMS, sizeof(*steps));
	size_t step_count = 0;

	for (size_t i = 0; i < count; i++) {
		items[i].chosen = BUDGET_NONE;
		step_count += item_steps(&items[i], (uint32_t)i, steps + step_count);
	}
	qsort(steps, step_count, sizeof(*steps), by_gain);
	for (size_t i = 0; i < step_count; i++) {
		struct budget_item *item = &items[steps[i].item];

		if (item->chosen != steps[i].from || steps[i].cost > capacity)
			continue;
		item->chosen = steps[i].to;
		capacity -= steps[i].cost;
	}
}

void budget_choose(struct budget_item *items, size_t count, int64_t capacity, struct arena *arena)
{
	if (all_fit(items, count, capacity)) {
		choose_best(items, count);
	} else if (capacity <= 0) {
		for (size_t i = 0; i < count; i++)
			items[i].chosen = BUDGET_NONE;
	} else if (capacity < BUDGET_CELLS_MAX && (int64_t)count * (capacity + 1) <= BUDGET_CELLS_MAX &&
		   worth_of_all(items, count) < WORTH_MAX) {
		solve(items, count, (size_t)capacity, arena);
	} else {
		take_steps(items, count, capacity, arena);
	}
}
