"""A store that does not answer as expected: rows that are gone, keys that are taken, rules that are broken."""

import contextlib

import stores
from database import connect as open_database

IGNORE = "raise(IGNORE)"  # an INSERT then finds its key taken, an UPDATE its row gone
ABORT = "raise(ABORT, 'a rule of the test')"
TAKEN = "RAISE EXCEPTION 'taken' USING ERRCODE = '23505';"
ON_POSTGRES = {IGNORE: "RETURN NULL;", ABORT: "RAISE EXCEPTION 'a rule of the test' USING ERRCODE = '23514';"}


@contextlib.contextmanager
def trigger(data, when, what=IGNORE):
    """While it lasts: trigger(data, "INSERT ON handoff WHEN new.priority = 7") lets those inserts do nothing."""
    database = open_database(data / "spine.db", isolation_level=None, timeout=30)
    make, remove = on_postgres(when, what) if stores.SERVER else (
        [f"CREATE TRIGGER of_a_test BEFORE {when} BEGIN SELECT {what}; END"], ["DROP TRIGGER IF EXISTS of_a_test"])
    try:
        for sql in make:
            database.execute(sql)
        yield
    finally:
        for sql in remove:
            database.execute(sql)
        database.close()


def on_postgres(when, what):
    event, _, condition = when.partition(" WHEN ")
    verb, table = event.split(" ON ")
    body = TAKEN if (verb, what) == ("INSERT", IGNORE) else ON_POSTGRES[what]
    return [
        f"CREATE FUNCTION of_a_test() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} END $$",
        f"CREATE TRIGGER of_a_test BEFORE {event} FOR EACH ROW WHEN ({condition or 'true'}) EXECUTE FUNCTION of_a_test()",
    ], [f"DROP TRIGGER of_a_test ON {table}", "DROP FUNCTION of_a_test"]
