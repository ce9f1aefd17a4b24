/* Opening and closing the parts of a node. */
#include "serve/node_internal.h"

#include "base/clock.h"
#include "base/cond.h"
#include "base/mem.h"
#include "net/http.h"

#include <stdio.h>
#include <stdlib.h>

enum { POSTS_MS = 500, ADDRESS_MORE = 48 };

/* --- Those who wait --- */

static void resume(void *arg)
{
	const struct node_waiter *waiter = arg;

	waiter->go_on(waiter->arg, waiter->is_open);
}

void node_go_on(struct node *n, struct node_shard *s, bool is_open)
{
	struct node_waiter *waiter = s->waiters;

	s->waiters = NULL;
	while (waiter) {
		struct node_waiter *next = waiter->next;	/* from the post on it is the other thread's */

		waiter->is_open = is_open;
		http_post(n->shared->http, waiter->thread, resume, waiter);
		waiter = next;
	}
}

/* --- What is to be done --- */

static void add_job(struct node *n, struct node_job job)
{
	struct node_job *added = mem_alloc(sizeof(*added));

	*added = job;
	added->next = NULL;
	*n->jobs_end = added;
	n->jobs_end = &added->next;
	pthread_cond_broadcast(&n->changed);
}

void node_begin_open(struct node *n, int shard)
{
	struct node_shard *s = &n->shards[shard];

	if (s->state != NODE_NONE || s->is_to_give || n->is_stopping || clock_boot_ns() < s->not_before_ns)
		return;
	s->state = NODE_OPENING;
	add_job(n, (struct node_job){.shard = shard});
}

void node_begin_close(struct node *n, int shard, const char *why_lost)
{
	struct node_shard *s = &n->shards[shard];

	if (s->state != NODE_OPEN)
		return;
	s->state = NODE_CLOSING;
	s->part->is_given_away = why_lost == NULL;
	s->part->why_lost = why_lost;
	if (why_lost)
		atomic_store(&s->part->part->api.is_lost, true);
	add_job(n, (struct node_job){.shard = shard, .part = s->part});
}

void node_lose_all(struct node *n, const char *why)
{
	n->losses++;
	n->leases_lost += !n->has_lost;
	n->has_lost = true;
	for (int i = 0; i < SHARDS; i++)
		node_begin_close(n, i, why);
}

/* --- Opening --- */

static struct node_part *make_part(struct node *n, int shard, struct buf *error)
{
	size_t size = strlen(n->config.address) + ADDRESS_MORE;
	char *address = mem_alloc(size);
	struct node_part *made = NULL;
	struct part *part;

	snprintf(address, size, "%s#%d@%s", n->config.address, shard, n->id);
	part = part_open(n->shared, address, error);
	free(address);
	if (part == NULL)
		return NULL;
	if (!part_make(part, error)) {
		part_drain(part);
		part_drain_posts(part, 0);
		part_stop(part);
		part_free(part);
		return NULL;
	}
	part_start(part);
	made = mem_zalloc(sizeof(*made));
	*made = (struct node_part){.node = n, .part = part, .shard = shard};
	return made;
}

/* Where nodes come back together each takes at first what is another's, whose lease is not there yet. That is refused,
 * and put right by the next look: only what fails again is worth a person's time. */
static void tell_failure(const struct node *n, int shard, bool is_again, const struct buf *error)
{
	log_write(n->log, is_again ? LOG_WARN : LOG_INFO,
		  is_again ? "a shard cannot be opened" : "a shard cannot be opened at the first attempt",
		  LOG_INT("shard", shard), LOG_SLICE("error", buf_str(error)));
}

static void open_shard(struct node *n, int shard)
{
	struct node_shard *s = &n->shards[shard];
	struct node_part *part;
	struct buf error;
	uint64_t losses;
	int failures;

	pthread_mutex_lock(&n->lock);
	losses = n->losses;
	pthread_mutex_unlock(&n->lock);
	buf_init(&error, 8192);
	part = make_part(n, shard, &error);
	pthread_mutex_lock(&n->lock);
	s->part = part;
	s->state = part ? NODE_OPEN : NODE_NONE;
	failures = s->failures = part ? 0 : s->failures + 1;
	if (part) {
		n->opened++;
		part->opened_ns = clock_boot_ns();
		if (losses != n->losses)
			node_begin_close(n, shard, "the lease was over while it was opened");
	} else {
		s->not_before_ns = clock_boot_ns() + NODE_RETRY_MS * NODE_MS_NS;
	}
	node_go_on(n, s, part != NULL);
	pthread_cond_broadcast(&n->changed);
	pthread_mutex_unlock(&n->lock);
	if (part)
		log_write(n->log, LOG_INFO, "a shard is open", LOG_INT("shard", shard));
	else
		tell_failure(n, shard, failures > 1, &error);
	buf_release(&error);
	node_wake(n);
}

/* --- Closing --- */

static void end_part(struct node_part *part, bool has_threads)
{
	part_drain_posts(part->part, POSTS_MS);
	part_stop(part->part);
	if (has_threads)
		part_leave_threads(part->part);
	part_free(part->part);
	free(part);
}

/* False: some requests take longer. */
static bool wait_for_requests(struct node *n, const struct node_part *part)
{
	int64_t until_ns = clock_mono_ns() + NODE_CLOSE_MS * NODE_MS_NS;
	bool is_free;

	pthread_mutex_lock(&n->lock);
	while (part->requests > 0 && cond_wait_until(&n->changed, &n->lock, until_ns))
		;
	is_free = part->requests == 0;
	pthread_mutex_unlock(&n->lock);
	return is_free;
}

/* The part writes nothing any more, or what it writes is refused. */
static void leave_shard(struct node *n, struct node_part *part, bool is_lingering)
{
	struct node_shard *s = &n->shards[part->shard];

	pthread_mutex_lock(&n->lock);
	if (is_lingering) {
		part->next = n->lingering;
		n->lingering = part;
	}
	s->part = NULL;
	s->state = NODE_NONE;
	s->is_to_give = part->is_given_away;
	if (!s->is_to_give)
		node_go_on(n, s, true);
	pthread_cond_broadcast(&n->changed);
	pthread_mutex_unlock(&n->lock);
	node_wake(n);
}

static void close_shard(struct node *n, struct node_part *part)
{
	if (part->is_given_away)
		log_write(n->log, LOG_INFO, "a shard is given away", LOG_INT("shard", part->shard));
	else
		log_write(n->log, LOG_WARN, "a shard is lost", LOG_INT("shard", part->shard),
			  LOG_STR("why", part->why_lost));
	part_drain(part->part);
	part_end_held(part->part);
	/* What is lost is not waited for: the shard may be opened anew meanwhile. */
	if (!part->is_given_away || !wait_for_requests(n, part)) {
		atomic_store(&part->part->api.is_lost, true);
		leave_shard(n, part, true);
		return;
	}
	part_drain_posts(part->part, POSTS_MS);
	part_stop(part->part);
	leave_shard(n, part, false);
	part_leave_threads(part->part);
	part_free(part->part);
	free(part);
}

void node_end_lingering(struct node *n)
{
	struct node_part **at = &n->lingering;

	while (*at) {
		struct node_part *part = *at;

		if (part->requests > 0) {
			at = &part->next;
			continue;
		}
		*at = part->next;
		add_job(n, (struct node_job){.shard = part->shard, .part = part, .is_end = true});
	}
}

/* --- The threads --- */

static struct node_job *next_job(struct node *n)
{
	struct node_job *job;

	pthread_mutex_lock(&n->lock);
	while (n->jobs == NULL && !n->is_stopping)
		pthread_cond_wait(&n->changed, &n->lock);
	job = n->jobs;
	if (job) {
		n->jobs = job->next;
		if (n->jobs == NULL)
			n->jobs_end = &n->jobs;
	}
	pthread_mutex_unlock(&n->lock);
	return job;
}

void *node_jobs_main(void *node)
{
	struct node *n = node;
	struct node_job *job;

	while ((job = next_job(n))) {
		if (job->part == NULL)
			open_shard(n, job->shard);
		else if (job->is_end)
			end_part(job->part, true);
		else
			close_shard(n, job->part);
		free(job);
	}
	return NULL;
}

void node_free_parts(struct node *n)
{
	while (n->lingering) {
		struct node_part *part = n->lingering;

		n->lingering = part->next;
		end_part(part, false);
	}
	for (int i = 0; i < SHARDS; i++)
		if (n->shards[i].part)
			end_part(n->shards[i].part, false);
}
