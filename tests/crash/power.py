"""Power cuts: what the server had written and not synced is gone, or a part of it.

power.c, preloaded into the server, notes every write to the store. After the kill the writes since the last sync of
their file are taken back; then any of them, at random, are made after all, some only up to a sector: a disk may have
got that far with them, in any order. What was acknowledged must be there all the same.
"""

from __future__ import annotations

import os
import random
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

WRITE, TRUNCATE, SYNC = 1, 2, 3
FILES = ["spine.db", "spine.db-wal"]
HEAD = struct.Struct("<6Q")
SECTOR_BYTES = 512


@dataclass
class Record:
    kind: int
    file: int
    offset: int
    size: int  # of the file before
    old: bytes
    new: bytes


def build(directory: Path) -> Path:
    """Compiles the library to preload."""
    library = directory / "power.so"
    source = Path(__file__).resolve().with_name("power.c")
    compiler = os.environ.get("CC", "cc")
    subprocess.run(
        [compiler, "-O2", "-Wall", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True
    )
    return library


def read_log(path: Path) -> list[Record]:
    return parse_log(path)[0]


def carry_over(path: Path) -> None:
    """Lets the next server go on with the log: a record that the kill cut short must not swallow what follows."""
    if path.exists():
        os.truncate(path, parse_log(path)[1])


def parse_log(path: Path) -> tuple[list[Record], int]:
    """The records, and where the last of them ends."""
    data = path.read_bytes() if path.exists() else b""
    records, end = [], 0
    while end + HEAD.size <= len(data):
        kind, file, offset, size, old, new = HEAD.unpack_from(data, end)
        at = end + HEAD.size + old + new
        if at > len(data):
            break
        records.append(Record(kind, file, offset, size, data[at - old - new : at - new], data[at - new : at]))
        end = at
    return records, end


def unsynced(records: list[Record]) -> list[Record]:
    last_sync = {record.file: at for at, record in enumerate(records) if record.kind == SYNC}
    return [record for at, record in enumerate(records) if at > last_sync.get(record.file, -1)]


def cut(data: Path, log: Path, dice: random.Random) -> int:
    """Takes the power away. Returns how many writes it took back."""
    lost = unsynced(read_log(log))
    log.unlink(missing_ok=True)
    for record in reversed(lost):
        undo(data / FILES[record.file], record)
    survive = dice.choice([0.0, 0.0, 0.3, 0.7])
    for record in lost:
        if dice.random() < survive:
            redo(data / FILES[record.file], record, dice)
    if dice.random() < 0.5:
        (data / "spine.db-shm").unlink(missing_ok=True)
    return len(lost)


def undo(path: Path, record: Record) -> None:
    if not path.exists():
        return
    with path.open("r+b") as file:
        file.seek(record.offset)
        file.write(record.old)
        file.truncate(record.size)


def redo(path: Path, record: Record, dice: random.Random) -> None:
    if not path.exists():
        return
    with path.open("r+b") as file:
        if record.kind == TRUNCATE:
            file.truncate(record.offset)
            return
        sectors = len(record.new) // SECTOR_BYTES
        length = dice.randint(0, sectors) * SECTOR_BYTES if sectors and dice.random() < 0.3 else len(record.new)
        file.seek(record.offset)
        file.write(record.new[:length])
