/* The records that a store keeps, as plain data. */
#ifndef SPINE_STORE_RECORDS_H
#define SPINE_STORE_RECORDS_H

#include "base/str.h"

enum importance { IMPORTANCE_LOW, IMPORTANCE_MEDIUM, IMPORTANCE_HIGH, IMPORTANCE_CRITICAL };

enum trust { TRUST_SYSTEM, TRUST_USER, TRUST_AGENT, TRUST_EXTERNAL };

/* Numbers fit into 40 bits, so that space and number make one integer key that grows. */
#define MEMORY_NUM_MAX ((UINT64_C(1) << 40) - 1)
/* The highest that a caller may choose. The other half is for the space to give: at a million memories a second it
 * lasts for six days, at what a disk really takes for years; and no choice can use it up. */
#define MEMORY_NUM_CHOSEN_MAX (UINT64_C(1) << 39)

/* One version of a memory, together with the state that all its versions share. Text is UTF-8; p == NULL means not set.
 */
struct memory {
	/* Of the memory. */
	int64_t space;
	uint64_t num;
	uint32_t current_version;
	bool pinned;
	int64_t created_at_ms;
	uint64_t supersedes;		/* 0: none */
	uint64_t superseded_by;		/* 0: none */
	int64_t forgotten_at_ms;	/* 0: it is not */
	int64_t quarantined_at_ms;	/* 0: it is not */
	struct str keys;		/* of one that is forgotten: the keys that wrote it, as
					 * core/memory/memory_keys.h has them; p == NULL: none */

	/* Of this version. */
	uint32_t version;
	int64_t updated_at_ms;		/* when this version was made */
	int64_t expires_at_ms;		/* 0: never */
	enum importance importance;
	enum trust trust;
	struct str content;
	struct str summary;
	struct str kind;
	struct str tags;		/* a JSON array of strings, canonical */
	struct str agent;
	struct str task;
	struct str metadata;		/* a JSON object, canonical */
	struct str origin;		/* who stored it by which way, a JSON object; p == NULL: not known */
	uint8_t digest[32];		/* SHA-256 of content */
};

/* A key that lets its holder in. What it is told by is never kept: only its SHA-256 is. */
struct access_key_row {
	uint64_t num;			/* 1, 2, 3 and so on; never given again */
	struct str name;
	struct str space;		/* a name, whether there is such a space or not; p == NULL: all of them */
	struct str agent;		/* p == NULL: any */
	unsigned scopes;
	enum trust trust;
	int64_t created_at_ms;
	struct str created_by;		/* p == NULL: nobody is known */
	int64_t expires_at_ms;		/* 0: never */
	int64_t revoked_at_ms;		/* 0: it is not */
	struct str revoked_why;
	uint8_t hash[32];
	uint8_t old_hash[32];		/* of the secret before the last rotation */
	int64_t old_until_ms;		/* so long that one is valid, too; 0: there is none */
};

/* A reply that is given again to the same Idempotency-Key. */
struct kept_reply {
	uint8_t request_digest[32];
	int status;
	struct str etag;		/* p == NULL: none */
	struct str location;		/* p == NULL: none */
	struct str body;		/* empty: it told of a memory that was forgotten since */
	int64_t at_ms;
	bool is_quarantined;		/* what it tells of a memory is in quarantine now; only read */
};

/* A stored envelope. The body is its canonical JSON without the texts of its references. */
struct envelope_row {
	int64_t space;
	uint64_t num;
	struct str task;
	uint64_t parent;		/* 0: none */
	int64_t hop;
	int64_t created_at_ms;
	int64_t texts;			/* references whose text the body leaves out; -1: not known */
	uint8_t digest[32];
	bool has_body_digest;		/* not where it was stored before schema 4 */
	uint8_t body_digest[32];	/* SHA-256 of body: can be checked also when a text is gone */
	struct str body;
	/* Written only. */
	bool begins_task;		/* its task must not be there yet */
	struct str considered;		/* what it was chosen from; p == NULL: nothing is kept */
	struct str intent;		/* what its task is known by from now on: the beginnings of both */
	struct str summary;
	int64_t tokens;			/* that its prompt takes */
	const uint64_t *results;	/* the memories it refers to that are results of handoffs */
	size_t result_count;
};

/* An envelope and the one that it continues. */
struct envelope_link {
	uint64_t num;
	uint64_t parent;		/* 0: none */
};

/* A constraint that a person waived for a task. */
struct waiver_row {
	int64_t id;			/* grows; over all spaces */
	struct str key;
	struct str reason;
	struct str by;
	int64_t at_ms;
	uint64_t access_key;		/* the key that showed who it was; 0: nobody has checked */
};

/* A task, as the list of tasks shows it. */
struct task_row {
	int64_t id;			/* grows; for pages */
	struct str name;
	int64_t created_at_ms;
	int64_t envelopes;
	int64_t hops;			/* the highest hop of its envelopes */
	int64_t tokens;			/* of all its envelopes */
	struct str intent;		/* of its newest envelope; p == NULL: nobody said it */
	struct str summary;
};

/* What is known of an agent. settings is a JSON object, canonical. */
struct agent_row {
	struct str name;
	struct str settings;
	int64_t created_at_ms;
	int64_t updated_at_ms;
	bool is_registered;		/* otherwise somebody has only used its name; read only */
};

/* An agent, seen from outside its space. */
struct agent_place {
	int64_t id;
	int64_t space;
	struct str space_name;
	struct str name;
	struct str settings;
};

/* Somebody has opened a memory that an envelope refers to. */
struct receipt_row {
	uint64_t memory;
	struct str agent;
	int64_t at_ms;
};

/* --- Delivery --- */

/* A handoff's states. What may follow what is core/delivery/handoff_state.h's. The first four are open: something is
 * still to happen. */
enum handoff_state {
	HANDOFF_QUEUED,		/* may be taken; due: when it does not wait for this agent any more */
	HANDOFF_DELAYED,	/* queued for later; due: when it may be taken */
	HANDOFF_LEASED,		/* given to a receiver; due: when its lease ends */
	HANDOFF_WORKING,	/* acked, with a work lease; due: when that ends */
	HANDOFF_ACKED,
	HANDOFF_COMPLETED,
	HANDOFF_PARKED,		/* a person must decide */
	HANDOFF_EXPIRED,	/* the sender stopped waiting; may be delivered again */
	HANDOFF_DISCARDED,
	HANDOFF_STATES
};

/* One delivery of one envelope to one agent. */
struct handoff_row {
	/* Never changes. */
	int64_t space;
	uint64_t num;
	uint64_t envelope;
	int64_t created_at_ms;
	struct str from;		/* p == NULL: unknown */

	int64_t channel;		/* a channel's id; 0: sent directly */
	struct str channel_name;	/* read only */

	/* The agent that the sender named: envelope and target make a handoff what it is. */
	int64_t target;			/* an agent's id */
	struct str target_name;		/* read only */
	/* The agent that has it now: the target, or a fallback. */
	int64_t agent;
	struct str agent_name;		/* read only */

	enum handoff_state state;
	int priority;			/* 0 to 9, the higher first */
	int64_t attempt;		/* with this agent, from 1 */
	int64_t max_attempts;
	int64_t leases;			/* given so far; the last one's number is the fencing token */
	int64_t due_ms;			/* when something happens by itself; 0: never */
	int64_t expires_at_ms;		/* when the sender stops waiting; 0: it does not wait */
	int64_t ack_timeout_ms;
	int64_t lease_ms;		/* of the lease that is out, for renewal */
	int64_t changed_at_ms;
	int64_t acked_at_ms;		/* 0: not yet */
	bool is_exhausted;		/* its attempts are used up, and the breaker has counted it */
	bool is_told;			/* the sender knows that it was parked */
	bool is_retried;		/* with expires_at_ms: attempts and fallbacks follow while the sender waits */

	/* Of the queue. */
	uint64_t place;			/* within its priority, the lower first; its number, unless it went behind */
	int64_t not_before_ms;		/* nobody gets it before; 0: at once */
	int64_t queue_timeout_ms;	/* how long nobody may take it until it is parked; 0: the server's */
	int64_t queue_until_ms;		/* when that is over; 0: queued before there was such a thing */
	bool passes;			/* an open breaker does not hold it */
	bool is_outage;			/* it is parked, and comes back when its agent's breaker closes */
	bool is_redriven;		/* it came back so, once */
	bool is_touched;		/* a person has decided about it: nothing comes back by itself any more */
	int64_t held_until_ms;		/* not kept: see delivery_look; 0: it is not held */
	struct str receiver;		/* who holds or held the lease: an instance's name; p == NULL: not told */
	struct str fallbacks;		/* a JSON array of names, those not tried yet; p == NULL: none */
	struct str reason;		/* of the last failure; p == NULL: none */
	struct str progress;		/* as the receiver told it last; p == NULL: none */
};

/* Which handoffs a list shows. 0 or p == NULL: whatever. */
struct handoff_filter {
	int64_t space;
	unsigned states;		/* a set of 1 << enum handoff_state; 0: all */
	int64_t agent;
	int64_t channel;
	uint64_t envelope;
	struct str from;
	struct str task;		/* those of its envelopes */
	struct str reason;		/* whose reason holds this text, whatever the case of its ASCII letters */
	int64_t since_ms;		/* that came into their state since then */
	int64_t before_ms;		/* before then */
	struct str party;		/* that this agent has sent, that were sent to it, or that it has now */
	int64_t party_id;		/* its id; 0: the space has no such agent, which may have sent all the same */
	bool untold;			/* only what is parked and its sender, who is named, does not know yet; of the
					 * others space alone counts then */
	bool newest_first;		/* not with untold */
};

/* How a task stands. It follows from its handoffs alone: the first of these that one of them is in. */
enum task_state {
	TASK_PARKED,
	TASK_WORKING,		/* leased, or acked with a work lease */
	TASK_HELD,		/* queued, behind an open breaker */
	TASK_WAITING,		/* queued, also for later */
	TASK_DONE,		/* nothing of it is open */
	TASK_STATES
};

/* What the handoffs of a task say. */
struct task_work {
	int64_t counts[HANDOFF_STATES];
	/* The one that decides, of several the newest; of a task that is done the newest of all. num 0: it has none. */
	uint64_t handoff;
	int64_t agent;
	struct str agent_name;
	enum handoff_state state;
	/* The one that was changed last. */
	uint64_t recent;
	int64_t changed_at_ms;		/* 0: it has no handoff */
};

/* A task in a list that is ordered by something. */
struct task_place {
	int64_t id;
	int64_t at;			/* an event's number, or a time */
};

/* Where a result is. */
enum result_form {
	RESULT_KEPT,		/* in its row, and told to nobody who does not ask */
	RESULT_TEXT,		/* a memory's content, as it is */
	RESULT_JSON,		/* a memory's content is its canonical JSON */
	RESULT_LARGE,		/* in its row: no memory may hold it (size, or a NUL); others are told where it is */
};

/* What came out of a handoff. */
struct result_row {
	struct str result;		/* JSON; p == NULL: none, or a memory has it */
	struct str gaps;		/* a JSON array; p == NULL: none */
	int64_t input_tokens;		/* -1: not told */
	enum result_form form;
	uint64_t memory;		/* the number of that whose first version is the result; 0: none */
	bool is_forgotten;		/* not kept: the memory's content is gone; see core/envelope/result.h */
	/* What was handed on when the handoff was settled; written by store_result_hand_on alone. */
	uint64_t then;			/* a handoff's number; 0: nothing */
	uint8_t then_digest[32];	/* of what was asked for */
	bool is_quarantined;		/* not kept: the memory is in quarantine */
};

/* How delivery to an agent goes. */
struct target_row {
	int64_t seen_at_ms;		/* when it last took or settled something; 0: never */
	int64_t failures;		/* handoffs in a row that used up their attempts */
	int64_t open_until_ms;		/* the breaker; 0: closed */
	uint64_t probe;			/* the one handoff that a half-open breaker let through; 0: none */
	int64_t failing_since_ms;	/* when the first of the failures in a row was; 0: there is none */
	bool has_opened;		/* since then the breaker has, or that of another agent of the space */
	int64_t redrive_from_ms;	/* what was parked from then to then is being redriven; 0: nothing is */
	int64_t redrive_to_ms;
	int64_t due_ms;			/* when something happens to it by itself; 0: never */
};

/* An agent whose time has come, or that fails. */
struct target_due {
	int64_t agent;			/* its id */
	int64_t space;
	struct str name;
	struct target_row target;
};

struct target_counts {
	int64_t queued;			/* with those that wait for later */
	int64_t leased;
	int64_t working;
	int64_t parked;
};

/* See store_event_add: so many of a space's numbers have passed for each millisecond before it was made. */
#define EVENT_NUMBERS_A_MS 1000

/* Everything that was written, in order; the kinds, and what the values mean for each, are core/watch/event.h's. */
struct event_row {
	int64_t id;			/* grows, over all spaces; nobody outside is told of it */
	int64_t space;
	int64_t number;			/* grows by one, in the space */
	int64_t at_ms;
	int kind;
	uint64_t handoff;		/* 0: none */
	uint64_t envelope;		/* 0: none */
	uint64_t memory;		/* 0: none */
	int64_t attempt;
	double value[2];
	struct str agent;		/* whom it concerns; p == NULL: nobody */
	struct str actor;		/* who did it; p == NULL: the server */
	uint64_t access_key;		/* the key that let them in; 0: none did */
	struct str note;		/* p == NULL: none */
};

/* The kind whose events tell that an envelope was packed: lists of tasks look for it. */
enum { EVENT_ROW_PACKED = 28 };

/* Which events a page shows. 0 or p == NULL: whatever. Sets of kinds have the bit 1 << kind; kinds are below 64. */
struct event_filter {
	int64_t space;
	uint64_t kinds;			/* 0: all */
	uint64_t handoff;		/* needs the space */
	uint64_t envelope;
	uint64_t memory;		/* also in the range of a batch, which range_kinds have in their values */
	uint64_t range_kinds;
	struct str actor;
	uint64_t access_key;
	struct str name; /* is the agent of kinds of agent_kinds, the note of note_kinds, or the first word of that of
			    word_kinds */
	uint64_t agent_kinds;
	uint64_t note_kinds;
	uint64_t word_kinds;
	bool newest_first;
};

/* How long something of a space is kept. 0: for ever; KEEP_AS_SERVER: as the server says for all spaces. */
#define KEEP_AS_SERVER INT64_C(-1)

struct space_keep {
	int64_t events_ms;
	int64_t handoffs_ms;		/* from a handoff's end; with its envelope and result */
	int64_t idle_ms;		/* the space itself, from when something was last made in it */
};

/* What a space may have at most. 0: any number; QUOTA_AS_SERVER: as the server says for all spaces. */
#define QUOTA_AS_SERVER INT64_C(-1)

struct space_quota {
	int64_t memories;
	int64_t bytes;			/* of space_row.bytes */
	int64_t handoffs;		/* a minute */
	int64_t waiting;		/* receivers that wait */
	int64_t agents;
};

struct space_row {
	int64_t id;
	struct str name;
	int64_t memories;		/* that are not forgotten */
	int64_t bytes;			/* of content, summary and metadata of all versions, and of envelopes */
	int64_t agents;			/* that are not deleted */
	struct space_quota quota;
	enum trust trust_floor;		/* what is trusted less goes along as a reference only */
	int64_t created_at_ms;
	struct space_keep keep;
	int64_t events_pruned;		/* the highest number of one of its events that was pruned; 0: none */
	int64_t handoffs_pruned;	/* how many */
	int64_t guard;			/* see store_space_guard */
};

/* What is left of an envelope that was pruned, and of a handoff. */
struct pruned_envelope {
	uint64_t num;
	uint64_t parent;		/* 0: none */
	int64_t created_at_ms;
	uint8_t digest[32];
};

struct pruned_handoff {
	uint64_t num;
	uint64_t envelope;
	enum handoff_state state;	/* in which it ended */
	int64_t created_at_ms;
	int64_t changed_at_ms;
};

/* An agent that something is queued, at work or parked for, or whose handoffs fail. */
struct queue_row {
	int64_t agent;			/* its id */
	int64_t space;
	struct str name;
	struct target_counts counts;
	struct target_row target;
};

/* Something is wrong, or was; the names are core/watch/alerts.h's. Each time that it fires is a row. */
struct alert_row {
	int64_t id;			/* grows; over all spaces */
	int64_t space;
	struct str name;
	struct str agent;		/* p == NULL: the space as a whole */
	int severity;			/* core/watch/alerts.h; it may rise */
	double value;
	double threshold;
	struct str summary;
	int64_t since_ms;
	int64_t resolved_at_ms;		/* 0: it is firing */
	struct str acknowledged_by;	/* p == NULL: nobody */
	int64_t acknowledged_at_ms;
	int64_t silenced_until_ms;	/* 0: it is not */
	struct str silenced_by;
	struct str silenced_why;
	bool is_untold;			/* the webhook does not know of its present state yet */
};

struct channel_row {
	int64_t id;
	struct str name;
	struct str description;		/* p == NULL: none */
	int64_t created_at_ms;
	int64_t subscribers;
};

/* Who comes next: settings is a JSON object, canonical. */
struct route_row {
	struct str name;
	struct str settings;
	int64_t created_at_ms;
	int64_t updated_at_ms;
};

struct store_check {
	int64_t memories;
	int64_t versions;
	int64_t envelopes;
	int64_t handoffs;
	int64_t problems;
};

#endif
