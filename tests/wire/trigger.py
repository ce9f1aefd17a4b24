"""A store that does not answer as expected: rows that are gone, keys that are taken, rules that are broken."""

import contextlib

from database import connect as open_database

IGNORE = "raise(IGNORE)"  # an INSERT then finds its key taken, an UPDATE its row gone
ABORT = "raise(ABORT, 'a rule of the test')"


@contextlib.contextmanager
def trigger(data, when, what=IGNORE):
    """While it lasts: trigger(data, "INSERT ON handoff WHEN new.priority = 7") lets those inserts do nothing."""
    database = open_database(data / "spine.db", isolation_level=None, timeout=30)
    try:
        database.execute(f"CREATE TRIGGER of_a_test BEFORE {when} BEGIN SELECT {what}; END")
        yield
    finally:
        database.execute("DROP TRIGGER IF EXISTS of_a_test")
        database.close()
