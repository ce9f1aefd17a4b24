/* The distance is the number of letters inserted, deleted, replaced, or swapped with their neighbour (optimal string
 * alignment). A name is worth suggesting where at most a third of the letters, and at least one, had to change. */
#include "base/nearest.h"

enum { NEAREST_MAX = 64 };	/* longer names are not compared */

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t least = a < b ? a : b;

	return least < c ? least : c;
}

static size_t distance(struct str a, struct str b)
{
	/* Three rows of the table are enough: a swap looks two rows back. */
	size_t rows[3][NEAREST_MAX + 1];
	size_t *before = rows[0], *above = rows[1], *row = rows[2];

	for (size_t j = 0; j <= b.n; j++)
		above[j] = j;
	for (size_t i = 1; i <= a.n; i++) {
		size_t *spare = before;

		row[0] = i;
		for (size_t j = 1; j <= b.n; j++) {
			size_t replace = above[j - 1] + (a.p[i - 1] != b.p[j - 1]);

			row[j] = min3(above[j] + 1, row[j - 1] + 1, replace);
			if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1] &&
			    before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
		}
		before = above;
		above = row;
		row = spare;
	}
	return above[b.n];
}

void nearest_init(struct nearest *n, struct str wanted)
{
	*n = (struct nearest){.wanted = wanted};
}

void nearest_offer(struct nearest *n, const char *name)
{
	struct str known = str_of(name);
	size_t limit = n->wanted.n / 3 > 0 ? n->wanted.n / 3 : 1;
	size_t d;

	if (n->wanted.n == 0 || n->wanted.n > NEAREST_MAX || known.n > NEAREST_MAX)
		return;
	d = distance(n->wanted, known);
	/* The beginning of a long name is what a hurried person types: "--idem" for "--idempotency-key". */
	if (n->wanted.n >= 3 && str_has_prefix(known, n->wanted))
		d = limit;
	if (d > limit || (n->best && d >= n->distance))
		return;
	n->best = name;
	n->distance = d;
}
