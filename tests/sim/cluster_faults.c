/* What goes wrong, one thing every few seconds. More goes wrong in a batch: cluster_part.c. */
#include "cluster_internal.h"

enum { PAUSE_MAX_MS = 14000, CUT_MAX_MS = 12000, JUMP_MAX_MS = 4000 };

bool cluster_fails(struct cluster *c, unsigned permille)
{
	return !c->is_calm && c->scale && random_chance(&c->random, permille * c->scale);
}

void faults_begin(struct cluster *c)
{
	static const unsigned scales[] = {0, 1, 1, 1, 3};

	c->scale = scales[random_below(&c->random, 5)];
	c->loses_at_end = random_chance(&c->random, 500);
	c->away_until_ms = c->apart_until_ms = c->last_fault_ms = 0;
	if (c->scale)
		cluster_later(c, 3000, AT_FAULT, NULL, NULL);
}

void faults_pause(struct node *n, int64_t for_ms)
{
	struct cluster *c = n->cluster;
	int64_t until_ms = c->now_ms + for_ms;

	if (!n->is_up || n->paused_until_ms)
		return;
	n->paused_until_ms = until_ms;
	c->tally->faults[FAULT_PAUSED]++;
	cluster_note(c, NULL, "%s is paused for %lld ms%s", n->name, (long long)for_ms,
		     n->stuck ? ", in a batch" : "");
	cluster_later(c, for_ms, AT_NODE_GOES_ON, n, NULL)->life = n->life;
}

static void leave(struct node *n)
{
	if (!node_is_awake(n) || n->is_leaving)
		return;
	n->is_leaving = true;
	n->cluster->tally->faults[FAULT_LEFT]++;
	cluster_note(n->cluster, NULL, "%s leaves", n->name);
}

static void cut(struct node *n)
{
	struct cluster *c = n->cluster;

	c->tally->faults[FAULT_CUT]++;
	cluster_note(c, NULL, "%s is cut off from the database", n->name);
	node_set_cut(n, true);
	cluster_later(c, random_between(&c->random, 100, CUT_MAX_MS), AT_NODE_REACHES, n, NULL);
}

static void database_goes_away(struct cluster *c)
{
	int64_t for_ms = random_between(&c->random, 100, CUT_MAX_MS);

	c->tally->faults[FAULT_AWAY]++;
	cluster_note(c, NULL, "the database is away for %lld ms", (long long)for_ms);
	c->away_until_ms = c->now_ms + for_ms;
	for (size_t i = 0; i < c->node_count; i++) {
		node_set_cut(&c->nodes[i], c->nodes[i].is_cut);
		cluster_later(c, for_ms, AT_NODE_REACHES, &c->nodes[i], NULL);
	}
}

static void jump(struct node *n)
{
	struct cluster *c = n->cluster;
	int64_t by_ms = random_between(&c->random, -JUMP_MAX_MS, JUMP_MAX_MS);

	c->tally->faults[FAULT_CLOCK]++;
	cluster_note(c, NULL, "%s's clock jumps by %lld ms", n->name, (long long)by_ms);
	n->wall_off_ms += by_ms;
	for (size_t i = 0; i < c->shard_count && node_is_awake(n); i++)
		part_plan(&n->parts[i]);
}

static void part_from_each_other(struct cluster *c)
{
	c->tally->faults[FAULT_APART]++;
	c->apart_until_ms = c->now_ms + random_between(&c->random, 100, CUT_MAX_MS);
	cluster_note(c, NULL, "the nodes do not reach each other");
}

void faults_next(struct cluster *c)
{
	struct node *n = &c->nodes[random_below(&c->random, c->node_count)];
	uint64_t dice = random_below(&c->random, 100);

	if (c->is_calm)
		return;
	if (dice < 30)
		faults_pause(n, random_between(&c->random, 20, dice < 10 ? 1000 : PAUSE_MAX_MS));
	else if (dice < 45)
		node_die(n);
	else if (dice < 60)
		leave(n);
	else if (dice < 75)
		cut(n);
	else if (dice < 80)
		database_goes_away(c);
	else if (dice < 90)
		jump(n);
	else
		part_from_each_other(c);
	c->tally->faults[FAULT_DIED] += dice >= 30 && dice < 45;
	cluster_later(c, random_between(&c->random, 100, 9000 / c->scale), AT_FAULT, NULL, NULL);
}

void faults_end(struct cluster *c)
{
	c->is_calm = true;
	c->loses_at_end = random_chance(&c->random, 500);
	c->away_until_ms = c->apart_until_ms = c->now_ms;
	for (size_t i = 0; i < c->node_count; i++)
		node_set_cut(&c->nodes[i], false);
}

bool faults_are_over(const struct cluster *c)
{
	for (size_t i = 0; c->is_calm && i < c->node_count; i++)
		if (node_is_awake(&c->nodes[i]) && !c->nodes[i].is_leaving)
			return true;
	return false;
}
