"""The database of a store, changed by SQL as nobody but a test would. SQLite alone writes pages without the checksums that
Memory Spine looks at (src/store/sqlite/sqlite_seal.c), so they are put in when the connection is closed. This is the format
written down a second time: where the two differ, no test that changes a store passes.

On PostgreSQL (stores.py) connect() gives a session there that takes the same calls, and "?" in statements. All texts are
bytes there; what comes back as UTF-8 is a string. Tables have one more column, the shard: executemany() puts in that of the
only space, and the rows say their ids."""

import contextlib
import sqlite3
import struct
from pathlib import Path

import stores

PAGE, SEAL = 4096, 8
MASK = (1 << 64) - 1
STEP = 0x9E3779B97F4A7C15
STARTS = (0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1)
LOCK_PAGE = 0x40000000 // PAGE + 1


def seal_of(data, number):
    """The checksum of these bytes, eight at a time, as those of the page of that number."""
    words = struct.unpack(f"<{len(data) // 8}Q", data[:len(data) // 8 * 8])
    lanes = [(STARTS[0] + number) & MASK, *STARTS[1:]]
    whole = len(words) // 4 * 4
    for at, word in enumerate(words):
        lane = at % 4 if at < whole else 3
        product = ((lanes[lane] ^ word) * STEP) & MASK
        lanes[lane] = (product << 29 | product >> 35) & MASK
    seal = lanes[0]
    for lane in lanes[1:]:
        product = ((seal ^ lane) * STEP) & MASK
        seal = (product << 29 | product >> 35) & MASK
    return seal ^ seal >> 32


def reseal(path):
    """Every page gets its checksum; and the note beside the log says that nothing is in it."""
    with open(path, "r+b") as file:
        pages = Path(path).stat().st_size // PAGE
        if file.read(21)[20:] != bytes([SEAL]):
            return
        for number in range(1, pages + 1):
            file.seek((number - 1) * PAGE)
            page = file.read(PAGE)
            good = struct.pack("<Q", seal_of(page[:PAGE - SEAL], number))
            if page[PAGE - SEAL:] != good and number != LOCK_PAGE:
                file.seek(number * PAGE - SEAL)
                file.write(good)
    note = b"SPNLOG1\0" + bytes(8) + bytes(8)
    Path(f"{path}-extent").write_bytes(note + struct.pack("<Q", seal_of(note, 0)))


class Database(sqlite3.Connection):
    """The last connection to a store moves its log into the database, and removes it."""

    path = None

    def __exit__(self, *why):
        super().__exit__(*why)
        self.close()

    def close(self):
        super().close()
        log = Path(f"{self.path}-wal")
        if not log.exists() or log.stat().st_size == 0:
            reseal(self.path)


# What SQLite has built in.
FUNCTIONS = """
CREATE OR REPLACE FUNCTION public.replace(bytea, text, text) RETURNS bytea LANGUAGE sql AS
  $$ SELECT convert_to(pg_catalog.replace(convert_from($1, 'UTF8'), $2, $3), 'UTF8') $$;
CREATE OR REPLACE FUNCTION public.hex(bytea) RETURNS text LANGUAGE sql AS $$ SELECT encode($1, 'hex') $$;
SET search_path TO spine, public;
"""


class Rows(list):
    """What a statement gave."""

    rowcount = 0

    def fetchone(self):
        return self.pop(0) if self else None

    def fetchall(self):
        return self


class PostgresDatabase(stores.Postgres):
    """Each statement is a transaction."""

    def __init__(self, address):
        super().__init__(address)
        assert not self.run(FUNCTIONS), self.error()

    def execute(self, sql, values=()):
        parts = sql.split("?")
        sql = parts[0] + "".join(f"${number}{part}" for number, part in enumerate(parts[1:], 1))
        rows, changed = self.ask(sql, values)
        made = Rows(rows)
        made.rowcount = changed
        return made

    def executemany(self, sql, rows):
        """Of an INSERT."""
        head, _, row = sql.partition("VALUES (")
        ((shard,),) = self.execute("SELECT max(shard) FROM space")
        head, row = head.replace("(", "(shard, ", 1), f"({shard}, {row}"
        for at in range(0, len(rows), 1000):
            some = rows[at:at + 1000]
            self.execute(f"{head} VALUES {', '.join([row] * len(some))}", [value for values in some for value in values])

    def commit(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.close()


def connect(path, **options):
    """The database of a store: `path` is that of the file spine.db, whichever store it is."""
    if stores.SERVER:
        return PostgresDatabase(stores.address(Path(path).parent))
    made = sqlite3.connect(path, factory=Database, **options)
    made.path = path
    return made


def look(path):
    """The same, to read from."""
    return connect(path) if stores.SERVER else sqlite3.connect(f"file:{path}?mode=ro", uri=True)


@contextlib.contextmanager
def unprotected(db, table):
    """While it lasts rows of the table may be changed that never are: on the embedded store triggers see to that."""
    if stores.SERVER:
        yield
        return
    triggers = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?", [table]).fetchall()
    for name, _ in triggers:
        db.execute(f"DROP TRIGGER {name}")
    yield
    for _, sql in triggers:
        db.execute(sql)


def make_sealed(path):
    """A database without tables whose pages have room for checksums. SQLite alone cannot ask for that room; but it keeps what
    the header says, so the header of an empty one is changed: the room at the end of each page, and where its rows begin."""
    with sqlite3.connect(path, isolation_level=None) as db:
        db.execute(f"PRAGMA page_size = {PAGE}")
        db.execute("PRAGMA auto_vacuum = INCREMENTAL")
        db.execute("PRAGMA user_version = 0")
    db.close()
    with open(path, "r+b") as file:
        file.seek(20)
        file.write(bytes([SEAL]))
        file.seek(100 + 5)
        file.write(struct.pack(">H", PAGE - SEAL))
    reseal(path)
