/* The thread that posts. Which agents it posts to is webhook_agents.c's, one post webhook_post.c's. */
#include "outbound/webhook_internal.h"

#include "api/reply.h"
#include "api/taken_json.h"
#include "api/waiting.h"
#include "outbound/webhook_post.h"
#include "outbound/webhook_url.h"
#include "base/clock.h"
#include "base/mem.h"
#include "core/delivery/agent.h"
#include "core/delivery/handoff_id.h"
#include "core/envelope/result.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>

enum { LEASE_MARGIN_MS = 10000 };	/* for the answer to get to the writer */

static const struct str receiver = {"webhook", 7};

/* A job of the writer's, which comes back to the thread. */
struct errand {
	struct writer_job job;
	struct webhook *w;
	struct webhook_target *target;
	enum store_status status;
	struct list link;
	void (*committed)(struct errand *e);	/* may be NULL; on the writer's thread */
	void (*back)(struct errand *e);
	struct arena scratch;		/* of one run */
};

struct taking {
	struct errand errand;
	int room;
	int count;
	struct handoff_row rows[WEBHOOK_AGENT_MAX];
};

struct posting {
	struct errand errand;
	struct list link;
	uint64_t num;
	int64_t lease;
	struct webhook_post *post;	/* NULL: it was not posted */
	struct arena arena;		/* of the answer */
	struct delivery_answer answer;
	struct memory made;		/* of the result, for the index; num 0: nothing */
};

/* --- Errands --- */

/* On the writer's thread. */
static void errand_done(struct writer_job *job, enum store_status status)
{
	struct errand *e = (struct errand *)((char *)job - offsetof(struct errand, job));
	struct webhook *w = e->w;

	e->status = status;
	if (status == STORE_OK && e->committed)
		e->committed(e);
	pthread_mutex_lock(&w->lock);
	list_add(&w->back, &e->link);
	pthread_mutex_unlock(&w->lock);
	curl_multi_wakeup(w->multi);
}

static void errand_send(struct errand *e, struct webhook *w, struct webhook_target *t,
			enum store_status (*run)(struct writer_job *job, struct store_conn *c, int64_t now_ms),
			void (*back)(struct errand *e))
{
	e->w = w;
	e->target = t;
	e->job.run = run;
	e->job.done = errand_done;
	e->back = back;
	list_init(&e->link);
	arena_init(&e->scratch);
	w->errands++;
	writer_submit_always(w->api->writer, &e->job);
}

/* The surroundings of a run; a run before it may have been rolled back. */
static struct delivery errand_step(struct errand *e, struct store_conn *c, int64_t now_ms)
{
	arena_release(&e->scratch);
	return waiting_step(e->w->api->waiting, c, &e->scratch, e->target->space, now_ms);
}

/* --- Settling --- */

static void posting_back(struct errand *e)
{
	struct posting *p = LIST_ELEMENT(e, struct posting, errand);

	/* Where the store could not do it, the lease will run out. */
	e->target->under_way--;
	e->w->under_way--;
	webhook_post_free(p->post);
	arena_release(&p->arena);
	arena_release(&e->scratch);
	free(p);
}

static enum store_status settle_run(struct writer_job *job, struct store_conn *c, int64_t now_ms)
{
	struct posting *p = (struct posting *)((char *)job - offsetof(struct posting, errand.job));
	struct delivery d = errand_step(&p->errand, c, now_ms);
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
		recall_put(e->w->api->recall, &p->made);
}

static enum store_status release_run(struct writer_job *job, struct store_conn *c, int64_t now_ms)
{
	struct posting *p = (struct posting *)((char *)job - offsetof(struct posting, errand.job));
	struct delivery d = errand_step(&p->errand, c, now_ms);
	struct problem problem = {0};

	return problem_store_status(delivery_release(&d, p->num, p->lease, &problem));
}

static void settle(struct webhook *w, struct webhook_target *t, struct posting *p)
{
	const char *what = p->answer.verb == VERB_NACK ? "webhook failed" : "webhook rejected";
	char handoff[HANDOFF_ID_SIZE];

	handoff_id_format(p->num, handoff);
	if (p->answer.verb == VERB_NACK || p->answer.verb == VERB_REJECT)
		log_write(w->api->log, LOG_WARN, what, LOG_STR("agent", t->name), LOG_STR("space", t->space_name),
			  LOG_STR("handoff", handoff), LOG_SLICE("reason", p->answer.text));
	p->errand.committed = index_result;
	errand_send(&p->errand, w, t, settle_run, posting_back);
}

static void refuse(struct webhook *w, struct webhook_target *t, struct posting *p, struct str reason)
{
	p->answer = (struct delivery_answer){.verb = VERB_NACK, .lease = p->lease, .delay_ms = -1, .text = reason};
	settle(w, t, p);
}

static void give_back(struct webhook *w, struct webhook_target *t, struct posting *p)
{
	errand_send(&p->errand, w, t, release_run, posting_back);
}

/* --- Posting --- */

static void send_post(struct webhook *w, struct webhook_target *t, struct posting *p, const struct agent *agent,
		      const struct handoff_row *h)
{
	struct taken_form form = {.with_envelope = true, .with_prompt = true, .is_v1 = !agent->accepts_v2};
	int64_t now_ms = clock_wall_ms(), left_ms = h->due_ms - now_ms;
	struct webhook_request request = {
		.url = agent->webhook, .secret = agent->webhook_secret, .space_name = str_of(t->space_name),
		.num = h->num, .lease = h->leases, .now_ms = now_ms,
		/* The sender's patience may end before: then the lease does, too, and nobody is to be posted to twice
		 * at a time. */
		.ca_file = w->api->ca_file,
		.timeout_ms = left_ms < 1 ? 1 : left_ms < w->config.timeout_ms ? left_ms : w->config.timeout_ms,
	};
	struct json_writer writer;
	struct buf body;

	form.api = w->api;
	form.ret_traceparent = &request.traceparent;
	buf_init(&body, REPLY_MAX);
	json_writer_init(&writer, &body);
	taken_json_put(&writer, w->reader, h, form, &p->arena);
	if (buf_overflowed(&body)) {
		buf_release(&body);
		refuse(w, t, p, STR("it is too large to be posted"));
		return;
	}
	p->post = webhook_post_new(&request, &body, p);
	if (curl_multi_add_handle(w->multi, webhook_post_handle(p->post)) != CURLM_OK)
		mem_exhausted(sizeof(*p));
	list_add(&w->posts, &p->link);
}

/* The settings are read anew each time, so that the next post goes by what was registered last. */
static void begin_post(struct webhook *w, struct webhook_target *t, const struct handoff_row *h)
{
	struct posting *p = mem_zalloc(sizeof(*p));
	struct problem problem = {0};
	struct agent agent;
	enum problem_code code;

	p->num = h->num;
	p->lease = h->leases;
	p->errand.target = t;
	list_init(&p->link);
	arena_init(&p->arena);
	if (atomic_load(&w->drain_until_ns)) {
		give_back(w, t, p);
		return;
	}
	code = agent_read(w->reader, t->space, str_of(t->name), &p->arena, &agent, &problem);
	if (code == P_OK && agent.webhook.p == NULL) {
		give_back(w, t, p);
		return;
	}
	if (code == P_OK)
		code = webhook_url_check(w->config.hosts, agent.webhook, &problem);
	if (code != P_OK)
		refuse(w, t, p, arena_str(&p->arena, str_of(problem.detail)));
	else if (agent.webhook_secret.p == NULL)
		refuse(w, t, p, STR("the agent has no webhook_secret; register it again"));
	else
		send_post(w, t, p, &agent, h);
}

static void end_post(struct webhook *w, struct posting *p, CURLcode result)
{
	const struct json *remember;
	struct problem problem = {0};

	list_remove(&p->link);
	curl_multi_remove_handle(w->multi, webhook_post_handle(p->post));
	webhook_post_answer(p->post, result, &p->arena, &p->answer, &remember);
	/* Where the envelope cannot be read now, the result stays with its handoff. */
	if (remember)
		result_prepare(w->reader, p->errand.target->space, p->num, remember, &p->arena, &p->answer, &problem);
	settle(w, p->errand.target, p);
}

static void perform(struct webhook *w)
{
	int running, left;
	CURLMsg *message;

	curl_multi_perform(w->multi, &running);
	while ((message = curl_multi_info_read(w->multi, &left)) != NULL) {
		struct posting *p = NULL;
		CURLcode result = message->data.result;

		assert(message->msg == CURLMSG_DONE);
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&p);
		end_post(w, p, result);
	}
}

/* The time to drain is over. */
static void cut(struct webhook *w)
{
	size_t count = 0;

	while (!list_is_empty(&w->posts)) {
		struct posting *p = LIST_ELEMENT(w->posts.next, struct posting, link);

		list_remove(&p->link);
		curl_multi_remove_handle(w->multi, webhook_post_handle(p->post));
		give_back(w, p->errand.target, p);
		count++;
	}
	if (count)
		log_write(w->api->log, LOG_WARN, "webhooks were cut", LOG_INT("posts", count));
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
	struct taking *k = (struct taking *)((char *)job - offsetof(struct taking, errand.job));
	struct delivery d = errand_step(&k->errand, c, now_ms);
	struct webhook_target *t = k->errand.target;
	int64_t lease_ms = k->errand.w->config.timeout_ms + LEASE_MARGIN_MS;
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
	struct webhook *w = e->w;
	struct webhook_target *t = e->target;
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

		k->room = of_agent < of_all ? of_agent : of_all;
		t->is_taking = true;
		t->under_way += k->room;
		w->under_way += k->room;
		errand_send(&k->errand, w, t, taking_run, taking_back);
	}
}

/* --- The thread --- */

static void welcome_back(struct webhook *w)
{
	for (;;) {
		struct errand *e = NULL;

		pthread_mutex_lock(&w->lock);
		if (!list_is_empty(&w->back)) {
			e = LIST_ELEMENT(w->back.next, struct errand, link);
			list_remove(&e->link);
		}
		pthread_mutex_unlock(&w->lock);
		if (e == NULL)
			return;
		w->errands--;
		e->back(e);
	}
}

/* Until a wake-up, something of libcurl's, or the end of the time to drain. */
static void rest(struct webhook *w)
{
	int64_t until_ns = atomic_load(&w->drain_until_ns), left_ms = INT_MAX;

	/* What is only waiting for the writer has its answer for certain. */
	if (until_ns && !list_is_empty(&w->posts))
		left_ms = (until_ns - clock_mono_ns()) / 1000000 + 1;
	curl_multi_poll(w->multi, NULL, 0, left_ms < 0 ? 0 : left_ms > INT_MAX ? INT_MAX : (int)left_ms, NULL);
}

static void *webhook_main(void *arg)
{
	struct webhook *w = arg;
	int64_t until_ns;

	for (;;) {
		welcome_back(w);
		until_ns = atomic_load(&w->drain_until_ns);
		if (until_ns == 0)
			take_pending(w);
		else if (until_ns <= clock_mono_ns())
			cut(w);
		perform(w);
		if (until_ns && w->errands == 0 && list_is_empty(&w->posts))
			return NULL;
		rest(w);
	}
}

/* --- Life --- */

enum problem_code webhook_check(const struct webhook *w, struct str url, struct problem *problem)
{
	return webhook_url_check(w->config.hosts, url, problem);
}

struct webhook *webhook_new(struct api *api, struct store_conn *c, const struct webhook_config *config,
			    struct buf *error)
{
	struct webhook *w = mem_zalloc(sizeof(*w));

	w->api = api;
	w->config = *config;
	for (int i = 0; i < WEBHOOK_BUCKETS; i++)
		list_init(&w->buckets[i]);
	list_init(&w->queued);
	list_init(&w->pending);
	list_init(&w->back);
	list_init(&w->posts);
	pthread_mutex_init(&w->lock, NULL);
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || (w->multi = curl_multi_init()) == NULL)
		mem_exhausted(sizeof(*w));
	curl_multi_setopt(w->multi, CURLMOPT_MAXCONNECTS, (long)WEBHOOK_ALL_MAX);
	w->reader = store_open(api->data_dir, STORE_READ, error);
	if (w->reader && webhook_add_stored(w, c) != STORE_OK)
		buf_printf(error, "cannot read the agents: %s", store_error(c));
	if (w->reader == NULL || error->len) {
		webhook_free(w);
		return NULL;
	}
	return w;
}

void webhook_start(struct webhook *w)
{
	if (pthread_create(&w->thread, NULL, webhook_main, w) != 0)
		abort();
	w->is_running = true;
}

void webhook_drain(struct webhook *w, int64_t timeout_ms)
{
	atomic_store(&w->drain_until_ns, clock_mono_ns() + timeout_ms * 1000000);
	curl_multi_wakeup(w->multi);
}

void webhook_stop(struct webhook *w)
{
	if (w == NULL || !w->is_running)
		return;
	assert(atomic_load(&w->drain_until_ns));
	pthread_join(w->thread, NULL);
	w->is_running = false;
}

void webhook_free(struct webhook *w)
{
	if (w == NULL)
		return;
	assert(!w->is_running && w->errands == 0 && list_is_empty(&w->posts));
	webhook_free_agents(w);
	store_close(w->reader);
	curl_multi_cleanup(w->multi);
	curl_global_cleanup();
	pthread_mutex_destroy(&w->lock);
	free(w);
}
