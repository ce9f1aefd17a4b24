/* Which form of each item to keep within a number of tokens: the choice with the highest value.
 *
 * Every item can be kept in one of a few forms (whole, summary, reference), each with its cost and value, or be left
 * out. That is the multiple-choice knapsack problem. It is solved exactly, by dynamic programming over the tokens,
 * where the table is small enough. Beyond that there are so many items that taking the steps with the most value for a
 * token first, as long as they fit, comes as close: it misses the best by less than the value of one item. The same
 * items give the same choice.
 */
#ifndef SPINE_CORE_BUDGET_H
#define SPINE_CORE_BUDGET_H

#include "base/arena.h"

enum { BUDGET_FORMS = 3, BUDGET_NONE = -1 };

struct budget_item {
	int form_count;			/* 1 to BUDGET_FORMS; the best form first */
	int64_t cost[BUDGET_FORMS];	/* tokens, above 0 */
	double value[BUDGET_FORMS];	/* above 0 */
	int chosen;			/* the result: a form, or BUDGET_NONE */
};

/* The value as the choice counts it: in whole units, at least one. Sums of such values are exact, so that what the
 * choice holds for more is more when it is added up. */
double budget_value(double value);

/* Sets `chosen` of every item so that the costs stay within capacity. */
void budget_choose(struct budget_item *items, size_t count, int64_t capacity, struct arena *arena);

#endif
