#include "old_store.h"

#include "base/buf.h"
#include "store/sqlite/sqlite_internal.h"

#include <stdio.h>
#include <sys/stat.h>

/* Schema 4: results, handoffs and events were there, and all the later steps change rows of these. */
enum { OLD_SCHEMA = 4 };

static const char rows[] =
	"INSERT INTO space (id, name, next_memory, memories, created_at) VALUES (1, 'default', 3, 2, 5);"
	"INSERT INTO memory (id, version, pinned, created_at) VALUES (1 << 40 | 1, 1, 0, 5), (1 << 40 | 2, 1, 1, 5);"
	"INSERT INTO memory_version (id, memory, version, updated_at, expires_at, importance, trust, content, kind, "
	"  tags, metadata, digest) VALUES "
	"  (1, 1 << 40 | 1, 1, 5, 0, 1, 2, 'one', 'note', '[]', '{}', "
	"   x'7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed'), "
	"  (2, 1 << 40 | 2, 1, 5, 0, 1, 2, 'two', 'note', '[]', '{}', "
	"   x'3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3');"
	"INSERT INTO agent (id, space, name, settings, created_at, updated_at) VALUES (1, 1, 'ann', '{}', 5, 5);"
	"INSERT INTO task (id, space, name, created_at) VALUES (1 << 40 | 1, 1, 'task', 5);"
	"INSERT INTO envelope (id, task, parent, hop, created_at, digest, body) VALUES "
	"  (1 << 40 | 1, 1 << 40 | 1, 0, 1, 5, zeroblob(32), "
	"   '{\"budget\":{\"token_count\":40},\"memory\":{\"refs\":[{\"id\":\"ms-1\"}]},"
	"\"task\":{\"intent\":\"all\",\"summary\":\"first\"}}');"
	"INSERT INTO handoff (id, envelope, target, agent, channel, created_at, state, priority, attempt, "
	"  max_attempts, leases, due, expires_at, ack_timeout, lease_ms, changed_at, acked_at, flags) VALUES "
	"  (1 << 40 | 1, 1 << 40 | 1, 1, 1, 0, 5, 5, 5, 1, 3, 1, 0, 0, 15000, 0, 5, 5, 0);"
	"INSERT INTO result (handoff, result, input_tokens) VALUES (1 << 40 | 1, '\"done\"', 7);";

bool old_store_make(const char *root)
{
	char path[512];
	struct buf error;
	sqlite3 *db = NULL;
	bool ok;

	snprintf(path, sizeof(path), "%s/data", root);
	ok = mkdir(path, 0700) == 0;
	snprintf(path, sizeof(path), "%s/data/spine.db", root);
	buf_init(&error, 4096);
	ok = ok && sqlite3_open(path, &db) == SQLITE_OK && sqlite_schema_migrate(db, OLD_SCHEMA, &error) &&
	     sqlite3_exec(db, rows, NULL, NULL, NULL) == SQLITE_OK;
	if (!ok)
		fprintf(stderr, "%.*s %s\n", STR_ARG(buf_str(&error)), db ? sqlite3_errmsg(db) : "");
	sqlite3_close(db);
	buf_release(&error);
	return ok;
}
