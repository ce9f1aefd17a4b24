#include "serve/db_clock.h"

#include "base/clock.h"

#include <stdlib.h>

#define MS_NS INT64_C(1000000)

/* DRIFT: clocks may run differently fast by a thousandth. */
enum { DRIFT = 1000 };

void db_clock_init(struct db_clock *c)
{
	*c = (struct db_clock){0};
	pthread_mutex_init(&c->lock, NULL);
}

void db_clock_destroy(struct db_clock *c)
{
	pthread_mutex_destroy(&c->lock);
}

static int64_t age_doubt_ns(const struct db_clock *c, int64_t now_ns)
{
	return c->half_ns + (now_ns - c->at_ns) / DRIFT;
}

void db_clock_sample(struct db_clock *c, int64_t asked_ns, int64_t answered_ns, int64_t db_ms)
{
	int64_t half_ns = (answered_ns - asked_ns) / 2 + MS_NS;
	int64_t offset_ns = db_ms * MS_NS - (asked_ns + answered_ns) / 2, doubt_ns;
	bool is_other, is_better;

	pthread_mutex_lock(&c->lock);
	doubt_ns = age_doubt_ns(c, answered_ns);
	is_better = half_ns <= doubt_ns;
	/* Both cannot be right: it was set, or another server is the database now. */
	is_other = llabs(offset_ns - c->offset_ns) > half_ns + doubt_ns;
	if (!c->is_set || is_better || is_other) {
		c->offset_ns = offset_ns;
		c->half_ns = half_ns;
		c->at_ns = answered_ns;
		c->is_set = true;
	}
	pthread_mutex_unlock(&c->lock);
}

/* With the lock held. How long time has to stand still yet counts, too. */
static int64_t doubt_ns(const struct db_clock *c, int64_t now_ns)
{
	int64_t age_ns = age_doubt_ns(c, now_ns), ahead_ns = c->last_ns - (now_ns + c->offset_ns);

	return ahead_ns > age_ns ? ahead_ns : age_ns;
}

int64_t db_clock_doubt_ms(struct db_clock *c, int64_t now_ns)
{
	int64_t doubt;

	pthread_mutex_lock(&c->lock);
	doubt = doubt_ns(c, now_ns);
	pthread_mutex_unlock(&c->lock);
	return doubt / MS_NS;
}

void db_clock_restart(struct db_clock *c)
{
	pthread_mutex_lock(&c->lock);
	c->last_ns = 0;
	pthread_mutex_unlock(&c->lock);
}

static int64_t now_of(struct db_clock *c, int64_t *ret_wall_ns)
{
	int64_t now_ns;

	pthread_mutex_lock(&c->lock);
	now_ns = clock_boot_ns() + c->offset_ns;
	*ret_wall_ns = clock_wall_ns();
	if (now_ns > c->last_ns)
		c->last_ns = now_ns;
	now_ns = c->last_ns;
	pthread_mutex_unlock(&c->lock);
	return now_ns;
}

int64_t db_clock_now_ms(void *ctx)
{
	int64_t wall_ns;

	return now_of(ctx, &wall_ns) / MS_NS;
}

int64_t db_clock_offset_ms(void *ctx)
{
	int64_t wall_ns, now_ns = now_of(ctx, &wall_ns);

	return (now_ns - wall_ns) / MS_NS;
}
