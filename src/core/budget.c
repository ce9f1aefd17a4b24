#include "core/budget.h"

/* Cells of the table; half a million take about half a millisecond. */
enum { BUDGET_CELLS_MAX = 1 << 20, BUDGET_FILL_ROUNDS = 256 };

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

/* best[u] is the highest value that u units can hold; took[i][u] the form of item i in it, plus one. */
static void solve(struct budget_item *items, size_t count, int64_t capacity, int64_t unit, struct arena *arena)
{
	size_t units = (size_t)(capacity / unit);
	double *best = arena_calloc(arena, units + 1, sizeof(*best));
	uint8_t *took = arena_calloc(arena, count * (units + 1), 1);

	for (size_t i = 0; i < count; i++) {
		uint8_t *row = took + i * (units + 1);

		for (size_t u = units; u > 0; u--) {
			double top = best[u];

			for (int f = 0; f < items[i].form_count; f++) {
				size_t cost = (size_t)((items[i].cost[f] + unit - 1) / unit);

				if (cost <= u && best[u - cost] + items[i].value[f] > top) {
					top = best[u - cost] + items[i].value[f];
					row[u] = (uint8_t)(f + 1);
				}
			}
			best[u] = top;
		}
	}
	for (size_t i = count, u = units; i-- > 0;) {
		int form = took[i * (units + 1) + u] - 1;

		items[i].chosen = form;
		if (form != BUDGET_NONE)
			u -= (size_t)((items[i].cost[form] + unit - 1) / unit);
	}
}

/* What rounding left free goes to the upgrade with the most value for a token, as long as there is one. */
static void fill_up(struct budget_item *items, size_t count, int64_t capacity)
{
	int64_t left = capacity;

	for (size_t i = 0; i < count; i++)
		left -= items[i].chosen == BUDGET_NONE ? 0 : items[i].cost[items[i].chosen];
	for (size_t rounds = 0; rounds < BUDGET_FILL_ROUNDS; rounds++) {
		struct budget_item *item = NULL;
		int64_t item_cost = 0;
		double top = 0;
		int form = 0;

		for (size_t i = 0; i < count; i++) {
			int64_t cost_now = items[i].chosen == BUDGET_NONE ? 0 : items[i].cost[items[i].chosen];
			double value_now = items[i].chosen == BUDGET_NONE ? 0 : items[i].value[items[i].chosen];

			for (int f = 0; f < items[i].form_count; f++) {
				int64_t cost = items[i].cost[f] - cost_now;
				double value = items[i].value[f] - value_now;

				if (cost > left || value <= 0 || value / (double)(cost > 0 ? cost : 1) <= top)
					continue;
				top = value / (double)(cost > 0 ? cost : 1);
				item = &items[i];
				item_cost = cost;
				form = f;
			}
		}
		if (item == NULL)
			return;
		item->chosen = form;
		left -= item_cost;
	}
}

void budget_choose(struct budget_item *items, size_t count, int64_t capacity, struct arena *arena)
{
	int64_t unit;

	if (all_fit(items, count, capacity)) {
		choose_best(items, count);
		return;
	}
	if (capacity <= 0) {
		for (size_t i = 0; i < count; i++)
			items[i].chosen = BUDGET_NONE;
		return;
	}
	unit = 1 + ((int64_t)count * (capacity + 1)) / BUDGET_CELLS_MAX;
	solve(items, count, capacity, unit, arena);
	if (unit > 1)
		fill_up(items, count, capacity);
}
