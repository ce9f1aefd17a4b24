/* A session: one connection to the database, and what is known of it.
 *
 * No call waits for ever: a server that stands still (its machine is paused, or a failover left it behind) accepts
 * connections, and answers nothing.
 */
#ifndef SPINE_STORE_POSTGRES_SESSION_H
#define SPINE_STORE_POSTGRES_SESSION_H

#include "store/postgres/postgres_library.h"

/* POSTGRES_STATEMENTS is 1 << (64 - 55): see postgres_query.c. */
enum { POSTGRES_STATEMENTS = 512, POSTGRES_PENDING = 4096 };

/* An answer that takes longer is none. Whoever goes through much does so in pages. */
enum { POSTGRES_ANSWER_MAX_MS = 10000 };

/* What is sent, and not answered yet. */
struct postgres_sent {
	bool is_gathered;		/* no verb's own: what it is refused for was not so */
	size_t prepares;		/* which statement, counted from 1; 0: it runs one */
};

struct postgres_session {
	PGconn *db;
	struct postgres_session *next;			/* in a pool */
	bool is_stale;					/* its server takes no writes any more */
	bool has_warned;				/* since this was set to false: its commit has
						 * not waited for a standby */
	struct postgres_sent sent[POSTGRES_PENDING];	/* a ring */
	size_t sent_at, sent_count;
	const char *prepared[POSTGRES_STATEMENTS];	/* the texts that it knows, by their place */
	size_t prepared_count;
};

/* What libpq says of an error, in one line: its own has several, with tabs. */
struct postgres_words {
	char text[1000];
};
struct postgres_words postgres_words(const char *words);

/* Of a statement; NULL: it has no answer. */
void postgres_put_error(struct buf *error, const PGresult *result);

/* A connection to the server that takes writes, of those that the URL names. Returns owned (PQfinish), never NULL;
 * PQstatus says whether it is one. */
PGconn *postgres_dial(const char *url);
/* Returns owned, ready for statements one by one; NULL, and a sentence. */
struct postgres_session *postgres_session_open(const char *url, struct buf *error);
/* NULL-safe. */
void postgres_session_close(struct postgres_session *s);
/* Nothing was asked, and the server has not gone meanwhile, as far as can be seen from here. */
bool postgres_session_is_alive(struct postgres_session *s);

/* Until an answer is there, or it is certain that none comes; false: not for so long. */
bool postgres_wait(PGconn *db, int64_t limit_ms);
/* One statement with parameters as texts, outside of a pipeline. Owned; NULL: no answer for so long. */
PGresult *postgres_ask(PGconn *db, const char *sql, int count, const char *const *values, int64_t limit_ms);
/* PGRES_COMMAND_OK or PGRES_TUPLES_OK. NULL-safe. */
bool postgres_is_good(const PGresult *result);

#endif
