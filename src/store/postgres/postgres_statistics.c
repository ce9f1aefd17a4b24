/* What the planner believes of tables that are new.
 *
 * Statements are planned once in a session, and the first sessions meet empty tables. Without statistics PostgreSQL
 * takes the shard for as good a key as an id, and any index that begins with it for as good as another: a row by its id
 * is then looked for among all rows of the shard, until the next ANALYZE. So each table has statistics from the
 * beginning, made of rows that are gone again: a shard has all rows, and every other value is found once. (Tables with
 * one row for a shard need none.)
 */
#include "store/postgres/postgres_internal.h"

static const char sql[] =
	"DO $$ DECLARE t name; columns text; any_row boolean; BEGIN"
	"  FOR t IN SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'shard'"
	"    WHERE c.relnamespace = 'spine'::regnamespace AND c.relkind = 'r' AND NOT EXISTS (SELECT 1 FROM pg_index x"
	"    WHERE x.indrelid = c.oid AND x.indisunique AND x.indnkeyatts = 1) LOOP"
	"    EXECUTE format('ALTER TABLE spine.%I ALTER COLUMN shard SET (n_distinct = 1)', t);"
	"    EXECUTE format('SELECT EXISTS (SELECT 1 FROM spine.%I)', t) INTO any_row;"
	"    CONTINUE WHEN any_row;"
	"    SELECT string_agg(CASE WHEN a.attname = 'shard' THEN '-1'"
	"      WHEN a.atttypid = 'bytea'::regtype THEN 'decode(lpad(to_hex(i), 64, ''0''), ''hex'')'"
	"      WHEN a.atttypid = 'boolean'::regtype THEN 'false'"
	"      ELSE 'i::text::' || format_type(a.atttypid, a.atttypmod) END, ', ' ORDER BY a.attnum) INTO columns"
	"      FROM pg_attribute a WHERE a.attrelid = format('spine.%I', t)::regclass AND a.attnum > 0"
	"      AND NOT a.attisdropped;"
	"    EXECUTE format('INSERT INTO spine.%I SELECT %s FROM generate_series(1, 300) i', t, columns);"
	"    EXECUTE format('ANALYZE spine.%I', t);"
	"    EXECUTE format('TRUNCATE spine.%I', t);"
	"  END LOOP; "
	"END $$";

bool postgres_statistics_make(PGconn *db, struct buf *error)
{
	PGresult *result = PQexec(db, sql);
	bool is_done = PQresultStatus(result) == PGRES_COMMAND_OK;

	if (!is_done)
		postgres_put_error(error, result);
	PQclear(result);
	return is_done;
}
