"""Which store a test runs on: the embedded one, or PostgreSQL where SPINE_TEST_POSTGRES names a server of it
(scripts/with-postgres). On PostgreSQL each data directory has a database of its own, so that no server of a test sees
the keys or the spaces of another one."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

SERVER = os.environ.get("SPINE_TEST_POSTGRES")
KEPT = 40
TEMPLATE = "template_of_tests"


def needs_embedded_store(reason: str):
    """Marks a test, or with `pytestmark` a file, that is about what only the embedded store has."""
    import pytest

    return pytest.mark.skipif(SERVER is not None, reason=f"needs the embedded store: {reason}")


class Postgres:
    """A session of libpq, which the server needs, too."""

    def __init__(self, url: str) -> None:
        self.library = libpq()
        self.session = self.library.PQconnectdb(url.encode())
        assert self.library.PQstatus(self.session) == 0, self.error()

    def error(self) -> str:
        return self.library.PQerrorMessage(self.session).decode()

    def run(self, sql: str) -> str:
        """Statements without answers: what went wrong, or nothing."""
        self.library.PQclear(self.library.PQexec(self.session, sql.encode()))
        return self.error()

    def ask(self, sql: str, values=()) -> tuple[list[tuple], int]:
        """One statement with $1, $2…: its rows, and how many it has changed."""
        types = (ctypes.c_uint * len(values))(*(INTEGER if isinstance(value, int) else BYTES for value in values))
        texts = (ctypes.c_char_p * len(values))(*map(as_text, values))
        result = self.library.PQexecParams(self.session, sql.encode(), len(values), types, texts, None, None, 0)
        assert not self.error(), self.error()
        rows = [tuple(self.value(result, row, column) for column in range(self.library.PQnfields(result)))
                for row in range(self.library.PQntuples(result))]
        changed = int(self.library.PQcmdTuples(result) or 0)
        self.library.PQclear(result)
        return rows, changed

    def value(self, result: int, row: int, column: int):
        if self.library.PQgetisnull(result, row, column):
            return None
        text = self.library.PQgetvalue(result, row, column).decode()
        if self.library.PQftype(result, column) != BYTES:
            return int(text) if text.lstrip("-").isdigit() else text
        data = bytes.fromhex(text[2:])
        try:
            return data.decode()
        except UnicodeDecodeError:
            return data

    def close(self) -> None:
        self.library.PQfinish(self.session)
        self.session = None


BYTES, INTEGER = 17, 20     # numbers of types


def as_text(value) -> bytes | None:
    if value is None or isinstance(value, int):
        return None if value is None else str(value).encode()
    return b"\\x" + (value.encode() if isinstance(value, str) else value).hex().encode()


@functools.cache
def libpq() -> ctypes.CDLL:
    library = ctypes.CDLL("libpq.so.5")
    text, number, pointer = ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p
    functions = {
        "PQconnectdb": (pointer, text), "PQfinish": (None, pointer), "PQstatus": (number, pointer),
        "PQerrorMessage": (text, pointer), "PQexec": (pointer, pointer, text), "PQclear": (None, pointer),
        "PQexecParams": (pointer, pointer, text, number, pointer, pointer, pointer, pointer, number),
        "PQntuples": (number, pointer), "PQnfields": (number, pointer), "PQcmdTuples": (text, pointer),
        "PQftype": (ctypes.c_uint, pointer, number), "PQgetisnull": (number, pointer, number, number),
        "PQgetvalue": (text, pointer, number, number),
    }
    for name, (gives, *takes) in functions.items():
        getattr(library, name).restype, getattr(library, name).argtypes = gives, takes
    return library


def database_url(name: str) -> str:
    return urlsplit(SERVER)._replace(path=f"/{name}").geturl()


class Databases:
    """Those that were made, the oldest first. What no server uses any more goes when there are too many: each has eight
    megabytes."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def address(self, data: Path) -> str:
        name = "t" + hashlib.sha256(str(data).encode()).hexdigest()[:24]
        if name not in self.names:
            self.make(name)
        return database_url(name)

    def make(self, name: str) -> None:
        db = Postgres(SERVER)
        if not self.names:
            self.make_template(db)
        said = db.run(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} STRATEGY FILE_COPY")
        assert not said or "already exists" in said, said
        self.names.append(name)
        while len(self.names) > KEPT and self.drop_oldest(db):
            pass
        db.close()

    def make_template(self, db: Postgres) -> None:
        """An empty store, so that a server finds its tables made: a command opens it, and then has its key refused, which
        no first one may be."""
        if db.run(f"CREATE DATABASE {TEMPLATE} TEMPLATE template0"):
            return
        from server import binary, clean_environment

        command = [binary(), "key", "create", "nobody", "--scope", "read", "--store", database_url(TEMPLATE)]
        done = subprocess.run(command, capture_output=True, text=True, env=clean_environment())
        assert "the first key" in done.stderr, done

    def drop_oldest(self, db: Postgres) -> bool:
        for name in self.names[:KEPT // 2]:
            if not db.run(f"DROP DATABASE {name}"):
                self.names.remove(name)
                return True
        return False


_databases = Databases()


def address(data: Path) -> str:
    """Where the store of this data directory is in PostgreSQL. The database is made where there is none."""
    return _databases.address(data)


def whole(data: Path) -> str:
    """The same as one shard that has all spaces, as the embedded store has; with SPINE_TEST_NODES=1 the server is a node,
    which spreads them over 64. What differs then is told in CONTRIBUTING.md."""
    return address(data) if os.environ.get("SPINE_TEST_NODES") else f"{address(data)}#0"


def where(data: Path) -> list[str]:
    """How a command names the store itself, whose server does not run."""
    return ["--store", whole(data)] if SERVER else ["--data", str(data)]


def options(data: Path) -> list[str]:
    """What `spine serve` is told of its store beside the data directory."""
    return ["--store", whole(data)] if SERVER else []
