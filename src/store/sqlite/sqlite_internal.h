/* What the files of the SQLite engine share. */
#ifndef SPINE_STORE_SQLITE_INTERNAL_H
#define SPINE_STORE_SQLITE_INTERNAL_H

#include "base/cache.h"
#include "store/sqlite/sqlite.h"
#include "store/verbs.h"

#include <sqlite3.h>

/* The numbers that the texts of SQL say: states and flags of handoffs, where a result is. They are in the files of all
 * stores and in the indexes' conditions, so none of them may ever change its meaning; a new state gets a new number. */
_Static_assert(HANDOFF_QUEUED == 0, "state = 0");
_Static_assert(HANDOFF_DELAYED == 1, "state = 1, state <> 1");
_Static_assert(HANDOFF_LEASED == 2, "state = 2");
_Static_assert(HANDOFF_WORKING == 3, "state = 3");
_Static_assert(HANDOFF_ACKED == 4, "state > 0 AND state < 4: under way, not queued; state < 4: open");
_Static_assert(HANDOFF_COMPLETED == 5, "stored");
_Static_assert(HANDOFF_PARKED == 6, "state = 6");
_Static_assert(HANDOFF_EXPIRED == 7, "stored");
_Static_assert(HANDOFF_DISCARDED == 8 && HANDOFF_STATES == 9, "state BETWEEN 0 AND 8");
_Static_assert(RESULT_KEPT == 0, "form INTEGER NOT NULL DEFAULT 0");
_Static_assert(RESULT_TEXT == 1 && RESULT_JSON == 2 && RESULT_LARGE == 3, "stored");

/* Of a handoff. The index of those untold counts on flags below FLAG_TOLD: nothing that is parked is retried. */
enum { FLAG_EXHAUSTED = 1, FLAG_TOLD = 2, FLAG_RETRIED = 4 };

_Static_assert(FLAG_EXHAUSTED < 2 && FLAG_TOLD == 2, "flags < 2: not told");
_Static_assert(FLAG_RETRIED == 4, "flags & 4");

/* The prepared statements, one list: name and text. */
#define SQLITE_STATEMENTS(X) \
	X(BEGIN, "BEGIN IMMEDIATE") \
	X(READ_BEGIN, "BEGIN") \
	X(COMMIT, "COMMIT") \
	X(ROLLBACK, "ROLLBACK") \
	X(SAVEPOINT, "SAVEPOINT part") \
	X(RELEASE, "RELEASE part") \
	X(ROLLBACK_TO, "ROLLBACK TO part") \
	X(SPACE_FIND, "SELECT id FROM space WHERE name = ?1") \
	X(SPACE_CREATE, "INSERT INTO space (name, next_memory, memories, created_at) VALUES (?1, 1, 0, ?2)") \
	X(SPACE_GUARD, "SELECT guard FROM space WHERE id = ?1") \
	X(SPACE_SET_GUARD, "UPDATE space SET guard = ?2 WHERE id = ?1") \
	X(SPACES, "SELECT id, name, memories, created_at FROM space WHERE id > ?1 ORDER BY id LIMIT ?2") \
	X(SPACE_COUNT, "SELECT memories FROM space WHERE id = ?1") \
	X(SPACE_NEXT, "SELECT next_memory FROM space WHERE id = ?1") \
	X(SPACE_ADDED, \
	  "UPDATE space SET memories = memories + ?3, next_memory = max(next_memory, ?2) WHERE id = ?1") \
	X(SPACE_REMOVED, "UPDATE space SET memories = memories - 1 WHERE id = ?1") \
	X(MEMORY_INSERT, \
	  "INSERT INTO memory (id, version, pinned, created_at, supersedes) " \
	  "VALUES (?1, 1, ?2, ?3, ?4) ON CONFLICT DO NOTHING") \
	X(MEMORY_SET_VERSION, "UPDATE memory SET version = ?2 WHERE id = ?1") \
	X(MEMORY_SET_PINNED, "UPDATE memory SET pinned = ?2 WHERE id = ?1") \
	X(MEMORY_SET_SUPERSEDED, "UPDATE memory SET superseded_by = ?2 WHERE id = ?1") \
	X(MEMORY_SET_FORGOTTEN, \
	  "UPDATE memory SET forgotten_at = ?2, pinned = 0 WHERE id = ?1 AND forgotten_at = 0") \
	X(VERSION_INSERT, \
	  "INSERT INTO memory_version (memory, version, updated_at, expires_at, importance, trust, content, summary, " \
	  "kind, tags, agent, task, metadata, digest) " \
	  "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)") \
	X(VERSION_DELETE, "DELETE FROM memory_version WHERE memory = ?1") \
	X(MEMORY_GET, \
	  SQLITE_MEMORY_COLUMNS \
	  "FROM memory m LEFT JOIN memory_version v ON v.memory = m.id AND v.version = m.version " \
	  "WHERE m.id = ?1") \
	X(MEMORY_GET_VERSION, \
	  SQLITE_MEMORY_COLUMNS \
	  "FROM memory m LEFT JOIN memory_version v ON v.memory = m.id AND v.version = ?2 WHERE m.id = ?1") \
	X(MEMORY_VERSIONS, \
	  SQLITE_MEMORY_COLUMNS \
	  "FROM memory_version v JOIN memory m ON m.id = v.memory " \
	  "WHERE v.memory = ?1 AND v.version < ?2 ORDER BY v.version DESC LIMIT ?3") \
	X(MEMORY_SCAN, \
	  SQLITE_MEMORY_COLUMNS \
	  "FROM memory m CROSS JOIN memory_version v ON v.memory = m.id AND v.version = m.version " \
	  "WHERE m.id > ?1 AND m.id < ?2 ORDER BY m.id LIMIT ?3") \
	X(TASK_FIND, "SELECT id FROM task WHERE space = ?1 AND name = ?2") \
	X(TASK_CREATE, \
	  "INSERT INTO task (space, name, created_at, id) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING") \
	X(TASK_DELETE, "DELETE FROM task WHERE id = ?1") \
	X(TASKS, \
	  "SELECT t.id, t.name, t.created_at, (SELECT count(*) FROM envelope e " \
	  "WHERE e.task = t.id) FROM task t WHERE t.id > ?1 AND t.id < ?2 ORDER BY t.id DESC LIMIT ?3") \
	X(ENVELOPE_INSERT, \
	  "INSERT INTO envelope (id, task, parent, hop, created_at, digest, body, texts, body_digest, considered) " \
	  "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT DO NOTHING") \
	X(ENVELOPE_CONSIDERED, "SELECT considered FROM envelope WHERE id = ?1") \
	X(ENVELOPE_GET, SQLITE_ENVELOPE_COLUMNS "FROM envelope e JOIN task t ON t.id = e.task WHERE e.id = ?1") \
	X(ENVELOPE_LAST, "SELECT max(id) FROM envelope WHERE id > ?1 AND id < ?2") \
	X(TASK_ENVELOPES, \
	  SQLITE_ENVELOPE_COLUMNS \
	  "FROM task t JOIN envelope e ON e.task = t.id WHERE t.space = ?1 AND t.name = ?2 AND e.id > ?3 " \
	  "ORDER BY e.id LIMIT ?4") \
	X(TASK_LAST, \
	  SQLITE_ENVELOPE_COLUMNS \
	  "FROM task t JOIN envelope e ON e.task = t.id WHERE t.space = ?1 AND t.name = ?2 " \
	  "ORDER BY e.id DESC LIMIT 1") \
	X(RECEIPT_PUT, \
	  "INSERT INTO receipt (envelope, memory, agent, at) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING") \
	X(RECEIPTS, "SELECT memory, agent, at FROM receipt WHERE envelope = ?1 ORDER BY at, memory, agent LIMIT ?2") \
	X(AGENT_GET, "SELECT name, settings, created_at, updated_at FROM agent WHERE space = ?1 AND name = ?2") \
	X(AGENT_PUT, \
	  "INSERT INTO agent (space, name, settings, created_at, updated_at) " \
	  "VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (space, name) DO UPDATE SET settings = " \
	  "excluded.settings, updated_at = excluded.updated_at") \
	X(AGENTS, \
	  "SELECT name, settings, created_at, updated_at FROM agent " \
	  "WHERE space = ?1 AND name > ?2 ORDER BY name LIMIT ?3") \
	X(AGENTS_HOLDING, \
	  "SELECT a.id, a.space, s.name, a.name, a.settings " \
	  "FROM agent a JOIN space s ON s.id = a.space WHERE a.id > ?1 AND instr(a.settings, ?2) > 0 ORDER " \
	  "BY a.id LIMIT ?3") \
	X(AGENT_ID, "SELECT id FROM agent WHERE space = ?1 AND name = ?2") \
	X(AGENT_MAKE, \
	  "INSERT INTO agent (space, name, settings, created_at, updated_at) VALUES (?1, ?2, '{}', ?3, ?3)") \
	X(TARGET_GET, "SELECT seen_at, failures, open_until, probe FROM target WHERE agent = ?1") \
	X(TARGET_PUT, \
	  "INSERT INTO target (agent, seen_at, failures, open_until, probe) " \
	  "VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (agent) DO UPDATE SET seen_at = excluded.seen_at, " \
	  "failures = excluded.failures, open_until = excluded.open_until, probe = excluded.probe") \
	X(TARGET_COUNTS, \
	  "SELECT (SELECT count(*) FROM handoff WHERE agent = ?1 AND state = 0), (SELECT count(*) " \
	  "FROM handoff WHERE agent = ?1 AND state > 0 AND state < 4 AND state = 1), (SELECT count(*) " \
	  "FROM handoff WHERE agent = ?1 AND state > 0 AND state < 4 AND state = 2), (SELECT count(*) " \
	  "FROM handoff WHERE agent = ?1 AND state > 0 AND state < 4 AND state = 3), (SELECT count(*) " \
	  "FROM handoff WHERE agent = ?1 AND state = 6)") \
	X(TARGET_BUSY, \
	  "SELECT coalesce(max(due), 0) FROM (SELECT due FROM handoff WHERE agent = ?1 AND state > 0 AND state < 4 " \
	  "AND state <> 1 LIMIT 64)") \
	X(HANDOFF_LAST, "SELECT max(id) FROM handoff WHERE id > ?1 AND id < ?2") \
	X(HANDOFF_INSERT, \
	  "INSERT INTO handoff (id, envelope, target, agent, channel, created_at, sender, state, priority, " \
	  "attempt, max_attempts, leases, due, expires_at, ack_timeout, lease_ms, changed_at, acked_at, " \
	  "flags, receiver, fallbacks, reason, progress) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, " \
	  "?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23) ON CONFLICT DO NOTHING") \
	X(HANDOFF_PUT, \
	  "UPDATE handoff SET agent = ?4, state = ?8, priority = ?9, " \
	  SQLITE_HANDOFF_PUT \
	  "WHERE id = ?1 AND target = ?3 AND channel = ?5") \
	X(HANDOFF_REROUTE, \
	  "UPDATE handoff SET target = ?3, agent = ?4, channel = ?5, state = ?8, priority = ?9, " \
	  SQLITE_HANDOFF_PUT \
	  "WHERE id = ?1") \
	X(HANDOFF_GET, SQLITE_HANDOFF_COLUMNS "WHERE h.id = ?1") \
	X(HANDOFF_FIND, SQLITE_HANDOFF_COLUMNS "WHERE h.envelope = ?1 AND h.target = ?2") \
	X(HANDOFF_OF_AGENT, \
	  "SELECT id FROM handoff INDEXED BY handoff_envelope WHERE envelope = ?1 AND (agent = ?2 OR target = ?2) " \
	  "AND id <> ?3 LIMIT 1") \
	X(HANDOFF_NEXT, \
	  SQLITE_HANDOFF_COLUMNS \
	  "WHERE h.agent = ?1 AND h.state = 0 ORDER BY h.priority DESC, h.id LIMIT 1") \
	X(HANDOFF_PUT_OFF, \
	  "SELECT id FROM (SELECT id, due, ack_timeout FROM handoff WHERE agent = ?1 AND state = 0 AND " \
	  "(due <> expires_at OR flags & 4) ORDER BY priority DESC, id LIMIT 1) WHERE due > ?2 + ack_timeout") \
	X(HANDOFF_BEHIND, \
	  SQLITE_HANDOFF_COLUMNS \
	  "WHERE h.agent = ?1 AND h.state = 0 AND h.priority = ?2 AND h.id > ?3 AND " \
	  "(h.due <> h.expires_at OR h.flags & 4) " \
	  "ORDER BY h.id LIMIT 1") \
	X(HANDOFF_BELOW, \
	  SQLITE_HANDOFF_COLUMNS \
	  "WHERE h.agent = ?1 AND h.state = 0 AND h.priority < ?2 AND (h.due <> h.expires_at OR h.flags & 4) " \
	  "ORDER BY h.priority DESC, h.id LIMIT 1") \
	X(HANDOFFS_HELD, \
	  SQLITE_HANDOFF_COLUMNS \
	  "WHERE h.agent = ?1 AND h.state > 0 AND h.state < 4 AND h.state = 2 AND h.receiver = ?2 " \
	  "ORDER BY h.id LIMIT ?3") \
	X(HANDOFF_DUE, SQLITE_HANDOFF_COLUMNS "WHERE h.due > 0 AND h.due <= ?1 ORDER BY h.due LIMIT 1") \
	X(HANDOFF_NEXT_DUE, "SELECT min(due) FROM handoff WHERE due > 0") \
	X(HANDOFFS, SQLITE_HANDOFFS "ORDER BY h.id LIMIT ?3") \
	X(HANDOFFS_NEWEST, SQLITE_HANDOFFS "ORDER BY h.id DESC LIMIT ?3") \
	X(HANDOFFS_OF_ENVELOPE, SQLITE_HANDOFFS_OF_ENVELOPE "ORDER BY h.id LIMIT ?3") \
	X(HANDOFFS_OF_ENVELOPE_NEWEST, SQLITE_HANDOFFS_OF_ENVELOPE "ORDER BY h.id DESC LIMIT ?3") \
	X(HANDOFFS_PARKED, SQLITE_HANDOFFS_PARKED "ORDER BY h.id LIMIT ?3") \
	X(HANDOFFS_PARKED_NEWEST, SQLITE_HANDOFFS_PARKED "ORDER BY h.id DESC LIMIT ?3") \
	X(HANDOFFS_UNTOLD, \
	  SQLITE_HANDOFF_COLUMNS \
	  "INDEXED BY handoff_untold WHERE h.state = 6 AND h.flags < 2 AND h.sender = ?7 AND h.id > ?1 AND " \
	  "h.id < ?2 ORDER BY h.id LIMIT ?3") \
	X(RESULT_PUT, \
	  "INSERT OR REPLACE INTO result (handoff, result, gaps, input_tokens, form, memory) " \
	  "VALUES (?1, ?2, ?3, ?4, ?5, ?6)") \
	X(RESULT_FIND, "SELECT form, memory FROM result WHERE handoff = ?1") \
	X(RESULT_GET, "SELECT result, gaps, input_tokens, form, memory FROM result WHERE handoff = ?1") \
	X(EVENT_ADD, \
	  "INSERT INTO event (space, at, kind, handoff, envelope, attempt, agent, actor, note, memory, " \
	  "value_1, value_2) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)") \
	X(EVENTS_ALL, SQLITE_EVENT_COLUMNS "WHERE id > ?3 ORDER BY id LIMIT ?4") \
	X(EVENTS_OF_SPACE, SQLITE_EVENT_COLUMNS "WHERE space = ?1 AND id > ?3 ORDER BY id LIMIT ?4") \
	X(EVENTS_OF_HANDOFF, \
	  SQLITE_EVENT_COLUMNS \
	  "WHERE space = ?1 AND handoff = ?2 AND handoff > 0 AND id > ?3 ORDER BY id LIMIT ?4") \
	X(EVENT_COUNT, "SELECT count(*) FROM event WHERE space = ?1 AND handoff = ?2 AND handoff > 0") \
	X(EVENT_LAST, "SELECT max(id) FROM event") \
	X(EVENT_PAGE, SQLITE_EVENT_PAGE "ORDER BY id LIMIT ?5") \
	X(EVENT_PAGE_NEWEST, SQLITE_EVENT_PAGE "ORDER BY id DESC LIMIT ?5") \
	X(EVENT_PAGE_OF_HANDOFF, SQLITE_EVENT_PAGE_OF_HANDOFF "ORDER BY id LIMIT ?5") \
	X(EVENT_PAGE_OF_HANDOFF_NEWEST, SQLITE_EVENT_PAGE_OF_HANDOFF "ORDER BY id DESC LIMIT ?5") \
	X(EVENT_AT, "SELECT at FROM event WHERE id >= ?1 ORDER BY id LIMIT 1") \
	X(QUEUES, \
	  "SELECT a.id, a.space, a.name, q.queued, q.leased, q.working, q.parked, coalesce(t.seen_at, 0), " \
	  "coalesce(t.failures, 0), coalesce(t.open_until, 0), coalesce(t.probe, 0) " \
	  "FROM (SELECT agent, sum(queued) AS queued, sum(leased) AS leased, sum(working) AS working, " \
	  "sum(parked) AS parked FROM (SELECT agent, count(*) AS queued, 0 AS leased, 0 AS working, 0 AS " \
	  "parked FROM handoff WHERE state = 0 GROUP BY agent " \
	  "UNION ALL SELECT agent, sum(state = 1), sum(state = 2), sum(state = 3), 0 FROM handoff " \
	  "WHERE state > 0 AND state < 4 GROUP BY agent UNION ALL SELECT agent, 0, 0, 0, count(*) " \
	  "FROM handoff WHERE state = 6 GROUP BY agent UNION ALL SELECT agent, 0, 0, 0, 0 FROM target " \
	  "WHERE failures > 0 OR open_until > 0) GROUP BY agent) q JOIN agent a ON a.id = q.agent " \
	  "LEFT JOIN target t ON t.agent = q.agent ORDER BY q.agent") \
	X(SPACE_NAME, "SELECT name FROM space WHERE id = ?1") \
	X(ALERT_INSERT, \
	  "INSERT INTO alert (space, name, agent, severity, value, threshold, summary, since, resolved_at, " \
	  "acked_by, acked_at, silenced_until, silenced_by, silenced_why, untold) " \
	  "VALUES (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)") \
	X(ALERT_UPDATE, \
	  "UPDATE alert SET severity = ?5, value = ?6, threshold = ?7, summary = ?8, resolved_at = ?10, " \
	  "acked_by = ?11, acked_at = ?12, silenced_until = ?13, silenced_by = ?14, silenced_why = ?15, " \
	  "untold = ?16 WHERE id = ?1") \
	X(ALERT_PRUNE, "DELETE FROM alert WHERE id <= ?1 AND resolved_at > 0 AND untold = 0") \
	X(ALERT_GET, SQLITE_ALERT_COLUMNS "WHERE id = ?1") \
	X(ALERT_LAST, \
	  SQLITE_ALERT_COLUMNS \
	  "WHERE space = ?1 AND name = ?2 AND agent IS ?3 ORDER BY id DESC LIMIT 1") \
	X(ALERTS, SQLITE_ALERT_COLUMNS "WHERE id < ?2 AND (?1 = 0 OR space = ?1) ORDER BY id DESC LIMIT ?3") \
	X(ALERTS_FIRING, \
	  SQLITE_ALERT_COLUMNS \
	  "WHERE resolved_at = 0 AND id < ?2 AND (?1 = 0 OR space = ?1) ORDER BY id DESC LIMIT ?3") \
	X(ALERTS_RESOLVED, \
	  SQLITE_ALERT_COLUMNS \
	  "WHERE resolved_at > 0 AND id < ?2 AND (?1 = 0 OR space = ?1) ORDER BY id DESC LIMIT ?3") \
	X(ALERTS_UNTOLD, \
	  SQLITE_ALERT_COLUMNS \
	  "WHERE untold = 1 AND id < ?2 AND (?1 = 0 OR space = ?1) ORDER BY id DESC LIMIT ?3") \
	X(CHANNEL_PUT, \
	  "INSERT INTO channel (space, name, description, created_at) " \
	  "VALUES (?1, ?2, ?3, ?4) ON CONFLICT (space, name) DO UPDATE SET description = excluded.description") \
	X(CHANNEL_GET, SQLITE_CHANNEL_COLUMNS "WHERE space = ?1 AND name = ?2") \
	X(CHANNELS, SQLITE_CHANNEL_COLUMNS "WHERE space = ?1 AND name > ?2 ORDER BY name LIMIT ?3") \
	X(SUBSCRIBER_PUT, \
	  "INSERT INTO subscriber (channel, agent, created_at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING") \
	X(SUBSCRIBER_DELETE, "DELETE FROM subscriber WHERE channel = ?1 AND agent = ?2") \
	X(SUBSCRIBERS, \
	  "SELECT a.name FROM subscriber s JOIN agent a ON a.id = s.agent " \
	  "WHERE s.channel = ?1 ORDER BY a.name LIMIT ?2") \
	X(ROUTE_PUT, \
	  "INSERT INTO route (space, name, settings, created_at, updated_at) " \
	  "VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (space, name) DO UPDATE SET settings = " \
	  "excluded.settings, updated_at = excluded.updated_at") \
	X(ROUTE_DELETE, "DELETE FROM route WHERE space = ?1 AND name = ?2") \
	X(ROUTES, \
	  "SELECT name, settings, created_at, updated_at FROM route " \
	  "WHERE space = ?1 AND name > ?2 ORDER BY name LIMIT ?3") \
	X(REPLY_GET, "SELECT digest, status, etag, location, body, at FROM reply WHERE space = ?1 AND key = ?2") \
	X(REPLY_PUT, \
	  "INSERT OR REPLACE INTO reply (space, key, digest, status, etag, location, body, at) " \
	  "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)") \
	X(REPLY_LINK, \
	  "INSERT OR REPLACE INTO reply_memory (reply, memory) SELECT ?2, id FROM memory " \
	  "WHERE id = ?1 AND forgotten_at = 0") \
	X(REPLY_UNLINK, \
	  "DELETE FROM reply_memory WHERE reply = (SELECT id FROM reply WHERE space = ?1 AND key = ?2)") \
	X(REPLY_EMPTY, "UPDATE reply SET body = '' WHERE id = ?1") \
	X(REPLY_EMPTY_OF, \
	  "UPDATE reply SET body = '' WHERE id IN (SELECT reply FROM reply_memory WHERE memory = ?1)") \
	X(REPLY_PRUNE_LINKS, "DELETE FROM reply_memory WHERE reply IN " SQLITE_OLD_REPLIES) \
	X(REPLY_PRUNE, "DELETE FROM reply WHERE id IN " SQLITE_OLD_REPLIES) \
	X(PAGES, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")

#define SQLITE_ENVELOPE_COLUMNS "SELECT e.id, t.name, e.parent, e.hop, e.created_at, e.digest, e.body, e.texts, " \
	"e.body_digest "

/* What the moves of a handoff change. */
#define SQLITE_HANDOFF_PUT \
	"attempt = ?10, max_attempts = ?11, leases = ?12, due = ?13, expires_at = ?14, ack_timeout = ?15, lease_ms " \
	"= ?16, " \
	"changed_at = ?17, acked_at = ?18, flags = ?19, receiver = ?20, fallbacks = ?21, reason = ?22, progress = ?23 "

#define SQLITE_HANDOFF_COLUMNS \
	"SELECT h.id, h.envelope, h.target, h.agent, h.channel, h.created_at, h.sender, h.state, h.priority, " \
	"h.attempt, " \
	"h.max_attempts, h.leases, h.due, h.expires_at, h.ack_timeout, h.lease_ms, h.changed_at, h.acked_at, " \
	"h.flags, " \
	"h.receiver, h.fallbacks, h.reason, h.progress, " \
	"CASE WHEN h.target = h.agent THEN NULL ELSE (SELECT name FROM agent WHERE id = h.target) END, " \
	"(SELECT name FROM agent WHERE id = h.agent), " \
	"CASE WHEN h.channel = 0 THEN NULL ELSE (SELECT name FROM channel WHERE id = h.channel) END FROM handoff h "

/* ?4: a set of states, ?5 agent, ?6 channel, ?7 sender, ?8 only the untold; 0 or NULL: whatever. */
#define SQLITE_HANDOFF_FILTER \
	" AND (?4 = 0 OR (?4 >> h.state) & 1) AND (?5 = 0 OR h.agent = ?5) AND (?6 = 0 OR h.channel = ?6) " \
	"AND (?7 IS NULL OR h.sender = ?7) AND (?8 = 0 OR h.flags < 2) "

#define SQLITE_EVENT_COLUMNS \
	"SELECT id, space, at, kind, handoff, envelope, attempt, agent, actor, note, memory, value_1, value_2 " \
	"FROM event "

/* ?2: a set of kinds, ?7 envelope, ?8 memory, ?10 actor, ?11 name; see struct event_filter. */
#define SQLITE_EVENT_FILTER \
	" AND (?2 >> kind) & 1 AND (?7 = 0 OR envelope = ?7) " \
	"AND (?8 = 0 OR memory = ?8 OR ((?9 >> kind) & 1 AND value_1 <= ?8 AND value_2 >= ?8)) AND (?10 IS NULL OR " \
	"actor = ?10) " \
	"AND (?11 IS NULL OR ((?12 >> kind) & 1 AND agent = ?11) OR ((?13 >> kind) & 1 AND note = ?11) " \
	"OR ((?14 >> kind) & 1 AND substr(note, 1, length(?11) + 1) = ?11 || ' ')) "

#define SQLITE_HANDOFFS SQLITE_HANDOFF_COLUMNS "WHERE h.id > ?1 AND h.id < ?2" SQLITE_HANDOFF_FILTER
#define SQLITE_HANDOFFS_OF_ENVELOPE \
	SQLITE_HANDOFF_COLUMNS \
	"INDEXED BY handoff_envelope WHERE h.envelope = ?9 AND h.id > ?1 AND h.id < ?2" SQLITE_HANDOFF_FILTER
#define SQLITE_HANDOFFS_PARKED \
	SQLITE_HANDOFF_COLUMNS \
	"INDEXED BY handoff_parked WHERE h.state = 6 AND h.id > ?1 AND h.id < ?2" SQLITE_HANDOFF_FILTER

#define SQLITE_EVENT_PAGE \
	SQLITE_EVENT_COLUMNS "WHERE id > ?3 AND id <= ?4 AND (?1 = 0 OR space = ?1)" SQLITE_EVENT_FILTER
#define SQLITE_EVENT_PAGE_OF_HANDOFF \
	SQLITE_EVENT_COLUMNS \
		"WHERE space = ?1 AND handoff = ?6 AND handoff > 0 AND id > ?3 AND id <= ?4" SQLITE_EVENT_FILTER

#define SQLITE_ALERT_COLUMNS \
	"SELECT id, space, name, agent, severity, value, threshold, summary, since, resolved_at, acked_by, " \
	"acked_at, silenced_until, " \
	"silenced_by, silenced_why, untold FROM alert "

#define SQLITE_CHANNEL_COLUMNS \
	"SELECT id, name, description, created_at, (SELECT count(*) FROM subscriber s WHERE s.channel = channel.id) " \
	"FROM channel "

#define SQLITE_OLD_REPLIES "(SELECT id FROM (SELECT id, at FROM reply ORDER BY id LIMIT ?2) WHERE at < ?1)"

#define SQLITE_MEMORY_COLUMNS \
	"SELECT m.id, m.version, m.pinned, m.created_at, m.supersedes, m.superseded_by, m.forgotten_at, v.version, " \
	"v.updated_at, " \
	"v.expires_at, v.importance, v.trust, v.content, v.summary, v.kind, v.tags, v.agent, " \
	"v.task, v.metadata, v.digest "

enum sqlite_statement {
#define SQLITE_STATEMENT_NAME(name, text) SQL_##name,
	SQLITE_STATEMENTS(SQLITE_STATEMENT_NAME)
#undef SQLITE_STATEMENT_NAME
	SQL_COUNT
};

/* What the transaction has added to a space, and its row does not say yet: that is brought up to date once, not for
 * each memory. */
struct sqlite_tally {
	int64_t space;		/* 0: none */
	int64_t next_memory;
	int64_t added;
};

struct sqlite_cache;

/* A read transaction is begun with the first statement that needs it: most rows come from the cache. */
enum sqlite_snapshot { SNAPSHOT_NONE, SNAPSHOT_WANTED, SNAPSHOT_OPEN };

struct sqlite_conn {
	struct store_conn base;
	sqlite3 *db;
	struct sqlite_cache *cache;		/* the writer's own, of readers borrowed; NULL: none */
	bool owns_cache;
	bool is_direct;				/* see store_set_direct() */
	enum sqlite_snapshot snapshot;
	uint64_t snapshot_seen;
	sqlite3_stmt *statements[SQL_COUNT];	/* prepared on first use */
	struct sqlite_tally tally;		/* empty outside of a transaction */
	int lock_fd;				/* -1 for readers */
	int64_t last_space;			/* of which last_handoff is the highest number; 0: not known */
	uint64_t last_handoff;
	int64_t last_event;			/* the highest id; 0: not known */
	bool forgot;				/* the log holds text that was forgotten */
};

/* The connection as this engine made it. */
static inline struct sqlite_conn *sqlite_of(const struct store_conn *c)
{
	return (struct sqlite_conn *)(uintptr_t)c;
}

#define SQLITE_VERB(kind, type, name, params, args) type sqlite_##name params;
STORE_VERBS(SQLITE_VERB)
#undef SQLITE_VERB

/* sqlite_conn.c */

/* The statement, prepared, reset and without bindings. NULL where it cannot be prepared (c->error says why). */
sqlite3_stmt *sqlite_statement(struct store_conn *c, enum sqlite_statement which);
/* Runs a statement that returns no row and resets it. */
enum store_status sqlite_run(struct store_conn *c, sqlite3_stmt *s);
/* Runs a statement that gives one row; STORE_NOT_FOUND where it gives none. The caller reads the row, and resets it. */
enum store_status sqlite_step_row(struct store_conn *c, sqlite3_stmt *s);
/* The same for one integer (0 for NULL), and resets it. */
enum store_status sqlite_read_int(struct store_conn *c, sqlite3_stmt *s, int64_t *ret);
/* Runs a statement with a key and one integer; STORE_NOT_FOUND where it changed nothing. */
enum store_status sqlite_run_on(struct store_conn *c, enum sqlite_statement which, int64_t key, int64_t value);
/* The status for SQLite's result code; keeps the message for store_error(). */
enum store_status sqlite_status(struct store_conn *c, int rc);
void sqlite_bind_str(sqlite3_stmt *s, int index, struct str value);
/* A copy of a text or blob column; p == NULL for NULL. */
struct str sqlite_column_str(sqlite3_stmt *s, int column, struct arena *arena);

/* sqlite_cache.c: the rows that are kept in memory, and what the struct of each kind looks like. Their key is a number
 * (of a space, an agent, or a memory or envelope with its space) and, where that is a space's, a name. */
struct sqlite_shape {
	char kind;
	bool is_body;		/* large, and soon of no use any more */
	size_t size;
	size_t text_count;
	size_t texts[8];	/* where in the struct */
};

extern const struct sqlite_shape sqlite_memory_shape, sqlite_envelope_shape, sqlite_agent_shape, sqlite_agent_id_shape,
	sqlite_target_shape, sqlite_guard_shape;

void sqlite_share(struct store_conn *reader, const struct store_conn *writer);
void sqlite_set_cache(struct store_conn *writer, size_t max_bytes);
size_t sqlite_cache_bytes(const struct store_conn *writer);
void sqlite_set_direct(struct store_conn *c, bool is_direct);
struct sqlite_cache *sqlite_cache_new(void);
void sqlite_cache_free(struct sqlite_cache *cache);
/* To be asked before a row is read, and told when it is kept. */
uint64_t sqlite_cache_seen(const struct store_conn *c);
bool sqlite_cache_get(struct store_conn *c, const struct sqlite_shape *shape, int64_t id, struct str name,
		      struct arena *arena, void *ret);
void sqlite_cache_put(struct store_conn *c, const struct sqlite_shape *shape, uint64_t seen, int64_t id,
		      struct str name, const void *row);
/* Of the writer: this row is another one from the end of the transaction on. */
void sqlite_cache_change(struct store_conn *c, const struct sqlite_shape *shape, int64_t id, struct str name);
/* The same, and it is this one. */
void sqlite_cache_add(struct store_conn *c, const struct sqlite_shape *shape, int64_t id, const void *row);
void sqlite_cache_commit(struct store_conn *c);
void sqlite_cache_rollback(struct store_conn *c);

/* sqlite_snapshot.c: begins the read transaction that was asked for. */
void sqlite_snapshot_open(struct store_conn *c);

/* sqlite_memory.c: writes the tally to its row, before anybody looks at that and before what is to be kept ends. A
 * rollback empties it instead. */
enum store_status sqlite_tally_flush(struct store_conn *c);

/* sqlite_checkpoint.c: from here on the connection moves what was committed from the log to the database file by
 * itself. */
void sqlite_checkpoint_start(struct store_conn *c);
/* Ends transactions and checkpoints: what is on the disk is not known any more. */
void sqlite_fail(struct store_conn *c);

/* sqlite_vfs.c: the name of the layer that the writing connection reaches the disk through. */
const char *sqlite_vfs(void);

/* sqlite_open.c: to be called before anything else of SQLite is. */
void sqlite_configure(void);
/* The path of the database file in a data directory. Returns owned. */
char *sqlite_path(const char *data_dir, const char *suffix);
/* Makes data_dir and those above it, 0700. */
bool sqlite_make_directory(const char *data_dir, struct buf *error);
/* Takes the lock of data_dir and returns its descriptor; -1 and a sentence where somebody else holds it. */
int sqlite_lock(const char *data_dir, struct buf *error);
/* Make sure that a file, or a new name in the directory of path, survives a power loss. */
bool sqlite_sync_file(const char *path, int flags);
bool sqlite_sync_directory_of(const char *path);

/* sqlite_whole.c: see store/embedded.h. */
enum store_status sqlite_backup(struct store_conn *c, const char *file, struct buf *error);
enum store_status sqlite_check(struct store_conn *c, struct store_check *ret, struct buf *ret_problems);

/* sqlite_replace.c: copies file to the place of the database at path, whose lock is held. One that is there is refused
 * unless replace is true; then it is kept under the name that is appended to *ret_kept. */
bool sqlite_replace(const char *path, const char *file, bool replace, struct buf *ret_kept, struct buf *error);

/* sqlite_schema.c: brings the store up to this binary's schema. False, with a sentence, where it is newer, not ours, or
 * fails. */
enum { SQLITE_SCHEMA_NOW = 5, SQLITE_APPLICATION_ID = 0x4d53504e };	/* "MSPN" */
bool sqlite_schema_migrate(sqlite3 *db, struct buf *error);
/* These change nothing. False, with a sentence, where the file is newer or not ours; and, for a reader, where it is
 * older. *ret_version is 0 for an empty file. */
bool sqlite_schema_read(sqlite3 *db, int *ret_version, struct buf *error);
bool sqlite_schema_verify(sqlite3 *db, struct buf *error);

/* So that a key of 63 bits holds it above a memory's number. */
enum { SQLITE_SPACE_MAX = (1 << 23) - 1 };

/* Reads a digest column. */
void sqlite_column_digest(sqlite3_stmt *s, int column, uint8_t ret[32]);

/* The key of a memory or an envelope: its space above its number. */
static inline int64_t sqlite_memory_key(int64_t space, uint64_t num)
{
	return (int64_t)((uint64_t)space << 40 | num);
}

#endif
