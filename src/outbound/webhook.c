/* The follower that posts. Which agents it posts to is webhook_agents.c's, one post webhook_post.c's. */
#include "outbound/webhook_internal.h"

#include "base/clock.h"
#include "base/mem.h"
#include "core/delivery/agent.h"
#include "core/delivery/handoff_id.h"
#include "core/envelope/result.h"
#include "engine/engine.h"
#include "outbound/webhook_guard.h"
#include "outbound/webhook_post.h"
#include "outbound/webhook_url.h"

#include <assert.h>
#include <stdlib.h>

enum {
	LEASE_MARGIN_MS = 10000,		/* for the answer to get to the writer */
	BODY_MAX_BYTES = 512 * 1024 * 1024,
};

static const struct str receiver = {"webhook", 7};

struct taking {
	struct errand errand;
	struct webhook_target *target;
	int room;
	int count;
	struct handoff_row rows[WEBHOOK_AGENT_MAX];	/* texts are in the errand's arena */
};

struct posting {
	struct errand errand;
	struct webhook *w;
	struct webhook_target *target;
	struct list link;
	uint64_t num;
	int64_t lease;
	struct post *post;
	struct arena arena;		/* of the answer */
	struct delivery_answer answer;
	struct str why;			/* it failed, in our own words: what the agent wrote is not for the log */
	struct memory made;		/* of the result, for the index; num 0: nothing */
};

static struct webhook *webhook_of(struct follower *f)
{
	return LIST_ELEMENT(f, struct webhook, follower);
}

/* The surroundings of a run; a run before it may have been rolled back. */
static struct delivery begin_run(struct errand *e, const struct webhook_target *t, struct store_conn *c, int64_t now_ms)
{
	const struct webhook_config *config = &webhook_of(e->from)->config;

	arena_release(&e->scratch);
	return config->step(config->waiting, c, &e->scratch, t->space, now_ms);
}

/* --- Settling --- */

static void posting_back(struct errand *e)
{
	struct posting *p = LIST_ELEMENT(e, struct posting, errand);

	/* Where the store could not do it, the lease will run out. */
	p->target->under_way--;
	p->w->under_way--;
	arena_release(&p->arena);
	arena_release(&e->scratch);
	free(p);
}

static enum store_status settle_run(struct writer_job *job, struct store_conn *c, int64_t now_ms)
{
	struct posting *p = LIST_ELEMENT(job, struct posting, errand.job);
	struct delivery d = begin_run(&p->errand, p->target, c, now_ms);
	struct problem problem = {0};
	struct handoff_row row;

	/* A lease that is stale by now is refused, and nothing is changed: that is as it should be. */
	enum problem_code code = delivery_settle(&d, p->num, &p->answer, &row, &problem);

	p->made = d.made;
	return problem_store_status(code);
}

static void index_result(struct errand *e)
{
	struct posting *p = LIST_ELEMENT(e, struct posting, errand);

	if (p->made.num)
		recall_put(p->w->config.recall, &p->made);
}

static enum store_status release_run(struct writer_job *job, struct store_conn *c, int64_t now_ms)
{
	struct posting *p = LIST_ELEMENT(job, struct posting, errand.job);
	struct delivery d = begin_run(&p->errand, p->target, c, now_ms);
	struct problem problem = {0};

	return problem_store_status(delivery_release(&d, p->num, p->lease, &problem));
}

static void settle(struct posting *p)
{
	const struct webhook_target *t = p->target;
	const char *what = p->answer.verb == VERB_NACK ? "webhook failed" : "webhook rejected";
	char handoff[HANDOFF_ID_SIZE];

	handoff_id_format(p->num, handoff);
	if (p->answer.verb == VERB_NACK || p->answer.verb == VERB_REJECT)
		log_write(p->w->config.log, LOG_WARN, what, LOG_STR("agent", t->name), LOG_STR("space", t->space_name),
			  LOG_STR("handoff", handoff), LOG_SLICE("reason", p->why));
	p->errand.committed = index_result;
	errand_send(&p->errand, &p->w->follower, settle_run, posting_back);
}

static void refuse(struct posting *p, struct str reason)
{
	p->answer = (struct delivery_answer){.verb = VERB_NACK, .lease = p->lease, .delay_ms = -1, .text = reason};
	p->why = reason;
	settle(p);
}

static void give_back(struct posting *p)
{
	errand_send(&p->errand, &p->w->follower, release_run, posting_back);
}

/* --- Posting --- */

static void posted(void *ctx, const struct post_outcome *outcome)
{
	struct posting *p = ctx;
	const struct json *remember;
	struct problem problem = {0};

	list_remove(&p->link);
	webhook_post_answer(outcome, p->lease, &p->arena, &p->answer, &remember);
	webhook_guard(p->w->follower.of->reader, p->target->space, p->num, &p->arena, &p->answer, &remember);
	p->why = outcome->failure ? arena_str(&p->arena, str_of(outcome->failure)) :
		 p->answer.verb == VERB_REJECT ? STR("its answer says so") : STR("its answer cannot be taken");
	/* Where the envelope cannot be read now, the result stays with its handoff. */
	if (remember)
		result_prepare(p->w->follower.of->reader, p->target->space, p->num, remember, &p->arena, &p->answer,
			       &problem);
	settle(p);
}

static void send_post(struct posting *p, const struct agent *agent, const struct handoff_row *h)
{
	const struct webhook_config *config = &p->w->config;
	struct followers *all = p->w->follower.of;
	/* The lease ends by the server's time; who is posted to looks at the signature's by the clock on the wall. */
	int64_t left_ms = h->due_ms - engine_now_ms(config->engine);
	struct webhook_request request = {
		.url = agent->webhook, .secret = agent->webhook_secret, .space_name = str_of(p->target->space_name),
		.num = h->num, .lease = h->leases, .now_ms = clock_wall_ms(),
		/* The sender's patience may end before: then the lease does, too, and nobody is to be posted to twice
		 * at a time. */
		.timeout_ms = left_ms < 1 ? 1 : left_ms < config->timeout_ms ? left_ms : config->timeout_ms,
		.done = posted, .ctx = p,
	};
	struct json_writer writer;
	struct buf body;

	buf_init(&body, BODY_MAX_BYTES);
	json_writer_init(&writer, &body);
	config->put(config->ctx, &writer, all->reader, h, !agent->accepts_v2, &p->arena, &request.traceparent);
	if (buf_overflowed(&body)) {
		buf_release(&body);
		refuse(p, STR("it is too large to be posted"));
		return;
	}
	p->post = webhook_post(all->poster, &request, &body);
	list_add(&p->w->posts, &p->link);
}

/* The settings are read anew each time, so that the next post goes by what was registered last. */
static void begin_post(struct webhook *w, struct webhook_target *t, const struct handoff_row *h)
{
	struct posting *p = mem_zalloc(sizeof(*p));
	struct problem problem = {0};
	struct agent agent;
	enum problem_code code;

	p->w = w;
	p->target = t;
	p->num = h->num;
	p->lease = h->leases;
	list_init(&p->link);
	arena_init(&p->arena);
	if (atomic_load(&w->follower.is_stopping)) {
		give_back(p);
		return;
	}
	code = agent_read(w->follower.of->reader, t->space, str_of(t->name), &p->arena, &agent, &problem);
	if (code == P_OK && agent.webhook.p == NULL) {
		give_back(p);
		return;
	}
	if (code == P_OK)
		code = webhook_url_check(w->config.hosts, agent.webhook, &problem);
	if (code != P_OK)
		refuse(p, arena_str(&p->arena, str_of(problem.detail)));
	else if (agent.webhook_secret.p == NULL)
		refuse(p, STR("the agent has no webhook_secret; register it again"));
	else
		send_post(p, &agent, h);
}

/* The time to drain is over. */
static void cut(struct webhook *w)
{
	size_t count = 0;

	while (!list_is_empty(&w->posts)) {
		struct posting *p = LIST_ELEMENT(w->posts.next, struct posting, link);

		list_remove(&p->link);
		poster_cancel(p->post);
		give_back(p);
		count++;
	}
	if (count)
		log_write(w->config.log, LOG_WARN, "webhooks were cut", LOG_INT("posts", count));
}

/* --- Taking --- */

/* What the server before this one was posting when it ended. */
static enum problem_code take_back(struct delivery *d, const struct webhook_target *t, struct problem *problem)
{
	struct handoff_row held[WEBHOOK_AGENT_MAX];
	size_t count = WEBHOOK_AGENT_MAX;
	enum problem_code code = P_OK;

	while (code == P_OK && count == WEBHOOK_AGENT_MAX) {
		enum store_status status = store_handoffs_held(d->conn, t->agent, receiver, WEBHOOK_AGENT_MAX, d->arena,
							       held, &count);

		if (status != STORE_OK)
			return problem_of_store(problem, status);
		for (size_t i = 0; code == P_OK && i < count; i++)
			code = delivery_release(d, held[i].num, held[i].leases, problem);
	}
	return code;
}

static enum store_status taking_run(struct writer_job *job, struct store_conn *c, int64_t now_ms)
{
	struct taking *k = LIST_ELEMENT(job, struct taking, errand.job);
	struct webhook_target *t = k->target;
	struct delivery d = begin_run(&k->errand, t, c, now_ms);
	int64_t lease_ms = webhook_of(k->errand.from)->config.timeout_ms + LEASE_MARGIN_MS;
	struct problem problem = {0};
	struct handoff_row row = {.num = 1};
	enum problem_code code = t->may_have_left ? take_back(&d, t, &problem) : P_OK;

	d.actor = str_of(t->name);
	for (k->count = 0; code == P_OK && row.num && k->count < k->room;) {
		code = delivery_take(&d, str_of(t->name), lease_ms, receiver, &row, &problem);
		if (code == P_OK && row.num)
			k->rows[k->count++] = row;
	}
	return problem_store_status(code);
}

/* Where the store could not do it, what is queued is offered again when its ack timeout ends. */
static void taking_back(struct errand *e)
{
	struct taking *k = LIST_ELEMENT(e, struct taking, errand);
	struct webhook *w = webhook_of(e->from);
	struct webhook_target *t = k->target;
	int count = e->status == STORE_OK ? k->count : 0;

	t->is_taking = false;
	t->under_way -= k->room - count;
	w->under_way -= k->room - count;
	if (e->status == STORE_OK)
		t->may_have_left = false;
	if (count == k->room && atomic_load(&t->is_on))
		webhook_add_pending(w, t);
	for (int i = 0; i < count; i++)
		begin_post(w, t, &k->rows[i]);
	arena_release(&e->scratch);
	free(k);
}

/* Only as many are taken as can be posted at once: a lease must not run out in a queue. */
static void take_pending(struct webhook *w)
{
	struct webhook_target *t;

	while ((t = webhook_next_pending(w)) != NULL) {
		struct taking *k = mem_zalloc(sizeof(*k));
		int of_agent = WEBHOOK_AGENT_MAX - t->under_way, of_all = WEBHOOK_ALL_MAX - w->under_way;

		k->target = t;
		k->room = of_agent < of_all ? of_agent : of_all;
		t->is_taking = true;
		t->under_way += k->room;
		w->under_way += k->room;
		errand_send(&k->errand, &w->follower, taking_run, taking_back);
	}
}

/* --- As a follower --- */

static int64_t look(struct follower *f, int64_t now_ns)
{
	struct webhook *w = webhook_of(f);
	int64_t drain_until_ns = atomic_load(&w->drain_until_ns);

	if (!atomic_load(&f->is_stopping)) {
		take_pending(w);
		return FOLLOWER_WHEN_WOKEN;
	}
	if (drain_until_ns <= now_ns)
		cut(w);
	if (w->under_way == 0)
		return FOLLOWER_DONE;
	/* What is only waiting for the writer has its answer for certain. */
	return list_is_empty(&w->posts) ? FOLLOWER_BUSY : drain_until_ns;
}

/* --- Life --- */

enum problem_code webhook_check(const struct webhook *w, struct str url, struct problem *problem)
{
	return webhook_url_check(w->config.hosts, url, problem);
}

struct webhook *webhook_new(const struct webhook_config *config, struct buf *error)
{
	struct store_conn *reader = config->followers->reader;
	struct webhook *w = mem_zalloc(sizeof(*w));

	w->config = *config;
	for (int i = 0; i < WEBHOOK_BUCKETS; i++)
		list_init(&w->buckets[i]);
	list_init(&w->pending);
	list_init(&w->posts);
	pthread_mutex_init(&w->lock, NULL);
	follower_init(&w->follower, config->followers, look);
	if (webhook_add_stored(w, reader) == STORE_OK)
		return w;
	buf_printf(error, "cannot read the agents: %s", store_error(reader));
	webhook_stop(w);
	webhook_free(w);
	return NULL;
}

void webhook_drain(struct webhook *w, int64_t timeout_ms)
{
	atomic_store(&w->drain_until_ns, clock_mono_ns() + timeout_ms * 1000000);
	follower_stop(&w->follower);
}

void webhook_stop(struct webhook *w)
{
	if (w)
		follower_wait(&w->follower);
}

void webhook_free(struct webhook *w)
{
	if (w == NULL)
		return;
	assert(w->under_way == 0 && list_is_empty(&w->posts));
	webhook_free_agents(w);
	pthread_mutex_destroy(&w->lock);
	free(w);
}
