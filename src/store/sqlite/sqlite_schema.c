/* The schema, as the steps from one to the next. sqlite_schema_version.c takes them.
 *
 * PRAGMA user_version holds the schema's number, PRAGMA application_id says that the file is ours. To change the
 * schema: append a step to `steps` and raise SQLITE_SCHEMA_NOW; never edit a step that was released. Each step runs in
 * a transaction together with the new number, so that a crash leaves the old schema or the new one. A store with a
 * higher number than ours is refused untouched.
 *
 * Keys: a memory's is space << 40 | number, so that one integer that grows serves as the primary key and a space is a
 * range of it. State and text are in separate tables, because state changes (pins, newest version) must not rewrite
 * text.
 */
#include "store/sqlite/sqlite_internal.h"

/* The conditions of the indexes. The flags are sqlite_handoff.c's. */
_Static_assert(HANDOFF_QUEUED == 0 && HANDOFF_ACKED == 4 && HANDOFF_PARKED == 6, "state = 0, state < 4, state = 6");
_Static_assert(RESULT_KEPT == 0, "form INTEGER NOT NULL DEFAULT 0");

static const char step_1[] =
	"CREATE TABLE space ("
	"  id INTEGER PRIMARY KEY,"
	"  name TEXT NOT NULL UNIQUE,"
	"  next_memory INTEGER NOT NULL,"	/* the number that the next memory gets */
	"  memories INTEGER NOT NULL,"		/* how many are not forgotten */
	"  created_at INTEGER NOT NULL);"
	"CREATE TABLE memory ("
	"  id INTEGER PRIMARY KEY,"		/* space << 40 | number */
	"  version INTEGER NOT NULL,"		/* the newest */
	"  pinned INTEGER NOT NULL,"
	"  created_at INTEGER NOT NULL,"
	"  supersedes INTEGER NOT NULL DEFAULT 0,"	/* numbers, 0: none */
	"  superseded_by INTEGER NOT NULL DEFAULT 0,"
	"  forgotten_at INTEGER NOT NULL DEFAULT 0);"
	"CREATE TABLE memory_version ("
	/* Grows, so that rows are only ever appended: where SQLite splits a page it leaves copies of rows behind,
	 * which it would not overwrite when a memory is forgotten. */
	"  id INTEGER PRIMARY KEY,"
	"  memory INTEGER NOT NULL,"
	"  version INTEGER NOT NULL,"
	"  updated_at INTEGER NOT NULL,"
	"  expires_at INTEGER NOT NULL,"	/* 0: never */
	"  importance INTEGER NOT NULL,"
	"  trust INTEGER NOT NULL,"
	"  content TEXT NOT NULL,"
	"  summary TEXT,"
	"  kind TEXT NOT NULL,"
	"  tags TEXT NOT NULL,"
	"  agent TEXT,"
	"  task TEXT,"
	"  metadata TEXT NOT NULL,"
	"  digest BLOB NOT NULL,"
	"  UNIQUE (memory, version));"
	"CREATE TABLE reply ("
	"  id INTEGER PRIMARY KEY,"		/* grows with time, so that the oldest are found first */
	"  space INTEGER NOT NULL,"
	"  key TEXT NOT NULL,"
	"  digest BLOB NOT NULL,"
	"  status INTEGER NOT NULL,"
	"  etag TEXT,"
	"  location TEXT,"
	"  body TEXT NOT NULL,"
	"  at INTEGER NOT NULL,"
	"  UNIQUE (space, key));"
	"CREATE TABLE reply_memory ("		/* whose text is in the body of a reply */
	"  reply INTEGER NOT NULL,"
	"  memory INTEGER NOT NULL,"
	"  PRIMARY KEY (reply, memory)) WITHOUT ROWID;"
	"CREATE INDEX reply_memory_memory ON reply_memory (memory);";

static const char step_2[] =
	/* What to do about credentials: enum redact_policy. */
	"ALTER TABLE space ADD COLUMN guard INTEGER NOT NULL DEFAULT 0;"
	"CREATE TABLE task ("
	"  id INTEGER PRIMARY KEY,"		/* since step 3 that of the envelope which began it */
	"  space INTEGER NOT NULL,"
	"  name TEXT NOT NULL,"
	"  created_at INTEGER NOT NULL,"
	"  UNIQUE (space, name));"
	"CREATE TABLE envelope ("
	"  id INTEGER PRIMARY KEY,"		/* space << 40 | number */
	"  task INTEGER NOT NULL,"
	"  parent INTEGER NOT NULL,"		/* a number, 0: none */
	"  hop INTEGER NOT NULL,"
	"  created_at INTEGER NOT NULL,"
	"  digest BLOB NOT NULL,"
	"  body TEXT NOT NULL);"
	"CREATE INDEX envelope_task ON envelope (task);"
	"CREATE TRIGGER envelope_is_immutable BEFORE UPDATE ON envelope BEGIN"
	"  SELECT raise(ABORT, 'an envelope is never changed'); END;"
	"CREATE TABLE receipt ("
	"  envelope INTEGER NOT NULL,"
	"  memory INTEGER NOT NULL,"		/* a number */
	"  agent TEXT NOT NULL,"
	"  at INTEGER NOT NULL,"
	"  PRIMARY KEY (envelope, memory, agent)) WITHOUT ROWID;"
	"CREATE TABLE agent ("
	"  id INTEGER PRIMARY KEY,"
	"  space INTEGER NOT NULL,"
	"  name TEXT NOT NULL,"
	"  settings TEXT NOT NULL,"
	"  created_at INTEGER NOT NULL,"
	"  updated_at INTEGER NOT NULL,"
	"  UNIQUE (space, name));";

static const char step_3[] =
	/* A task has the key of the envelope that began it. */
	"CREATE TEMP TABLE renumbered (before INTEGER PRIMARY KEY, now INTEGER NOT NULL);"
	"INSERT INTO renumbered SELECT task, min(id) FROM envelope GROUP BY task;"
	"DROP TRIGGER envelope_is_immutable;"
	"UPDATE envelope SET task = (SELECT now FROM renumbered WHERE before = task);"
	"CREATE TRIGGER envelope_is_immutable BEFORE UPDATE ON envelope BEGIN"
	"  SELECT raise(ABORT, 'an envelope is never changed'); END;"
	"UPDATE task SET id = -id;"
	"UPDATE task SET id = (SELECT now FROM renumbered WHERE before = -task.id);"
	"DROP TABLE renumbered;"
	/* References whose text the body leaves out; -1: not known. */
	"ALTER TABLE envelope ADD COLUMN texts INTEGER NOT NULL DEFAULT -1;"
	"CREATE TABLE handoff ("
	"  id INTEGER PRIMARY KEY,"		/* space << 40 | number */
	"  envelope INTEGER NOT NULL,"		/* space << 40 | number */
	"  target INTEGER NOT NULL,"		/* agents' ids */
	"  agent INTEGER NOT NULL,"
	"  channel INTEGER NOT NULL,"		/* 0: none */
	"  created_at INTEGER NOT NULL,"
	"  sender TEXT,"
	"  state INTEGER NOT NULL,"		/* enum handoff_state */
	"  priority INTEGER NOT NULL,"
	"  attempt INTEGER NOT NULL,"
	"  max_attempts INTEGER NOT NULL,"
	"  leases INTEGER NOT NULL,"
	"  due INTEGER NOT NULL,"
	"  expires_at INTEGER NOT NULL,"
	"  ack_timeout INTEGER NOT NULL,"
	"  lease_ms INTEGER NOT NULL,"
	"  changed_at INTEGER NOT NULL,"
	"  acked_at INTEGER NOT NULL,"
	"  flags INTEGER NOT NULL,"		/* 1: exhausted, 2: told, 4: retried */
	"  receiver TEXT,"
	"  fallbacks TEXT,"
	"  reason TEXT,"
	"  progress TEXT);"
	"CREATE UNIQUE INDEX handoff_envelope ON handoff (envelope, target);"
	"CREATE INDEX handoff_queued ON handoff (agent, priority DESC) WHERE state = 0;"
	/* Not "IN": that would build a table of its members for each row that is written. */
	"CREATE INDEX handoff_flight ON handoff (agent) WHERE state > 0 AND state < 4;"
	"CREATE INDEX handoff_due ON handoff (due) WHERE due > 0;"
	"CREATE INDEX handoff_parked ON handoff (agent) WHERE state = 6;"
	"CREATE INDEX handoff_untold ON handoff (sender) WHERE state = 6 AND flags < 2;"
	"CREATE INDEX handoff_channel ON handoff (channel) WHERE channel > 0;"
	"CREATE TABLE result ("
	"  handoff INTEGER PRIMARY KEY,"
	"  result TEXT,"
	"  gaps TEXT,"
	"  input_tokens INTEGER NOT NULL);"
	"CREATE TABLE target ("			/* of an agent: how delivery to it goes */
	"  agent INTEGER PRIMARY KEY,"
	"  seen_at INTEGER NOT NULL,"
	"  failures INTEGER NOT NULL,"
	"  open_until INTEGER NOT NULL,"
	"  probe INTEGER NOT NULL);"
	"CREATE INDEX target_failing ON target (agent) WHERE failures > 0 OR open_until > 0;"
	"CREATE TABLE alert ("
	"  id INTEGER PRIMARY KEY,"
	"  space INTEGER NOT NULL,"
	"  name TEXT NOT NULL,"
	"  agent TEXT,"				/* NULL: the space as a whole */
	"  severity INTEGER NOT NULL,"
	"  value REAL NOT NULL,"
	"  threshold REAL NOT NULL,"
	"  summary TEXT NOT NULL,"
	"  since INTEGER NOT NULL,"
	"  resolved_at INTEGER NOT NULL,"	/* 0: it is firing */
	"  acked_by TEXT,"
	"  acked_at INTEGER NOT NULL,"
	"  silenced_until INTEGER NOT NULL,"
	"  silenced_by TEXT,"
	"  silenced_why TEXT,"
	"  untold INTEGER NOT NULL);"		/* 1: the webhook is still to be told of it */
	"CREATE INDEX alert_subject ON alert (space, name, agent);"
	"CREATE INDEX alert_firing ON alert (id) WHERE resolved_at = 0;"
	"CREATE INDEX alert_untold ON alert (id) WHERE untold = 1;"
	"CREATE TABLE event ("
	"  id INTEGER PRIMARY KEY,"
	"  space INTEGER NOT NULL,"
	"  at INTEGER NOT NULL,"
	"  kind INTEGER NOT NULL,"
	"  handoff INTEGER NOT NULL,"		/* numbers, 0: none */
	"  envelope INTEGER NOT NULL,"
	"  memory INTEGER NOT NULL,"
	"  attempt INTEGER NOT NULL,"
	"  value_1 REAL NOT NULL,"		/* what they mean depends on the kind */
	"  value_2 REAL NOT NULL,"
	"  agent TEXT,"
	"  actor TEXT,"
	"  note TEXT);"
	"CREATE INDEX event_handoff ON event (space, handoff) WHERE handoff > 0;"
	"CREATE TRIGGER event_is_never_changed BEFORE UPDATE ON event BEGIN"
	"  SELECT raise(ABORT, 'an event is never changed'); END;"
	"CREATE TRIGGER event_is_never_removed BEFORE DELETE ON event BEGIN"
	"  SELECT raise(ABORT, 'an event is never removed'); END;"
	"CREATE TABLE channel ("
	"  id INTEGER PRIMARY KEY,"
	"  space INTEGER NOT NULL,"
	"  name TEXT NOT NULL,"
	"  description TEXT,"
	"  created_at INTEGER NOT NULL,"
	"  UNIQUE (space, name));"
	"CREATE TABLE subscriber ("
	"  channel INTEGER NOT NULL,"
	"  agent INTEGER NOT NULL,"
	"  created_at INTEGER NOT NULL,"
	"  PRIMARY KEY (channel, agent)) WITHOUT ROWID;"
	"CREATE TABLE route ("
	"  id INTEGER PRIMARY KEY,"
	"  space INTEGER NOT NULL,"
	"  name TEXT NOT NULL,"
	"  settings TEXT NOT NULL,"
	"  created_at INTEGER NOT NULL,"
	"  updated_at INTEGER NOT NULL,"
	"  UNIQUE (space, name));";

static const char step_4[] =
	/* SHA-256 of the body, which the texts are not in. NULL: packed before. */
	"ALTER TABLE envelope ADD COLUMN body_digest BLOB;";

static const char step_5[] =
	/* A result may be a memory's content: enum result_form, and the memory's number, 0: none. */
	"ALTER TABLE result ADD COLUMN form INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE result ADD COLUMN memory INTEGER NOT NULL DEFAULT 0;"
	/* What it was chosen from. */
	"ALTER TABLE envelope ADD COLUMN considered TEXT;";

static const char step_6[] =
	/* What was handed on when the handoff was settled: the number of that handoff, 0: nothing; and the SHA-256 of
	 * what was asked for, so that the same settling again is told from another. */
	"ALTER TABLE result ADD COLUMN then_handoff INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE result ADD COLUMN then_digest BLOB;";

static const char step_7[] =
	/* Within its priority the lower place is first; what was queued before comes first, in its order. */
	"ALTER TABLE handoff ADD COLUMN place INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE handoff ADD COLUMN not_before INTEGER NOT NULL DEFAULT 0;"
	/* 0: queued before there was such a thing; its time begins when it is due next. */
	"ALTER TABLE handoff ADD COLUMN queue_timeout INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE handoff ADD COLUMN queue_until INTEGER NOT NULL DEFAULT 0;"
	/* 1: an open breaker does not hold it. */
	"ALTER TABLE handoff ADD COLUMN passes INTEGER NOT NULL DEFAULT 0;"
	/* 1: it is parked, and comes back when the breaker closes. */
	"ALTER TABLE handoff ADD COLUMN outage INTEGER NOT NULL DEFAULT 0;"
	/* 1: came back so, 2: touched by a person */
	"ALTER TABLE handoff ADD COLUMN marks INTEGER NOT NULL DEFAULT 0;"
	"UPDATE handoff SET passes = 1 WHERE channel > 0 AND state < 4;"
	"DROP INDEX handoff_queued;"
	"CREATE INDEX handoff_queue ON handoff (agent, priority DESC, place) WHERE state = 0;"
	"CREATE INDEX handoff_passing ON handoff (agent, priority DESC, place) WHERE state = 0 AND passes = 1;"
	"CREATE INDEX handoff_outage ON handoff (agent, changed_at) WHERE outage = 1;"
	/* When the first of the failures in a row was; whether the breaker opened since; what is being redriven. */
	"ALTER TABLE target ADD COLUMN failing_since INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE target ADD COLUMN has_opened INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE target ADD COLUMN redrive_from INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE target ADD COLUMN redrive_to INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE target ADD COLUMN due INTEGER NOT NULL DEFAULT 0;"
	"UPDATE target SET due = open_until;"
	"CREATE INDEX target_due ON target (due) WHERE due > 0;";

static const char step_8[] =
	/* What a task is known by in lists: of its envelopes, the words of the newest. */
	"ALTER TABLE task ADD COLUMN hops INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE task ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE task ADD COLUMN intent TEXT;"
	"ALTER TABLE task ADD COLUMN summary TEXT;"
	"UPDATE task SET hops = (SELECT coalesce(max(hop), 0) FROM envelope e WHERE e.task = task.id),"
	"  tokens = (SELECT coalesce(sum(CASE WHEN json_valid(body) THEN"
	"    json_extract(body, '$.budget.token_count') END), 0) FROM envelope e WHERE e.task = task.id),"
	"  (intent, summary) = (SELECT CASE WHEN json_valid(body) THEN"
	"    substr(json_extract(body, '$.task.intent'), 1, 200) END, CASE WHEN json_valid(body) THEN"
	"    substr(json_extract(body, '$.task.summary'), 1, 200) END"
	"    FROM envelope e WHERE e.task = task.id ORDER BY e.id DESC LIMIT 1);"
	/* 0: somebody has used its name, 1: it was registered, 2: it was deleted. */
	"ALTER TABLE agent ADD COLUMN status INTEGER NOT NULL DEFAULT 0;"
	"UPDATE agent SET status = 1 WHERE settings <> '{}' OR updated_at > created_at;";

static const char step_9[] =
	/* Keys of constraints that the space locks, a JSON array. */
	"ALTER TABLE space ADD COLUMN locked TEXT;"
	/* What persons waived for a task. */
	"CREATE TABLE waiver ("
	"  id INTEGER PRIMARY KEY,"
	"  task INTEGER NOT NULL,"
	"  key TEXT NOT NULL,"
	"  reason TEXT NOT NULL,"
	"  author TEXT NOT NULL,"
	"  at INTEGER NOT NULL);"
	"CREATE INDEX waiver_task ON waiver (task);";

static const char step_10[] =
	/* Above 0: the space is being removed. Its name is free, and its rows go in steps. */
	"ALTER TABLE space ADD COLUMN removed_at INTEGER NOT NULL DEFAULT 0;"
	/* How long something is kept, in milliseconds; 0: for ever, -1: as the server says. */
	"ALTER TABLE space ADD COLUMN keep_events INTEGER NOT NULL DEFAULT -1;"
	"ALTER TABLE space ADD COLUMN keep_handoffs INTEGER NOT NULL DEFAULT -1;"
	"ALTER TABLE space ADD COLUMN keep_idle INTEGER NOT NULL DEFAULT -1;"
	/* The highest id of an event of the space that was pruned; how many handoffs were. */
	"ALTER TABLE space ADD COLUMN events_pruned INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE space ADD COLUMN handoffs_pruned INTEGER NOT NULL DEFAULT 0;"
	/* The highest id that was ever given: rows may go, their ids are not given again. */
	"CREATE TABLE sequence (name TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID;"
	"INSERT INTO sequence VALUES ('space', 0), ('agent', 0), ('channel', 0), ('alert', 0), ('event', 0), "
	"('waiver', 0);"
	/* What is left of an envelope and of a handoff. Rows have the key that they had: space << 40 | number. */
	"CREATE TABLE pruned_envelope ("
	"  id INTEGER PRIMARY KEY,"
	"  parent INTEGER NOT NULL,"		/* a number, 0: none */
	"  created_at INTEGER NOT NULL,"
	"  digest BLOB NOT NULL);"
	"CREATE TABLE pruned_handoff ("
	"  id INTEGER PRIMARY KEY,"
	"  envelope INTEGER NOT NULL,"		/* a number */
	"  created_at INTEGER NOT NULL,"
	"  lasted INTEGER NOT NULL,"		/* milliseconds, from its creation to its last change */
	"  state INTEGER NOT NULL);"
	/* Which envelopes refer to a memory that is a result. */
	"CREATE TABLE citation ("
	"  envelope INTEGER NOT NULL,"		/* keys */
	"  memory INTEGER NOT NULL,"
	"  PRIMARY KEY (envelope, memory)) WITHOUT ROWID;"
	"CREATE INDEX citation_memory ON citation (memory);"
	"INSERT OR IGNORE INTO citation SELECT DISTINCT e.id, m.id FROM envelope e, "
	"  json_each(CASE WHEN json_valid(e.body) THEN e.body ELSE '{}' END, '$.memory.refs') r "
	"  JOIN memory m ON m.id = (e.id >> 40 << 40) | CAST(substr(r.value ->> '$.id', 4) AS INTEGER) "
	"  JOIN memory_version v ON v.memory = m.id AND v.version = 1 WHERE v.kind = 'output';"
	/* Results whose handoff was pruned: they go when no envelope refers to them any more. */
	"CREATE TABLE left_result (memory INTEGER PRIMARY KEY);"
	/* Events, envelopes and handoffs leave by one path: what is left of them is written first. */
	"DROP TRIGGER event_is_never_removed;"
	"CREATE TRIGGER event_is_pruned_only BEFORE DELETE ON event WHEN NOT EXISTS (SELECT 1 FROM space s "
	"  WHERE s.id = old.space AND (s.events_pruned >= old.id OR s.removed_at > 0)) BEGIN"
	"  SELECT raise(ABORT, 'an event is removed by retention only'); END;"
	"CREATE TRIGGER envelope_is_pruned_only BEFORE DELETE ON envelope WHEN NOT EXISTS (SELECT 1 "
	"  FROM pruned_envelope p WHERE p.id = old.id AND p.digest = old.digest) AND NOT EXISTS (SELECT 1 FROM space s "
	"  WHERE s.id = old.id >> 40 AND s.removed_at > 0) BEGIN"
	"  SELECT raise(ABORT, 'an envelope is removed by retention only'); END;"
	"CREATE TRIGGER handoff_is_pruned_only BEFORE DELETE ON handoff WHEN NOT EXISTS (SELECT 1 "
	"  FROM pruned_handoff p WHERE p.id = old.id) AND NOT EXISTS (SELECT 1 FROM space s "
	"  WHERE s.id = old.id >> 40 AND s.removed_at > 0) BEGIN"
	"  SELECT raise(ABORT, 'a handoff is removed by retention only'); END;";

/* Pages have seals from here on (sqlite_seal.c). The file has been written anew before (sqlite_convert.c); the number
 * keeps older programs away, which would write pages without. */
static const char step_11[] = "SELECT 1;";
_Static_assert(SQLITE_SCHEMA_SEALED == 11, "step_11");

static const char step_12[] =
	/* Above 0: it is neither recalled nor packed. */
	"ALTER TABLE memory ADD COLUMN quarantined_at INTEGER NOT NULL DEFAULT 0;"
	"CREATE INDEX memory_quarantined ON memory (id) WHERE quarantined_at > 0;"
	/* Who stored this version by which way: a JSON object. NULL: stored before. */
	"ALTER TABLE memory_version ADD COLUMN origin TEXT;"
	/* What a space may have at most; 0: any number, -1: as the server says. */
	"ALTER TABLE space ADD COLUMN quota_memories INTEGER NOT NULL DEFAULT -1;"
	"ALTER TABLE space ADD COLUMN quota_bytes INTEGER NOT NULL DEFAULT -1;"
	"ALTER TABLE space ADD COLUMN quota_handoffs INTEGER NOT NULL DEFAULT -1;"
	"ALTER TABLE space ADD COLUMN quota_waiting INTEGER NOT NULL DEFAULT -1;"
	"ALTER TABLE space ADD COLUMN quota_agents INTEGER NOT NULL DEFAULT -1;"
	/* And what it has. */
	"ALTER TABLE space ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE space ADD COLUMN agents INTEGER NOT NULL DEFAULT 0;"
	"UPDATE space SET bytes = (SELECT coalesce(sum(length(CAST(content AS BLOB)) + "
	"  coalesce(length(CAST(summary AS BLOB)), 0) + length(CAST(metadata AS BLOB))), 0) FROM memory_version v "
	"  WHERE v.memory > space.id << 40 AND v.memory < (space.id + 1) << 40) + "
	"  (SELECT coalesce(sum(length(CAST(body AS BLOB))), 0) FROM envelope e "
	"  WHERE e.id > space.id << 40 AND e.id < (space.id + 1) << 40), "
	"  agents = (SELECT count(*) FROM agent a WHERE a.space = space.id AND a.status < 2);"
	/* enum trust: what is trusted less goes along as a reference only. */
	"ALTER TABLE space ADD COLUMN trust_floor INTEGER NOT NULL DEFAULT 3;";

_Static_assert(TRUST_EXTERNAL == 3, "trust_floor INTEGER NOT NULL DEFAULT 3");

static const char step_13[] =
	/* Keys that let their holders in. */
	"CREATE TABLE access_key ("
	"  id INTEGER PRIMARY KEY,"
	"  name TEXT NOT NULL,"
	"  space TEXT,"				/* a name; NULL: all spaces */
	"  agent TEXT,"				/* NULL: any */
	"  scopes INTEGER NOT NULL,"
	"  trust INTEGER NOT NULL,"
	"  created_at INTEGER NOT NULL,"
	"  created_by TEXT,"
	"  expires_at INTEGER NOT NULL,"	/* 0: never */
	"  revoked_at INTEGER NOT NULL,"	/* 0: it is not */
	"  revoked_why TEXT,"
	"  hash BLOB NOT NULL CHECK (length(hash) = 32),"
	"  old_hash BLOB NOT NULL CHECK (length(old_hash) = 32),"
	"  old_until INTEGER NOT NULL);"
	"INSERT INTO sequence VALUES ('access_key', 0);"
	/* 1: every request needs a key. */
	"CREATE TABLE access_mode (id INTEGER PRIMARY KEY CHECK (id = 1), needs_key INTEGER NOT NULL);"
	"INSERT INTO access_mode VALUES (1, 0);";

static const char step_14[] =
	/* Who has written a memory that is forgotten is forgotten, too: an event of it, or of the batch that it was in,
	 * may lose its actor, and nothing else. */
	"DROP TRIGGER event_is_never_changed;"
	"CREATE TRIGGER event_is_never_changed BEFORE UPDATE ON event WHEN new.actor IS NOT NULL OR "
	"  (new.id, new.space, new.at, new.kind, new.handoff, new.envelope, new.memory, new.attempt, new.value_1, "
	"  new.value_2, new.agent, new.note) IS NOT (old.id, old.space, old.at, old.kind, old.handoff, old.envelope, "
	"  old.memory, old.attempt, old.value_1, old.value_2, old.agent, old.note) OR NOT EXISTS (SELECT 1 "
	"  FROM memory m WHERE m.forgotten_at > 0 AND m.id BETWEEN "
	"  (old.space << 40 | iif(old.memory > 0, old.memory, CAST(old.value_1 AS INTEGER))) AND "
	"  (old.space << 40 | iif(old.memory > 0, old.memory, CAST(old.value_2 AS INTEGER)))) BEGIN"
	"  SELECT raise(ABORT, 'an event is never changed'); END;";

static const char step_15[] =
	/* The number of the key by which a person was known; 0: by their own word. */
	"ALTER TABLE waiver ADD COLUMN access_key INTEGER NOT NULL DEFAULT 0;";

static const char step_16[] =
	/* The number of the key that let in who did it; 0: none. It goes with the actor. */
	"ALTER TABLE event ADD COLUMN access_key INTEGER NOT NULL DEFAULT 0;"
	/* As step 14 has it, but for the event of a batch: that has the first of its memories as well as their range,
	 * and may lose its actor with any of them. */
	"DROP TRIGGER event_is_never_changed;"
	"CREATE TRIGGER event_is_never_changed BEFORE UPDATE ON event WHEN new.actor IS NOT NULL OR "
	"  new.access_key IS NOT 0 OR "
	"  (new.id, new.space, new.at, new.kind, new.handoff, new.envelope, new.memory, new.attempt, new.value_1, "
	"  new.value_2, new.agent, new.note) IS NOT (old.id, old.space, old.at, old.kind, old.handoff, old.envelope, "
	"  old.memory, old.attempt, old.value_1, old.value_2, old.agent, old.note) OR NOT EXISTS (SELECT 1 "
	"  FROM memory m WHERE m.forgotten_at > 0 AND (m.id = (old.space << 40 | old.memory) OR m.id BETWEEN "
	"  (old.space << 40 | CAST(old.value_1 AS INTEGER)) AND (old.space << 40 | CAST(old.value_2 AS INTEGER)))) "
	"BEGIN"
	"  SELECT raise(ABORT, 'an event is never changed'); END;";

static const char step_17[] =
	/* What a space is told of its events depends on nothing that others write: each has a number of its own space.
	 * What there is keeps its id as its number, so that positions of before hold. */
	"DROP TRIGGER event_is_never_changed;"
	"DROP TRIGGER event_is_pruned_only;"
	"ALTER TABLE event ADD COLUMN number INTEGER NOT NULL DEFAULT 0;"
	"UPDATE event SET number = id;"
	"CREATE UNIQUE INDEX event_number ON event (space, number);"
	"CREATE TRIGGER event_is_pruned_only BEFORE DELETE ON event WHEN NOT EXISTS (SELECT 1 FROM space s "
	"  WHERE s.id = old.space AND (s.events_pruned >= old.number OR s.removed_at > 0)) BEGIN"
	"  SELECT raise(ABORT, 'an event is removed by retention only'); END;"
	"CREATE TRIGGER event_is_never_changed BEFORE UPDATE ON event WHEN new.actor IS NOT NULL OR "
	"  new.access_key IS NOT 0 OR "
	"  (new.id, new.space, new.number, new.at, new.kind, new.handoff, new.envelope, new.memory, new.attempt, "
	"  new.value_1, new.value_2, new.agent, new.note) IS NOT (old.id, old.space, old.number, old.at, old.kind, "
	"  old.handoff, old.envelope, old.memory, old.attempt, old.value_1, old.value_2, old.agent, old.note) OR "
	"  NOT EXISTS (SELECT 1 FROM memory m WHERE m.forgotten_at > 0 AND (m.id = (old.space << 40 | old.memory) "
	"  OR m.id BETWEEN (old.space << 40 | CAST(old.value_1 AS INTEGER)) AND "
	"  (old.space << 40 | CAST(old.value_2 AS INTEGER)))) "
	"BEGIN"
	"  SELECT raise(ABORT, 'an event is never changed'); END;";

static const char step_18[] =
	/* What is forgotten keeps the numbers of the keys that wrote it, and its events keep theirs: else whoever has
	 * stored something could take away by forgetting it that it was stored with that key. */
	"ALTER TABLE memory ADD COLUMN keys TEXT;"
	"DROP TRIGGER event_is_never_changed;"
	"CREATE TRIGGER event_is_never_changed BEFORE UPDATE ON event WHEN new.actor IS NOT NULL OR "
	"  (new.id, new.space, new.number, new.at, new.kind, new.handoff, new.envelope, new.memory, new.attempt, "
	"  new.value_1, new.value_2, new.agent, new.note, new.access_key) IS NOT (old.id, old.space, old.number, "
	"  old.at, old.kind, old.handoff, old.envelope, old.memory, old.attempt, old.value_1, old.value_2, old.agent, "
	"  old.note, old.access_key) OR "
	"  NOT EXISTS (SELECT 1 FROM memory m WHERE m.forgotten_at > 0 AND (m.id = (old.space << 40 | old.memory) "
	"  OR m.id BETWEEN (old.space << 40 | CAST(old.value_1 AS INTEGER)) AND "
	"  (old.space << 40 | CAST(old.value_2 AS INTEGER)))) "
	"BEGIN"
	"  SELECT raise(ABORT, 'an event is never changed'); END;";

static const char *const steps[SQLITE_SCHEMA_NOW] = {
	step_1, step_2, step_3, step_4, step_5, step_6, step_7, step_8, step_9, step_10, step_11, step_12,
	step_13, step_14, step_15, step_16, step_17, step_18,
};

const char *sqlite_schema_step(int to)
{
	return steps[to - 1];
}
