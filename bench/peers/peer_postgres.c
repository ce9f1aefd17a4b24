/* PostgreSQL as a queue, through libpq's asynchronous interface: a table, SKIP LOCKED, and a transaction for each call:
 * insert; lease the oldest that nobody has; delete. A connection for each client, statements prepared.
 *
 * In the open loop, who inserts also notifies. The first of those that receive does nothing but listen, as in a program
 * with a pool of workers: each notification wakes one that waits. If all of them listened, the server would wake
 * them all.
 */
#include "peer.h"

#include "base/mem.h"

#include <endian.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

enum step { STEP_PUBLISH, STEP_RECEIVE, STEP_ACK, STEP_SEND };

struct own {
	PGconn *pg;
	enum step step;
	uint64_t id;		/* big-endian, as on the wire: of the message received */
	bool received;
	bool listens;
	struct peer_client *next_idle;
};

static struct peer_client *idle;	/* those that wait to be woken */
static uint64_t unheard;		/* notifications that came when nobody waited */

/* Bodies stay beside the row, as they are: leasing does not write them again and nothing is spent on compressing them.
 * What was leased and deleted is cleaned up all the time, as the manuals of such queues advise. */
static const char schema[] =
	"CREATE TABLE IF NOT EXISTS work (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "
	"leased_until timestamptz, body text NOT NULL) WITH (fillfactor = 70, autovacuum_vacuum_threshold = 1000, "
	"autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);"
	"ALTER TABLE work ALTER body SET STORAGE EXTERNAL;"
	"CREATE INDEX IF NOT EXISTS work_waiting ON work (id) WHERE leased_until IS NULL";

static const char *const statements[] = {
	[STEP_PUBLISH] = "INSERT INTO work (body) VALUES ($1)",
	[STEP_RECEIVE] = "UPDATE work SET leased_until = now() + interval '120 s' WHERE id = (SELECT id FROM work "
			 "WHERE leased_until IS NULL ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id, body",
	[STEP_ACK] = "DELETE FROM work WHERE id = $1",
	[STEP_SEND] = "INSERT INTO work (body) VALUES ($1) RETURNING pg_notify('work', '')",
};
static const char *const names[] = {
	[STEP_PUBLISH] = "publish", [STEP_RECEIVE] = "receive", [STEP_ACK] = "ack", [STEP_SEND] = "send",
};

static PGconn *connect_to(uint16_t port)
{
	char where[160];
	PGconn *pg;

	snprintf(where, sizeof(where),
		 "host=127.0.0.1 port=%u user=bench dbname=postgres sslmode=disable gssencmode=disable", port);
	pg = PQconnectdb(where);
	if (PQstatus(pg) != CONNECTION_OK)
		peer_fail("cannot connect: %s", PQerrorMessage(pg));
	return pg;
}

/* Takes result. */
static void expect_command(PGconn *pg, PGresult *result)
{
	if (PQresultStatus(result) != PGRES_COMMAND_OK)
		peer_fail("%s", PQerrorMessage(pg));
	PQclear(result);
}

static void postgres_prepare(uint16_t port)
{
	PGconn *pg = connect_to(port);

	expect_command(pg, PQexec(pg, "SET client_min_messages = warning"));
	expect_command(pg, PQexec(pg, schema));
	PQfinish(pg);
}

static void postgres_open(struct peer_client *client)
{
	struct own *own = mem_zalloc(sizeof(*own));

	client->own = own;
	own->pg = connect_to(client->port);
	for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++)
		expect_command(own->pg, PQprepare(own->pg, names[i], statements[i], 0, NULL));
	own->listens = client->role == PEER_RECEIVES && client->before == NULL;
	if (own->listens)
		expect_command(own->pg, PQexec(own->pg, "LISTEN work"));
	if (PQsetnonblocking(own->pg, 1) != 0)
		peer_fail("%s", PQerrorMessage(own->pg));
	client->fd = PQsocket(own->pg);
}

static void flush(struct peer_client *client)
{
	struct own *own = client->own;
	int left = PQflush(own->pg);

	if (left < 0)
		peer_fail("%s", PQerrorMessage(own->pg));
	if (left > 0)
		peer_want_write(client, true);
}

static void send_step(struct peer_client *client, enum step step)
{
	struct own *own = client->own;
	bool publishes = step == STEP_PUBLISH || step == STEP_SEND;
	const char *values[1] = {publishes ? client->payload.p : (const char *)&own->id};
	const int lengths[1] = {publishes ? (int)client->payload.n : (int)sizeof(own->id)};
	const int formats[1] = {1};

	own->step = step;
	own->received = false;
	if (!PQsendQueryPrepared(own->pg, names[step], step == STEP_RECEIVE ? 0 : 1, values, lengths, formats, 1))
		peer_fail("%s", PQerrorMessage(own->pg));
	flush(client);
}

static void postgres_begin(struct peer_client *client)
{
	const struct own *own = client->own;

	if (client->role == PEER_CYCLES)
		send_step(client, STEP_PUBLISH);
	else if (client->role == PEER_SENDS)
		send_step(client, STEP_SEND);
	else if (!own->listens)
		send_step(client, STEP_RECEIVE);
}

static void hear(struct own *own)
{
	PGnotify *told;

	while ((told = PQnotifies(own->pg))) {
		PQfreemem(told);
		unheard++;
	}
	while (unheard && idle) {
		struct peer_client *client = idle;

		idle = ((struct own *)client->own)->next_idle;
		unheard--;
		send_step(client, STEP_RECEIVE);
	}
}

/* There was nothing. Where a notification came meanwhile, it may be of something that was committed since. */
static void wait_for_work(struct peer_client *client)
{
	struct own *own = client->own;

	if (unheard) {
		unheard--;
		send_step(client, STEP_RECEIVE);
	} else {
		own->next_idle = idle;
		idle = client;
	}
}

static void take_result(struct peer_client *client, const PGresult *result)
{
	struct own *own = client->own;

	bool has_rows = own->step == STEP_RECEIVE || own->step == STEP_SEND;

	if (PQresultStatus(result) != (has_rows ? PGRES_TUPLES_OK : PGRES_COMMAND_OK))
		peer_fail("%s: %s", names[own->step], PQresultErrorMessage(result));
	if (own->step == STEP_RECEIVE && PQntuples(result) == 1) {
		if (PQgetlength(result, 0, 0) != sizeof(own->id) ||
		    (size_t)PQgetlength(result, 0, 1) != client->payload.n)
			peer_fail("received something of another size");
		memcpy(&own->id, PQgetvalue(result, 0, 0), sizeof(own->id));
		own->received = true;
		if (client->role == PEER_RECEIVES)
			peer_received(client, (struct str){PQgetvalue(result, 0, 1), client->payload.n});
	}
	if (own->step == STEP_ACK && strcmp(PQcmdTuples((PGresult *)result), "1") != 0)
		peer_fail("message %llu was not there to be deleted", (unsigned long long)be64toh(own->id));
}

/* The answer to a step is complete. A receive that finds nothing asks again: all that its snapshot showed was taken by
 * others, and their own messages were committed after it. */
static void next_step(struct peer_client *client)
{
	struct own *own = client->own;

	if (own->step == STEP_PUBLISH)
		send_step(client, STEP_RECEIVE);
	else if (own->step == STEP_RECEIVE && (own->received || client->role == PEER_CYCLES))
		send_step(client, own->received ? STEP_ACK : STEP_RECEIVE);
	else if (own->step == STEP_RECEIVE)
		wait_for_work(client);
	else if (client->role == PEER_RECEIVES)
		send_step(client, STEP_RECEIVE);
	else
		peer_cycle_done(client);
}

static void postgres_ready(struct peer_client *client, uint32_t events)
{
	struct own *own = client->own;
	PGresult *result;

	if (events & EPOLLOUT) {
		peer_want_write(client, false);
		flush(client);
	}
	if ((events & ~(uint32_t)EPOLLOUT) == 0)
		return;
	if (!PQconsumeInput(own->pg))
		peer_fail("%s", PQerrorMessage(own->pg));
	if (own->listens) {
		hear(own);
		return;
	}
	while (!PQisBusy(own->pg)) {
		result = PQgetResult(own->pg);
		if (result == NULL) {
			next_step(client);
			return;
		}
		take_result(client, result);
		PQclear(result);
	}
}

static void postgres_close(struct peer_client *client)
{
	struct own *own = client->own;

	PQfinish(own->pg);
	free(own);
}

const struct peer peer_postgres = {
	.name = "postgres",
	.about = "libpq, asynchronous: INSERT, UPDATE of a SELECT … SKIP LOCKED, DELETE, a transaction each",
	.halves = true,
	.prepare = postgres_prepare,
	.open = postgres_open,
	.begin = postgres_begin,
	.ready = postgres_ready,
	.close = postgres_close,
};
