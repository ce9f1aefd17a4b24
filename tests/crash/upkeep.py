"""Kills what keeps a store in order, at a random one of its writes, and looks whether the store is whole.

Kinds of rounds, in turns:

  recovery   a loaded server was killed; the next ones are killed while they start on what it left
  conversion a store of an older schema, whose pages have no checksums yet, is written anew and brought up to date, and
             the server is killed on the way
  migration  the same of a store whose pages have them: every older schema has its turn, in both
  backup     `spine backup` is killed beside a running server: the file is not there, or is a whole backup; what was
             begun has another name
  restore    `spine restore --replace` is killed: the store is the old one or the backup's, whole
  pruning    a server that prunes handoffs and events is killed while it does

The process is killed before one of its calls that change files (kill_at.c), so that each such moment is met in the end;
nothing sleeps. After each kill the store opens, everything that was acknowledged and is still to be kept is there, and
`spine check` finds nothing.

--seed replays the schedule.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]

from crash import check  # noqa: E402
from database import connect, make_sealed  # noqa: E402
from operations import Broken, expect  # noqa: E402
from server import ROOT, Server, StartError, binary, clean_environment  # noqa: E402
from wire import Connection, Lost  # noqa: E402

SPACE = "upkeep"
KILLS_MAX = 3  # in a row, before the store may come up in peace
MEMORIES = 40  # of a store of an older schema, and of a round
HANDOFFS = 12  # of a round of pruning; each has an envelope, a result and some events
PRUNE_WAIT_S = 30.0
APPLICATION_ID = 0x4D53504E


def build(directory: Path) -> Path:
    library = directory / "kill_at.so"
    source = Path(__file__).resolve().with_name("kill_at.c")
    command = [os.environ.get("CC", "cc"), "-O2", "-Wall", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"]
    subprocess.run(command, check=True)
    return library


def schema_steps() -> list[str]:
    """The steps of the schema, as the source has them: a C string each, with comments in between."""
    text = (ROOT / "src/store/sqlite/sqlite_schema.c").read_text()
    found = re.findall(r'static const char step_\d+\[\] =((?:\s|/\*.*?\*/|"(?:[^"\\]|\\.)*")*);', text, re.DOTALL)
    return ["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', re.sub(r"/\*.*?\*/", "", step, flags=re.DOTALL))) for step in found]


def schema_number(name: str) -> int:
    """SQLITE_SCHEMA_NOW, or SQLITE_SCHEMA_SEALED: from that one on pages have checksums."""
    text = (ROOT / "src/store/sqlite/sqlite_internal.h").read_text()
    return int(re.search(rf"\b{name} = (\d+)", text).group(1))  # type: ignore[union-attr]


FIRST_SEALED, NEWEST = schema_number("SQLITE_SCHEMA_SEALED"), schema_number("SQLITE_SCHEMA_NOW")
# The first whose spaces count their bytes.
FIRST_COUNTED = 12


def make_old_store(data: Path, schema: int) -> dict[str, str]:
    """A store as a server of that schema left it; what is in it."""
    steps = schema_steps()
    expect(len(steps) == NEWEST, f"{len(steps)} steps were found of {NEWEST}")
    data.mkdir()
    if schema >= FIRST_SEALED:
        make_sealed(data / "spine.db")
    db = connect(data / "spine.db", isolation_level=None)
    db.execute("PRAGMA auto_vacuum = INCREMENTAL")
    db.execute("PRAGMA journal_mode = WAL")
    for number, step in enumerate(steps[:schema], 1):
        db.executescript(f"BEGIN;{step};PRAGMA application_id = {APPLICATION_ID};PRAGMA user_version = {number};COMMIT;")
    now_ms = int(time.time() * 1000)
    db.execute("BEGIN")
    db.execute("INSERT INTO space (id, name, next_memory, memories, created_at) VALUES (1, ?, ?, ?, ?)",
               (SPACE, MEMORIES + 1, MEMORIES, now_ms))
    contents = {}
    for number in range(1, MEMORIES + 1):
        content = f"memory {number} of schema {schema} " + "x" * 500
        db.execute("INSERT INTO memory (id, version, pinned, created_at) VALUES (?, 1, 0, ?)", (1 << 40 | number, now_ms))
        db.execute("INSERT INTO memory_version (memory, version, updated_at, expires_at, importance, trust, content, kind, "
                   "tags, metadata, digest) VALUES (?, 1, ?, 0, 1, 1, ?, 'note', '[]', '{}', ?)",
                   (1 << 40 | number, now_ms, content, hashlib.sha256(content.encode()).digest()))
        contents[f"ms-{number}"] = content
    if schema >= FIRST_COUNTED:
        db.execute("UPDATE space SET bytes = (SELECT sum(length(content) + length(metadata)) FROM memory_version)")
    db.execute("COMMIT")
    db.close()
    return contents


def verify(server: Server, contents: dict[str, str | None]) -> None:
    """Each memory is there with its content; None: it is forgotten."""
    connection = Connection(server.address, SPACE)
    for memory, content in contents.items():
        found = connection.ask("GET", f"/v1/memories/{memory}")
        expect(found.status == 200 and found.body["content"] == content, f"{memory} is {found.status} {str(found.body)[:200]}")
    connection.close()


class Upkeep:
    def __init__(self, directory: Path, seed: str) -> None:
        self.directory, self.seed = directory, seed
        self.library = build(directory)
        self.killed = {kind: 0 for kind in KINDS}  # while they were at it
        self.seen = {kind: 30 for kind in KINDS}  # calls that change files, as far as is known: doubled until one is through
        self.brought_up = {"conversion": 0, "migration": 0}
        self.server: Server | None = None
        self.running: list[Server] = []

    def environment(self, at: int | None, count: Path) -> dict[str, str]:
        more = {"LD_PRELOAD": str(self.library), "KILL_COUNT": str(count), "SPINE_NO_SANDBOX": "1"}  # it writes the count
        return more if at is None else {**more, "KILL_AT": str(at)}

    def choose(self, kind: str, dice: random.Random) -> int:
        return dice.randint(1, self.seen[kind] + 1)

    def note(self, kind: str, at: int, is_killed: bool) -> None:
        count = self.directory / "count"
        self.killed[kind] += is_killed
        if is_killed:
            self.seen[kind] = max(self.seen[kind], 2 * at)
        else:
            self.seen[kind] = max(1, count.stat().st_size if count.exists() else 1)
        count.unlink(missing_ok=True)

    def start(self, data: Path, *options: str, **more: str) -> Server:
        self.running.append(Server(data, *options, **more))
        return self.running[-1]

    def start_killed(self, kind: str, data: Path, dice: random.Random, *options: str) -> None:
        """Starts a server that is killed while it starts, where the number is not beyond that."""
        count = self.directory / "count"
        count.unlink(missing_ok=True)
        at = self.choose(kind, dice)
        server = self.start(data, *options, **self.environment(at, count))
        is_killed = False
        try:
            server.wait_until_ready()
        except StartError:
            expect(server.process.returncode == -signal.SIGKILL, f"it could not start: {server.log_tail()}")
            is_killed = True
        server.kill()
        self.note(kind, at, is_killed)

    def run_killed(self, kind: str, dice: random.Random, *arguments: str) -> bool:
        """The command; whether it came to its end."""
        count = self.directory / "count"
        count.unlink(missing_ok=True)
        at = self.choose(kind, dice)
        environment = clean_environment(**self.environment(at, count))
        done = subprocess.run([str(binary()), *arguments], env=environment, capture_output=True, text=True, check=False)
        expect(done.returncode in (0, -signal.SIGKILL), f"spine {arguments[0]} ended with {done.returncode}: {done.stderr[:500]}")
        self.note(kind, at, done.returncode != 0)
        return done.returncode == 0

    def store(self, server: Server, contents: dict[str, str | None], dice: random.Random, name: str) -> None:
        connection = Connection(server.address, SPACE)
        for number in range(MEMORIES):
            text = f"{name} {number} " + "y" * dice.randint(0, 3000)
            answer = connection.ask("POST", "/v1/memories", {"content": text})
            expect(answer.status == 201, f"a store was answered with {answer.status}")
            contents[answer.body["id"]] = text
            if dice.random() < 0.1:
                connection.ask("DELETE", f"/v1/memories/{answer.body['id']}")
                contents[answer.body["id"]] = None
        connection.close()

    # --- Kinds ---

    def recovery(self, dice: random.Random, data: Path) -> None:
        contents: dict[str, str | None] = {}
        server = self.start(data).wait_until_ready()
        self.store(server, contents, dice, "recovered")
        server.kill()
        for _ in range(dice.randint(1, KILLS_MAX)):
            self.start_killed("recovery", data, dice)
        server = self.start(data).wait_until_ready()
        verify(server, contents)
        server.kill()

    def conversion(self, dice: random.Random, data: Path) -> None:
        self.bring_up("conversion", range(1, FIRST_SEALED), dice, data)

    def migration(self, dice: random.Random, data: Path) -> None:
        self.bring_up("migration", range(FIRST_SEALED, NEWEST), dice, data)

    def bring_up(self, kind: str, schemas: range, dice: random.Random, data: Path) -> None:
        schema = schemas[self.brought_up[kind] % len(schemas)]
        self.brought_up[kind] += 1
        contents = make_old_store(data, schema)
        for _ in range(dice.randint(1, KILLS_MAX)):
            self.start_killed(kind, data, dice)
        server = self.start(data).wait_until_ready()
        verify(server, dict(contents))
        self.store(server, dict(contents), dice, "migrated")
        server.kill()

    def backup(self, dice: random.Random, data: Path) -> None:
        contents: dict[str, str | None] = {}
        server = self.start(data).wait_until_ready()
        self.store(server, contents, dice, "backed up")
        file = self.directory / "backup.db"
        for _ in range(dice.randint(1, KILLS_MAX)):
            file.unlink(missing_ok=True)
            is_done = self.run_killed("backup", dice, "backup", str(file), "--data", str(data))
            if file.exists():
                looked = subprocess.run([str(binary()), "check", "--json", str(file)], env=clean_environment(),
                                        capture_output=True, text=True, check=False)
                expect(looked.returncode == 0, f"a backup is not whole: {looked.stdout[:300]}")
                self.restored_is_whole(file, contents)
            expect(file.exists() or not is_done, "it was not killed, and there is no backup")
            for part in self.directory.glob("backup.db.*.part"):
                part.unlink()
        self.store(server, contents, dice, "beside")
        verify(server, contents)
        server.kill()

    def restored_is_whole(self, file: Path, contents: dict[str, str | None]) -> None:
        data = self.directory / "restored"
        shutil.rmtree(data, ignore_errors=True)
        command = [str(binary()), "restore", str(file), "--data", str(data)]
        subprocess.run(command, env=clean_environment(), capture_output=True, check=True)
        server = self.start(data).wait_until_ready()
        verify(server, contents)
        server.kill()
        shutil.rmtree(data)

    def restore(self, dice: random.Random, data: Path) -> None:
        old: dict[str, str | None] = {}
        file = self.directory / "to-restore.db"
        file.unlink(missing_ok=True)
        server = self.start(data).wait_until_ready()
        self.store(server, old, dice, "backed up")
        command = [str(binary()), "backup", str(file), "--data", str(data)]
        subprocess.run(command, env=clean_environment(), capture_output=True, check=True)
        new = dict(old)
        self.store(server, new, dice, "later")
        server.kill()
        is_done = self.run_killed("restore", dice, "restore", "--replace", str(file), "--data", str(data))
        server = self.start(data).wait_until_ready()
        connection = Connection(server.address, SPACE)
        is_new = connection.ask("GET", f"/v1/memories/{list(new)[-1]}").status == 200
        connection.close()
        expect(not (is_done and is_new), "it was restored, and what came later is there")
        verify(server, new if is_new else old)
        server.kill()

    def pruning(self, dice: random.Random, data: Path) -> None:
        keep = ["--keep", "1s"]
        server = self.start(data).wait_until_ready()
        contents: dict[str, str | None] = {}
        self.store(server, contents, dice, "kept")
        opened = self.work(server)
        server.kill()
        time_left = time.monotonic() + PRUNE_WAIT_S
        for _ in range(dice.randint(1, KILLS_MAX)):
            self.prune_killed(data, dice, keep)
        server = self.start(data, *keep).wait_until_ready()
        connection = Connection(server.address, SPACE)
        states = None
        while states != {"queued"}:
            expect(time.monotonic() < time_left, f"it is not pruned to its end: {states}")
            handoffs = connection.ask("GET", "/v1/handoffs?page_size=1000").body["handoffs"]
            states = {handoff["state"] for handoff in handoffs}
        expect({handoff["id"] for handoff in handoffs} == opened, "what is not over is not there")
        for handoff in handoffs:
            envelope = connection.ask("GET", f"/v1/envelopes/{handoff['envelope_id']}/verify")
            expect(envelope.body["ok"] is True, f"{handoff['envelope_id']} is {envelope.body}")
        connection.close()
        verify(server, contents)
        server.kill()

    def work(self, server: Server) -> set[str]:
        """Handoffs that are completed, and some that are not; those."""
        connection = Connection(server.address, SPACE)
        opened = set()
        for number in range(HANDOFFS):
            agent = "later" if number % 4 == 0 else "worker"
            envelope = {"from": "user", "target_agent": agent, "task_summary": f"work {number}", "include_recent": 3}
            sent = connection.ask("POST", "/v1/handoffs", {"envelope": envelope})
            expect(sent.status == 202, f"a handoff was answered with {sent.status} {sent.body}")
            if agent == "later":
                opened.add(sent.body["id"])
                continue
            taken = connection.ask("POST", "/v1/agents/worker/receive", {"format": "none"}).body["handoffs"][0]
            body = {"lease": taken["lease"], "result": f"the result of {number}"}
            done = connection.ask("POST", f"/v1/handoffs/{taken['id']}/complete", body)
            expect(done.status == 200, f"a completion was answered with {done.status} {done.body}")
        connection.close()
        return opened

    def prune_killed(self, data: Path, dice: random.Random, keep: list[str]) -> None:
        """A server that prunes, until it is killed, or has nothing left to prune."""
        count = self.directory / "count"
        count.unlink(missing_ok=True)
        at = self.choose("pruning", dice)
        server = self.start(data, *keep, **self.environment(at, count))
        is_killed = False
        try:
            server.wait_until_ready()
            connection = Connection(server.address, SPACE)
            while {one["state"] for one in connection.ask("GET", "/v1/handoffs?page_size=1000").body["handoffs"]} != {"queued"}:
                pass
            connection.close()
        except (StartError, Lost):
            expect(server.process.wait() == -signal.SIGKILL, f"it ended by itself: {server.log_tail()}")
            is_killed = True
        server.kill()
        self.note("pruning", at, is_killed)

    def round(self, number: int) -> None:
        dice = random.Random(f"{self.seed}/{number}")
        kind = list(KINDS)[number % len(KINDS)]
        data = self.directory / "data"
        shutil.rmtree(data, ignore_errors=True)
        KINDS[kind](self, dice, data)
        check(data)

    def end(self) -> None:
        for server in self.running:
            if server.process.poll() is None:
                server.kill()


KINDS: dict[str, Callable[[Upkeep, random.Random, Path], None]] = {
    "recovery": Upkeep.recovery, "conversion": Upkeep.conversion, "migration": Upkeep.migration, "backup": Upkeep.backup,
    "restore": Upkeep.restore, "pruning": Upkeep.pruning,
}


def run(seed: str, rounds: int) -> tuple[int, int]:
    directory = Path(tempfile.mkdtemp(prefix="spine-upkeep-"))
    upkeep = Upkeep(directory, seed)
    number, began = 0, time.monotonic()
    try:
        while number < rounds:
            number += 1
            upkeep.round(number)
    except (Broken, Lost, StartError, subprocess.SubprocessError) as problem:
        print(f"round {number} (seed {seed}): {problem}\n  its data was kept in {directory}", flush=True)
        return number - 1, 1
    finally:
        upkeep.end()
    print(f"killed during: {json.dumps(upkeep.killed)}; calls that change files: {json.dumps(upkeep.seen)}; "
          f"{time.monotonic() - began:.0f} s")
    shutil.rmtree(directory)
    return number, 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Kills recovery, migration, backup, restore and pruning at their writes.")
    parser.add_argument("--rounds", type=int, default=25, help="how many (default: 25)")
    parser.add_argument("--seed", default=str(random.SystemRandom().randrange(10**9)), help="replay a schedule")
    options = parser.parse_args()
    print(f"upkeep under crashes, seed {options.seed}", flush=True)
    passed, failed = run(options.seed, options.rounds)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
