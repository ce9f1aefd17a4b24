#include "core/delivery/agent_name.h"

#include "core/delivery/agent.h"

/* A slip is one letter in three at the most, and never more than two: "coder" and "reader" are two names. */
enum { SLIPS_MAX = 2, LETTERS_FOR_A_SLIP = 3 };

static int least(int a, int b)
{
	return a < b ? a : b;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

int agent_name_distance(struct str a, struct str b)
{
	/* The rows of the table for the last two letters of a, and for this one. */
	int rows[3][AGENT_NAME_MAX + 1];
	size_t shorter = a.n < b.n ? a.n : b.n, longer = a.n < b.n ? b.n : a.n;
	int slips = least(SLIPS_MAX, (int)(longer / LETTERS_FOR_A_SLIP)), distance;

	if (longer > AGENT_NAME_MAX || longer - shorter > SLIPS_MAX)
		return AGENT_NAME_FAR;
	for (size_t j = 0; j <= b.n; j++)
		rows[0][j] = (int)j;
	for (size_t i = 1; i <= a.n; i++) {
		int *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

		now[0] = (int)i;
		for (size_t j = 1; j <= b.n; j++) {
			char x = lower(a.p[i - 1]), y = lower(b.p[j - 1]);

			now[j] = least(least(last[j] + 1, now[j - 1] + 1), last[j - 1] + (x != y));
			if (i > 1 && j > 1 && x == lower(b.p[j - 2]) && lower(a.p[i - 2]) == y)
				now[j] = least(now[j], before[j - 2] + 1);
		}
	}
	distance = rows[a.n % 3][b.n];
	return distance <= slips ? distance : AGENT_NAME_FAR;
}
