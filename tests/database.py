"""The database of a store, changed by SQL as nobody but a test would. SQLite alone writes pages without the checksums that
Memory Spine looks at (src/store/sqlite/sqlite_seal.c), so they are put in when the connection is closed. This is the format
written down a second time: where the two differ, no test that changes a store passes."""

import sqlite3
import struct
from pathlib import Path

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


def connect(path, **options):
    made = sqlite3.connect(path, factory=Database, **options)
    made.path = path
    return made
