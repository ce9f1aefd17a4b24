/* memory_spine.h: the C client of Memory Spine, the server between AI agents. Link with -lmemoryspine.
 *
 *	ms_client *spine = NULL;
 *	ms_answer *envelope = NULL;
 *	ms_error error;
 *
 *	if (ms_open(&(ms_options){.agent = "planner"}, &spine, &error) ||
 *	    ms_pack(spine, &(ms_envelope){.to = "coder", .summary = "Write the parser."}, &envelope, &error) ||
 *	    ms_send(spine, &(ms_delivery){.envelope_id = ms_id(envelope)}, NULL, &error))
 *		fprintf(stderr, "%s: %s\n", error.code, error.detail);
 *	ms_answer_free(envelope);
 *	ms_close(spine);
 *
 * CALLS. Each returns an enum ms_status: 0 (MS_OK) where it went well. Where it did not, *ret_error says what happened,
 * *ret is NULL, and there is nothing to free. Where you do not want the error, or the answer of the server, pass NULL.
 * A call that the server refuses has changed nothing.
 *
 * OWNERSHIP. What you pass in is borrowed for the time of the call, and copied where it is kept. What a call gives you
 * through `ret` is yours: free an ms_answer with ms_answer_free(), an ms_work with ms_work_free(), a client with
 * ms_close(), a char * with ms_free(). What a function *returns* as a pointer (a text, an ms_json) is borrowed from the
 * object that it was asked of, and lives as long as that. All functions that free take NULL.
 *
 * TEXT is UTF-8 and ends with a NUL. A text in an answer may hold further NULs (\u0000): ms_json_text() says how long
 * it is.
 * Members that end in _json take JSON text, such as "{\"max_files\": 3}" or "\"a string\"".
 *
 * STRUCTS of options are to be set to zero but for what you say, as the example does: zero or NULL means "not given".
 *
 * THREADS. One ms_client may be used by any number of threads at once: each call has a connection of its own meanwhile,
 * so that one that waits does not hold up another. An ms_answer and an ms_work do not change after they were made, so
 * that threads may share them, too. Free each once, when no thread uses it. An ms_error belongs to one call at a time.
 * After a fork, the child opens a client of its own. The library starts no threads and installs no signal handlers.
 *
 * TIME. A call takes at most `timeout_ms` (30 seconds unless you say otherwise), all retries included. The time that
 * you ask the server to wait (`wait_ms`) comes on top, and a try that begins later has that much again.
 *
 * RETRIES. Within that time a call is sent again where that cannot do anything twice: no connection could be made; or
 * it was lost, and the call only reads, may be said twice, or carries an Idempotency-Key (each call that creates gets
 * one); or the server refused it with 503 and said when to come again: it is busy, or the node of a cluster that has
 * the space is being replaced. What may have been done and has no key ("outcome_unknown") is never sent again.
 *
 * KEYS. A key is sent as "Authorization: Bearer …", to the client's address and no other. It is in no error, and is
 * overwritten when the client is closed. A key file that cannot be read, holds none, or that others could read, too, is
 * MS_INVALID.
 *
 * HOSTILE SERVERS. An answer is read strictly and within bounds: its size, its depth, the number of its values. What is
 * not what was asked for is MS_BAD_ANSWER. Redirects are not followed.
 *
 * The library never prints, never ends the process, and keeps no state outside of your objects, but for libcurl's own
 * preparation, which is done once. docs/protocol.md says what each call means.
 */
#ifndef MEMORY_SPINE_H
#define MEMORY_SPINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MS_API __attribute__((visibility("default")))
#else
#define MS_API
#endif

/* The version of the library, such as "0.1.0". Static. */
MS_API const char *ms_version(void);

/* --- What can go wrong ----------------------------------------------------------------------------------------- */

typedef enum ms_status {
	MS_OK = 0,
	MS_INVALID,		/* an argument cannot be used; nothing was sent */
	MS_NO_MEMORY,
	MS_UNREACHABLE,		/* no connection could be made, or it was lost */
	MS_TIMED_OUT,
	MS_BAD_ANSWER,		/* what came is not the answer of a Memory Spine server, or is too large */
	MS_STOPPED,		/* by is_stopped */
	MS_REFUSED,		/* the server answered with a problem, which ms_error has */
	MS_TLS_FAILED,		/* no secure connection: ms_error says why, and what to do. Not tried again */
} ms_status;

enum { MS_CODE_SIZE = 64, MS_FIELD_SIZE = 128, MS_DETAIL_SIZE = 1024 };

/* What happened. It holds no pointers: copy it, keep it, never free it. Texts that do not fit are cut. */
typedef struct ms_error {
	ms_status status;
	/* Of the protocol ("stale_lease"), or the library's: "invalid_argument", "no_memory", "connect_failed",
	 * "connection_lost", "timeout", "bad_answer", "stopped", "tls_failed". "unauthorized" (401): the server asks
	 * for a key, or for another one; "forbidden" (403): the key may not do this. */
	char code[MS_CODE_SIZE];
	char detail[MS_DETAIL_SIZE];	/* a sentence for a person */
	char field[MS_FIELD_SIZE];	/* the member in question; "" where there is none */
	int http_status;		/* 0 where there was no answer */
	bool retryable;			/* the same call may succeed later */
	int64_t retry_after_ms;		/* when the server wants to be asked again; -1 where it did not say */
	bool repeated;			/* an earlier try was lost on its way: it may have been carried out */
} ms_error;

/* --- A client -------------------------------------------------------------------------------------------------- */

typedef struct ms_client ms_client;

typedef enum ms_retry {
	MS_RETRY = 0,		/* until the time of the call is over: it outlives a restart of the server */
	/* A person waits: a connection is made again three times at most, and not where nothing listens. A refusal is
	 * waited for as with MS_RETRY, unless it is for longer than 5 s. */
	MS_RETRY_BRIEFLY,
	MS_RETRY_NEVER,
} ms_retry;

typedef struct ms_options {
	const char *url;		/* "http://127.0.0.1:8788"; NULL: $SPINE_URL, else that */
	const char *space;		/* NULL: $SPINE_SPACE, else the server's default; "": that in any case */
	const char *agent;		/* who calls; NULL: $SPINE_AGENT; "": nobody in any case */
	const char *task;		/* of what is stored; NULL: $SPINE_TASK; "": none */
	const char *key;		/* what it proves itself with; NULL: key_file, else $SPINE_KEY; "": none */
	const char *key_file;		/* a file of mode 0600 that holds the key; NULL: $SPINE_KEY_FILE; "": none */
	const char *ca_file;		/* of https: the authorities that are trusted (PEM), instead of the system's;
					 * NULL: $SPINE_CA_FILE; "": the system's */
	const char *cert_file;		/* the client's certificate (PEM); NULL: $SPINE_CERT_FILE; "": none */
	const char *cert_key_file;	/* its private key; NULL: $SPINE_CERT_KEY_FILE, else in the same file */
	int64_t timeout_ms;		/* of a call with its retries; 0: 30,000 */
	ms_retry retry;
	size_t max_answer_bytes;	/* a larger answer is MS_BAD_ANSWER; 0: 64 MiB; at most 1 GiB */
	int max_connections;		/* calls at a time; further ones wait for their turn; 0: 16; at most 1,000 */
} ms_options;

/* *ret is yours: ms_close() it. Makes no connection yet. options may be NULL. */
MS_API ms_status ms_open(const ms_options *options, ms_client **ret, ms_error *ret_error);
/* Ends its connections. No call may be under way, and what was received with it (ms_work) is freed before. */
MS_API void ms_close(ms_client *client);
/* The server's address without a slash at its end. Borrowed. */
MS_API const char *ms_url(const ms_client *client);

/* --- Answers, and the values in them --------------------------------------------------------------------------- */

typedef struct ms_answer ms_answer;	/* an answer of the server: yours, to be freed */
typedef struct ms_json ms_json;		/* a value in it: borrowed, lives as long as the answer */

typedef enum ms_type { MS_NULL, MS_BOOL, MS_INT, MS_DOUBLE, MS_TEXT, MS_ARRAY, MS_OBJECT } ms_type;

MS_API void ms_answer_free(ms_answer *answer);
/* All of it as a value. NULL where it is not JSON (ms_exchange, or an answer without a body). */
MS_API const ms_json *ms_answer_json(const ms_answer *answer);
/* Its bytes as they came, ended by a NUL; their number in *ret_len, which may be NULL. Borrowed. */
MS_API const char *ms_answer_body(const ms_answer *answer, size_t *ret_len);
/* The status of HTTP, such as 201. */
MS_API int ms_answer_status(const ms_answer *answer);
/* The ETag with its quotes, for ms_request.if_match; "" where there is none. Borrowed. */
MS_API const char *ms_answer_etag(const ms_answer *answer);
/* The server had answered this key before. */
MS_API bool ms_answer_replayed(const ms_answer *answer);
/* How often the request was sent until this answer came. */
MS_API int ms_answer_tries(const ms_answer *answer);
/* The member "id": "ms-1", "env-1", "ho-1". NULL where there is none. Borrowed. */
MS_API const char *ms_id(const ms_answer *answer);

/* Reads JSON of yours, such as a result that an agent gave. *ret is yours. At most 64 MiB. */
MS_API ms_status ms_json_read(const char *text, size_t len, ms_answer **ret, ms_error *ret_error);

/* All of these take NULL, and values of any type: what is not there is NULL, false, 0, or what you say. So a chain of
 * them needs one check, at its end. */
MS_API ms_type ms_json_type(const ms_json *value);
/* How many items or members there are. */
MS_API size_t ms_json_count(const ms_json *value);
/* An item of an array, or the value of a member of an object, in the order of the text. */
MS_API const ms_json *ms_json_at(const ms_json *value, size_t index);
/* The name of a member of an object. Borrowed. */
MS_API const char *ms_json_name(const ms_json *value, size_t index);
/* The value of a member by its name. */
MS_API const ms_json *ms_json_get(const ms_json *value, const char *name);
/* The value at a JSON Pointer (RFC 6901): "/task/intent", "/memories/0/id". "" is the value itself. */
MS_API const ms_json *ms_json_find(const ms_json *value, const char *pointer);
/* The text of a string; NULL for all else. *ret_len may be NULL. Borrowed. */
MS_API const char *ms_json_text(const ms_json *value, size_t *ret_len);
/* An integer, or a number that is one (5.0). */
MS_API int64_t ms_json_int(const ms_json *value, int64_t otherwise);
MS_API double ms_json_number(const ms_json *value, double otherwise);
MS_API bool ms_json_bool(const ms_json *value, bool otherwise);
/* The JSON text of the value as it came. *ret is yours: ms_free() it. */
MS_API ms_status ms_json_print(const ms_json *value, char **ret, ms_error *ret_error);
/* Text as a JSON string, with its quotes, for members that end in _json. *ret is yours: ms_free() it. */
MS_API ms_status ms_json_quote(const char *text, char **ret, ms_error *ret_error);
MS_API void ms_free(char *text);

/* --- Memories -------------------------------------------------------------------------------------------------- */

typedef struct ms_memory {
	const char *content;			/* what is to be remembered; needed */
	const char *summary;			/* a short form */
	const char *kind;			/* "note", "fact", "decision", "observation", or a word of yours */
	const char *const *tags;		/* ended by NULL */
	const char *importance;			/* "low", "medium", "high", "critical" */
	const char *trust;			/* "system", "user", "agent", "external" */
	const char *task;			/* whose it is, such as ms_work_task(); NULL: the client's */
	bool shared;				/* of no task, but of the whole space */
	bool pinned;				/* goes along with every envelope */
	int64_t ttl_s;				/* how long it is recalled; 0: for ever */
	const char *supersedes;			/* the memory that it takes the place of */
	const char *metadata_json;		/* an object */
	const char *extra_json;			/* an object: further members of the protocol */
	const char *idempotency_key;		/* NULL: one is made */
} ms_memory;

/* Stores a memory. It is durable when this returns. The answer is the memory; ms_id() is its id. */
MS_API ms_status ms_store(ms_client *client, const ms_memory *memory, ms_answer **ret, ms_error *ret_error);
/* Reads one: "ms-1", or a version of it, "ms-1@2". One that was forgotten is answered, too: its "state" says so. */
MS_API ms_status ms_get(ms_client *client, const char *id, ms_answer **ret, ms_error *ret_error);

/* Reads up to 1,000, at "/memories" of the answer in the order of the ids, each once; "/missing" has those that are not
 * there, each with its "reason". ids ends with NULL. What one answer of the server has no room for is asked for again,
 * so that all of it is here; each such request has the time of a call. More than max_answer_bytes together is
 * MS_BAD_ANSWER. */
MS_API ms_status ms_fetch(ms_client *client, const char *const *ids, ms_answer **ret, ms_error *ret_error);

typedef struct ms_search_options {
	const char *query;			/* words; NULL: all memories, the newest first */
	int limit;				/* 0: 20; at most 1,000 */
	const char *const *tags;		/* ended by NULL; all must be there */
	const char *kind;
	const char *agent;
	const char *task;
	const char *importance;
	bool pinned;				/* only what is pinned */
	bool explain;				/* with the parts of each score */
	const char *page_token;			/* "next_page_token" of the answer before */
} ms_search_options;

/* The best first, at "/memories" of the answer. */
MS_API ms_status ms_search(ms_client *client, const ms_search_options *options, ms_answer **ret, ms_error *ret_error);
MS_API ms_status ms_pin(ms_client *client, const char *id, ms_answer **ret, ms_error *ret_error);
MS_API ms_status ms_unpin(ms_client *client, const char *id, ms_answer **ret, ms_error *ret_error);
/* Removes what all its versions say, for good. */
MS_API ms_status ms_forget(ms_client *client, const char *id, ms_answer **ret, ms_error *ret_error);

/* --- Handing work over ----------------------------------------------------------------------------------------- */

/* What an envelope is packed from. */
typedef struct ms_envelope {
	const char *to;				/* who gets the work; "next" asks the routes; needed */
	const char *summary;			/* what it is to accomplish; needed */
	const char *intent;			/* the user's own words; once, at the first envelope */
	const char *state;			/* where the work stands */
	const char *constraints_json;		/* an object: what must hold from here on */
	const char *history_json;		/* an array of objects: what was done */
	const char *const *refs;		/* memories that go along, ended by NULL */
	const char *const *open_decisions;	/* ended by NULL */
	const char *expected_output_json;	/* an object */
	const char *parent;			/* the envelope that this one continues */
	const char *task;			/* a name for a new task, or the task to go on with */
	const char *from;			/* who hands over; NULL: the client's agent */
	const char *strategy;			/* "priority", "full", "summary", "lazy" */
	const char *extra_json;			/* an object: further members of the protocol */
	const char *idempotency_key;		/* NULL: one is made */
} ms_envelope;

/* Packs an envelope that fits the receiver's budget. The answer is the envelope; ms_id() is its id. */
MS_API ms_status ms_pack(ms_client *client, const ms_envelope *envelope, ms_answer **ret, ms_error *ret_error);

/* How an envelope is delivered. */
typedef struct ms_delivery {
	const char *envelope_id;		/* what was packed; or */
	const ms_envelope *envelope;		/* what is packed now, in the same call */
	const char *to;				/* NULL: whom the envelope is addressed to */
	int64_t wait_ms;			/* waits for the ack; 0: does not wait. At most 600,000 */
	int64_t ack_timeout_ms;			/* how long a receiver has to ack */
	int max_attempts;
	const char *const *fallbacks;		/* who gets it then, in order; ended by NULL */
	int priority;				/* 1 to 9, the higher first; 0: the server's (5) */
	int64_t queue_timeout_ms;		/* how long it waits for a receiver; then it is parked */
	const char *extra_json;			/* an object: further members of the protocol */
	const char *idempotency_key;		/* NULL: one is made */
} ms_delivery;

/* Sends it. The answer is the handoff; ms_id() is its id, "/state" its state. */
MS_API ms_status ms_send(ms_client *client, const ms_delivery *delivery, ms_answer **ret, ms_error *ret_error);
/* What became of it: its state, its result, its attempts. */
MS_API ms_status ms_handoff(ms_client *client, const char *id, ms_answer **ret, ms_error *ret_error);

/* --- Taking work over ------------------------------------------------------------------------------------------ */

typedef struct ms_work ms_work;		/* a handoff in hand: yours, to be freed. Borrows its client */

typedef struct ms_receive_options {
	const char *agent;			/* whose work; NULL: the client's agent */
	int64_t wait_ms;			/* how long to wait where there is none; at most 60,000 */
	int64_t lease_ms;			/* how long you have before it comes again; 0: the server's */
	const char *instance;			/* a name for this process among those of the agent */
	bool (*is_stopped)(void *arg);		/* asked about once a second: true ends the call. May be NULL */
	void *stop_arg;
} ms_receive_options;

/* Takes the next handoff. *ret is yours: settle it, then ms_work_free() it. MS_OK and *ret == NULL: nothing came in
 * time. What you neither settle nor renew in time (ms_progress) comes again; so does what a lost connection took along.
 */
MS_API ms_status ms_receive(ms_client *client, const ms_receive_options *options, ms_work **ret, ms_error *ret_error);
/* Settles nothing: what was not settled comes again when its lease has run out. */
MS_API void ms_work_free(ms_work *work);

/* All borrowed from the work. */
MS_API const char *ms_work_id(const ms_work *work);		/* "ho-1" */
MS_API const char *ms_work_prompt(const ms_work *work);		/* what a model reads, Markdown; "": none */
MS_API const char *ms_work_envelope(const ms_work *work);	/* the envelope as JSON text; "null": none */
MS_API const char *ms_work_envelope_id(const ms_work *work);
MS_API const char *ms_work_lease(const ms_work *work);		/* what proves that it is yours */
MS_API const char *ms_work_to(const ms_work *work);		/* the agent that it is for */
/* NULL where it is not known. */
MS_API const char *ms_work_task(const ms_work *work);
MS_API const char *ms_work_intent(const ms_work *work);		/* the user's words */
MS_API const char *ms_work_summary(const ms_work *work);	/* what is to be accomplished */
MS_API const char *ms_work_from(const ms_work *work);		/* who handed it over */
/* 1 for the first time. */
MS_API int ms_work_attempt(const ms_work *work);
/* A receiver has had it before: what is to be done may be done already. */
MS_API bool ms_work_redelivered(const ms_work *work);
/* All that the server said of it. */
MS_API const ms_json *ms_work_json(const ms_work *work);

/* Settling. All are done in the name of the agent that it was received for; the answer is the handoff. A lease that has
 * run out is MS_REFUSED with the code "stale_lease", and nothing was changed: somebody else may have the work. */

/* Accepts it, and its sender goes on. With work_lease_ms the work is yours for that long, and comes again unless it is
 * completed or renewed in time; with 0 this is the end of it. */
MS_API ms_status ms_ack(ms_work *work, int64_t work_lease_ms, ms_answer **ret, ms_error *ret_error);
/* Renews the lease. note may be NULL. */
MS_API ms_status ms_progress(ms_work *work, const char *note, ms_answer **ret, ms_error *ret_error);

typedef struct ms_result {
	const char *text;			/* the result as text; or */
	const char *json;			/* as JSON; or neither */
	const char *gaps_json;			/* an array: what was missing */
	int64_t input_tokens;			/* how many the model read; 0: not said */
	bool forget;				/* the result does not become a memory of the task */
	const ms_delivery *then;		/* hands the work on in the same commit. NULL: it ends here */
} ms_result;

/* Ends it. result may be NULL. */
MS_API ms_status ms_complete(ms_work *work, const ms_result *result, ms_answer **ret, ms_error *ret_error);
/* Ends it with a text as the result (or NULL), and hands the work on: both are done, or neither is, and you still have
 * it. Intent, constraints and the result go along by themselves. The new handoff is at "/then" of the answer. */
MS_API ms_status ms_hand_on(ms_work *work, const char *result, const ms_envelope *next, ms_answer **ret,
			    ms_error *ret_error);
/* Gives it back, to come again: after delay_ms, or (-1) when the server thinks fit. reason may be NULL. */
MS_API ms_status ms_nack(ms_work *work, const char *reason, int64_t delay_ms, ms_answer **ret, ms_error *ret_error);
/* Gives it back unfinished, because this program is being stopped: no attempt is used, and it keeps its place. Also
 * after an ack. delay_ms as above, 0 for at once; reason may be NULL. */
MS_API ms_status ms_release(ms_work *work, const char *reason, int64_t delay_ms, ms_answer **ret, ms_error *ret_error);
/* Refuses it for good: it goes to a fallback, or is parked for a person. */
MS_API ms_status ms_reject(ms_work *work, const char *reason, ms_answer **ret, ms_error *ret_error);
/* Fetches memories that the envelope had no room for, at "/memories" and "/missing" of the answer, as ms_fetch() does.
 * ids ends with NULL. Renews the lease. */
MS_API ms_status ms_need(ms_work *work, const char *const *ids, ms_answer **ret, ms_error *ret_error);

/* --- Many receivers -------------------------------------------------------------------------------------------- */

typedef struct ms_publication {
	const char *channel;			/* needed */
	const char *envelope_id;		/* needed */
	const char *const *receivers;		/* ended by NULL; NULL: the subscribers of the channel */
	const char *delivery;			/* "at-least-once" */
	const char *extra_json;
	const char *idempotency_key;
} ms_publication;

/* One handoff for each receiver, at "/handoffs" of the answer. */
MS_API ms_status ms_publish(ms_client *client, const ms_publication *publication, ms_answer **ret,
			    ms_error *ret_error);
/* Waits until what was published has been completed: by all (need = NULL), by "any", or by so many ("2"). "/state" is
 * "joined", "failed", "deadline", or "waiting" where the time was too short. wait_ms is at most 60,000. */
MS_API ms_status ms_join(ms_client *client, const char *channel, const char *envelope_id, const char *need,
			 int64_t wait_ms, ms_answer **ret, ms_error *ret_error);

/* --- Watching -------------------------------------------------------------------------------------------------- */

/* What waits for a person, at "/parked". page_token is NULL, or the "next_page_token" of the answer before. */
MS_API ms_status ms_parked(ms_client *client, const char *page_token, ms_answer **ret, ms_error *ret_error);
/* Figures of a window, such as "1h"; NULL: the server's. */
MS_API ms_status ms_stats(ms_client *client, const char *window, ms_answer **ret, ms_error *ret_error);

/* --- Everything else ------------------------------------------------------------------------------------------- */

/* An argument of an operation, by its name in the protocol. Where it belongs (path, query, body) is known. */
typedef struct ms_arg {
	const char *name;
	const char *text;			/* its value as text; or */
	const char *json;			/* as JSON: "10", "true", "[1, 2]" */
} ms_arg;

/* A call of the protocol: an operation by its name and its arguments,
 *
 *	ms_arg args[] = {{.name = "id", .text = "ms-1"}, {.name = "pinned", .json = "true"}, {.name = NULL}};
 *	ms_request request = {.operation = "changeMemory", .args = args};
 *
 * or a method and a path, with a body where it has one:
 *
 *	ms_request request = {.method = "POST", .path = "/v1/memories/fetch", .body = "{\"ids\": [\"ms-1\"]}"};
 */
typedef struct ms_request {
	const char *operation;			/* an operationId of the server's /openapi.json; or */
	const char *method;			/* "GET", and */
	const char *path;			/* "/v1/memories?query=…", encoded */
	const ms_arg *args;			/* ended by one without a name */
	const char *body;			/* JSON. With it, args are of the path and the query only */
	size_t body_len;			/* 0: up to its NUL */
	const char *idempotency_key;		/* NULL: one is made where something is created */
	const char *agent;			/* in whose name; NULL: the client's */
	const char *task;			/* of what is stored (Spine-Task); NULL: the client's */
	const char *person;			/* who asks, for what only persons do (Spine-Person) */
	const char *if_match;			/* an ETag with its quotes */
	const char *accept;			/* NULL: application/json */
	const char *const *headers;		/* more of them, "Name: value", ended by NULL; or NULL */
	bool creates;				/* with method and path: gets an Idempotency-Key where it has none */
	bool repeatable;			/* with method and path: twice is the same as once. A GET always is */
	int64_t wait_ms;			/* how long the server was asked to wait: added to the timeout */
	/* Is given the body of a 2xx as it comes, instead of its being kept; false ends the call with MS_STOPPED. Such
	 * a call may take any time, but not silence_ms without a byte (0: a minute). It is not sent again once
	 * something came. May be NULL. */
	bool (*on_data)(void *arg, const char *data, size_t len);
	int64_t silence_ms;
	/* Is given each header of the answer, before its body. May be NULL. */
	void (*on_header)(void *arg, const char *name, size_t name_len, const char *value, size_t value_len);
	void *data_arg;
	bool (*is_stopped)(void *arg);		/* asked about once a second: true ends the call. May be NULL */
	void *stop_arg;
	/* Is told once, after a second in which the call was sent and not carried out: why, and for how much longer it
	 * is tried. May be NULL. */
	void (*on_retry)(void *arg, const ms_error *why, int64_t left_ms);
	void *retry_arg;
} ms_request;

/* Makes the call and reads its answer, which must be JSON unless `accept` says otherwise. */
MS_API ms_status ms_call(ms_client *client, const ms_request *request, ms_answer **ret, ms_error *ret_error);
/* The same, one floor below: whatever the server answers is MS_OK, of any status, and nothing is read into values. For
 * those who want a problem with all its members: ms_json_read() reads the body. */
MS_API ms_status ms_exchange(ms_client *client, const ms_request *request, ms_answer **ret, ms_error *ret_error);

#ifdef __cplusplus
}
#endif

#endif
