/* What the files of the world share. */
#ifndef SPINE_TESTS_SIM_WORLD_INTERNAL_H
#define SPINE_TESTS_SIM_WORLD_INTERNAL_H

#include "base/heap.h"
#include "random.h"
#include "world.h"

enum {
	WORLD_SPACES = 2,
	WORLD_AGENTS = 8,			/* of a space: registered, and some more that are not */
	WORLD_STRANGERS = 2,
	WORLD_NAMES = WORLD_SPACES * (WORLD_AGENTS + WORLD_STRANGERS),
	WORLD_RECEIVERS = 4 * WORLD_NAMES,
	WORLD_FALLBACKS = 3,
	WORLD_PLAN = 6,
};

enum errand_kind {
	ERRAND_TICK,
	ERRAND_RESTART,
	ERRAND_NEW_FLOW,
	ERRAND_FLOW_SEND,
	ERRAND_FLOW_LOOK,
	ERRAND_POLL,
	ERRAND_ANSWER,
	ERRAND_OPERATE,
	ERRAND_OUTAGE,
	ERRAND_REPLY,
	ERRAND_NUDGE,				/* a caller has waited long enough, or has gone */
	ERRAND_CALM,
};

struct errand {
	int64_t at_ms;
	uint64_t seq;				/* the older first */
	size_t pos;
	enum errand_kind kind;
	void *what;				/* a flow, a receiver, a plan, an agent, a request */
	bool flag;				/* REPLY: is known; NUDGE: has gone */
	uint64_t serial;			/* NUDGE: of the request */
	struct errand *next_free;
};

/* One of an agent's names: as set up, and how it is doing. */
struct actor_agent {
	struct cast_agent cast;
	struct json fallbacks, names[WORLD_FALLBACKS];
	int64_t out_until_ms;			/* nobody takes or answers before */
	int64_t outage_ms;			/* how long one lasts at most; 0: it has none */
	bool is_sick;				/* takes everything, and refuses most of it */
};

/* Somebody who wants an envelope delivered. */
struct flow {
	int64_t space;
	uint64_t envelope;
	struct actor_agent *targets[STEP_NAMES_MAX];
	size_t target_count;
	struct delivery_order order;
	struct str key;				/* p == NULL: none */
	bool was_sent;				/* at least once */
	int tries;
	uint64_t num;				/* of the first; 0: not known */
};

struct receiver {
	struct actor_agent *agent;
	struct str name;
};

/* What a receiver is going to answer, and when. */
struct plan {
	struct receiver *receiver;
	uint64_t num;
	int64_t lease;
	struct {
		enum handoff_verb verb;
		int64_t after_ms;
		int64_t ms;			/* ACK, PROGRESS: the work lease; NACK: the delay */
		bool is_decided;
		uint64_t then;			/* ACK, COMPLETE: the envelope that is handed on; 0: none */
		struct str then_to;
		bool then_stays_away;		/* it cannot come back to the agent that hands it on */
	} answers[WORLD_PLAN];
	int count, at, tries;
	int64_t rest_ms;			/* before it looks for more */
	bool is_extra;				/* another plan of its receiver looks for more */
	struct plan *next_free;
};

struct letter;

struct world {
	struct store_conn *store;		/* to look at */
	struct check *check;
	struct host *host;
	struct tally *tally;
	struct trace *trace;
	struct arena arena;			/* of the run */
	uint64_t random;
	int64_t now_ms;

	struct heap errands;
	struct errand *free_errands;
	uint64_t seq;
	struct letter *free_letters;
	struct request *draft;			/* made, and not submitted */
	struct plan *free_plans;
	bool tick_is_planned;
	struct errand *wake;			/* the tick of the server's clock; NULL: none */
	int64_t wake_at_ms;

	struct actor_agent agents[WORLD_NAMES];
	struct cast cast;
	struct cast_agent cast_agents[WORLD_NAMES];
	struct receiver receivers[WORLD_RECEIVERS];
	size_t receiver_count;
	size_t flows_left;
	int64_t flow_gap_ms;
	uint64_t envelopes[WORLD_SPACES + 1];	/* the highest of each space */
	uint64_t published[WORLD_SPACES + 1];	/* the last that was published */
	uint64_t decided[WORLD_SPACES + 1];	/* the last that an operator decided about */
	bool is_calm;
	int64_t calm_since_ms;
	unsigned loss;				/* of answers, in a thousand */
};

/* world.c */

void world_later(struct world *w, int64_t after_ms, enum errand_kind kind, void *what);
/* A step to be set up, of a new request. done NULL: nobody cares. */
struct step *world_request(struct world *w, enum step_kind kind, int64_t space,
			   void (*done)(struct world *w, struct request *q, bool is_known), void *who);
/* Submits what world_request has made last. */
void world_submit(struct world *w);
/* Whom it was made for. */
void *world_who(const struct request *q);

/* world_senders.c */

void senders_new_flow(struct world *w);
void senders_send(struct world *w, struct flow *f);
void senders_look(struct world *w, struct flow *f);
void senders_operate(struct world *w);

/* world_receivers.c */

void receivers_poll(struct world *w, struct receiver *r);
void receivers_answer(struct world *w, struct plan *p);
/* world_senders.c: any agent of the space; strangers are rare. */
struct actor_agent *senders_any_agent(struct world *w, int64_t space);
void receivers_outage(struct world *w, struct actor_agent *a);

/* world_setup.c */

/* Makes the agents, their settings and their receivers. */
void setup_cast(struct world *w);
/* Everybody behaves from now on: each agent gets a receiver that does. */
void setup_calm(struct world *w);

#endif
