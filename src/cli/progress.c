#include "cli/progress.h"

#include "base/clock.h"

#include <stdio.h>

enum { BAR_WIDTH = 30 };

#define REDRAW_NS 100000000

void progress_init(struct progress *p, const struct cli *cli, const char *what, int64_t total)
{
	*p = (struct progress){.cli = cli, .what = what, .total = total};
}

void progress_show(struct progress *p, int64_t count, int64_t done)
{
	int64_t now_ns = clock_mono_ns();
	char bar[BAR_WIDTH + 1];
	int filled;

	if (!p->cli->err.is_terminal || (p->drawn_ns && now_ns - p->drawn_ns < REDRAW_NS))
		return;
	p->drawn_ns = now_ns;
	if (p->total <= 0) {
		fprintf(stderr, "\r%lld %s\033[K", (long long)count, p->what);
		return;
	}
	if (done > p->total)
		done = p->total;
	filled = (int)((double)done / (double)p->total * BAR_WIDTH);
	memset(bar, '-', BAR_WIDTH);
	memset(bar, '#', (size_t)filled);
	bar[BAR_WIDTH] = '\0';
	fprintf(stderr, "\r[%s] %3d%%  %lld %s\033[K", bar, (int)((double)done / (double)p->total * 100),
		(long long)count, p->what);
}

void progress_end(struct progress *p)
{
	if (p->drawn_ns)
		fputs("\r\033[K", stderr);
	p->drawn_ns = 0;
}
