"""Kills a loaded server at random moments and looks whether it kept its word.

A round: some clients write over several connections as fast as they can (stores and batches with and without
Idempotency-Key, updates with If-Match, pins, reverts, forgets, replacements, batches that must be refused, handoffs). At a
random moment the server gets SIGKILL. It is started again on the same data, and then

  - what was acknowledged is there, once, with the content and version that was acknowledged;
  - what was not answered happened wholly or not at all, a batch in particular;
  - nothing else is there: every number given out since the last round is looked at;
  - a request that is sent again with its Idempotency-Key gets the answer it got, or should have got, and makes no
    second memory;
  - the same holds for envelopes, and each has the digest that was acknowledged (envelopes.py);
  - what was forgotten stays forgotten, and no number is given out twice;
  - what a server has shown stays, also where the power is cut before anything else was written.

Some rounds kill the server while it starts, some while it drains. In some the power is cut as well: what was not
synced is lost (power.py). Every CHECK_EVERY rounds `spine check` reads the whole store, in turns beside the running
server and on what the kill left behind. At the end everything is read once more, and the bytes of what was forgotten
must not be in the file.

--seed replays the schedule: what is written and when it is killed. The threads' interleaving is the machine's own.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]

import power  # noqa: E402
from model import MARKER, Contested, Memory, Space  # noqa: E402
from operations import Broken, Store, expect  # noqa: E402
from server import Server, StartError, binary, clean_environment  # noqa: E402
from verify import Reader, look, verify_round, verify_shown, verify_space  # noqa: E402
from wire import Lost  # noqa: E402
from writer import Writer  # noqa: E402

WRITERS = 8
WRITERS_BESIDE = 2  # of them in another space, a new one every SPACE_EVERY rounds
SPACE_EVERY = 10
CHECK_EVERY = 20
POWER_CUTS = 0.25  # of the rounds
SHOWN_FIRST = 0.5  # of them: another server runs in between, and only reads
FAILURES_MAX = 3


class Story:
    """One store and all that happened to it. After a failure a new one begins, because the model no longer fits."""

    def __init__(self, directory: Path, seed: str, first_round: int) -> None:
        self.data = directory / "data"
        self.power_library = power.build(directory)
        self.power_log = directory / "power.log"
        self.power_will_fail = False
        self.seed = seed
        self.spaces = {"default": Space("default")}
        self.mine: dict[tuple[str, int], list[Memory]] = {}
        self.acknowledged = 0
        self.unanswered = 0
        self.taken_back = 0
        self.shown = 0
        self.start_for(first_round)
        self.contested = self._make_contested(0)

    def start_for(self, number: int) -> None:
        """Starts the server that the round of that number will end."""
        self.power_will_fail = random.Random(f"{self.seed}/{number}/power").random() < POWER_CUTS
        self.power_log.unlink(missing_ok=True)
        self.server = self._start_recorded() if self.power_will_fail else Server(self.data)
        self.server.wait_until_ready()

    def _start_recorded(self) -> Server:
        return Server(self.data, LD_PRELOAD=str(self.power_library), POWER_LOG=str(self.power_log))

    def round(self, number: int) -> None:
        """Raises Broken, Lost or StartError where a promise was broken."""
        dice = random.Random(f"{self.seed}/{number}")
        writers = self._writers(number)
        for writer in writers:
            writer.begin(self.server.address)
        time.sleep(dice.uniform(0.005, 0.2))
        self._end_server(dice)
        for writer in writers:
            writer.join()
        problems = [problem for writer in writers for problem in writer.problems]
        expect(not problems, "; ".join(problems))
        self.acknowledged += sum(len(writer.acknowledged) for writer in writers)
        self.unanswered += sum(len(writer.unanswered) for writer in writers)
        shown = {}
        if self.power_will_fail:
            shown = self._show(writers) if dice.random() < SHOWN_FIRST else {}
            self.taken_back += power.cut(self.data, self.power_log, dice)
        if number % (2 * CHECK_EVERY) == CHECK_EVERY:
            check(self.data)
        if dice.random() < 0.1:
            self._kill_while_starting(dice)
        self.start_for(number + 1)
        for space, memories in shown.items():
            verify_shown(memories, look(self.server.address, self.spaces[space]))
        verify_round(self.server.address, self.contested, writers, dice)
        if number % (2 * CHECK_EVERY) == 0:
            check(self.data)

    def _show(self, writers: list[Writer]) -> dict[str, dict[str, Any]]:
        """What a server shows that is started on what the killed one left in the cache, and killed again."""
        power.carry_over(self.power_log)
        server = self._start_recorded().wait_until_ready()
        self.shown += 1
        try:
            return {name: look(server.address, self.spaces[name]) for name in {writer.space.name for writer in writers}}
        finally:
            server.kill()

    def _writers(self, number: int) -> list[Writer]:
        beside = f"beside-{number // SPACE_EVERY}"
        self.spaces.setdefault(beside, Space(beside))
        if number % SPACE_EVERY == 0:
            self.contested = self._make_contested(number)
        writers = []
        for n in range(WRITERS):
            space = self.spaces[beside if n < WRITERS_BESIDE else "default"]
            mine = self.mine.setdefault((space.name, n), [])
            contested = self.contested if space.name == self.contested.space else None
            writers.append(Writer(n, number, self.seed, space, mine, contested))
        return writers

    def _make_contested(self, number: int) -> Contested:
        store = Store(self.spaces["default"], [f"mk-{number}-contested-"], f"key-contested-{number}")
        with Reader(self.server.address, "default") as reader:
            store.answered(store.ask(reader.connection))
        assert store.nums
        return Contested("default", self.spaces["default"].memories[store.nums[0]])

    def _end_server(self, dice: random.Random) -> None:
        code = self.server.process.poll()
        expect(code is None, f"the server ended by itself with {code}; its log ends: {self.server.log_tail()}")
        if dice.random() < 0.1:
            self.server.process.send_signal(signal.SIGTERM)
            time.sleep(dice.uniform(0, 0.01))
        self.server.kill()

    def _kill_while_starting(self, dice: random.Random) -> None:
        server = Server(self.data)
        time.sleep(dice.uniform(0, 0.03))
        server.kill()

    def finish(self) -> None:
        """Reads everything once more, stops the server in peace, and looks at the bytes that are left."""
        for space in self.spaces.values():
            verify_space(self.server.address, space)
        code = self.server.terminate()
        expect(code == 0, f"the server ended with {code} after SIGTERM; its log ends: {self.server.log_tail()}")
        check(self.data)
        forgotten = {
            marker.encode()
            for space in self.spaces.values()
            for memory in space.memories.values()
            if memory.forgotten
            for marker in memory.markers
        }
        for path in sorted(self.data.glob("spine.db*")):
            left = forgotten.intersection(MARKER.findall(path.read_bytes()))
            expect(
                not left,
                f"{len(left)} texts of {len(forgotten)} forgotten ones are still in {path.name}, as {sorted(left)[:3]}",
            )


def check(data: Path) -> None:
    command = [str(binary()), "check", "--json", "--data", str(data)]
    done = subprocess.run(command, env=clean_environment(), capture_output=True, text=True, check=False)
    ok = done.returncode == 0 and json.loads(done.stdout)["ok"] is True
    expect(ok, f"spine check ended with {done.returncode}: {done.stdout[:500]}{done.stderr[:500]}")


class Run:
    """All rounds; a Story for as long as it goes well."""

    def __init__(self, seed: str) -> None:
        self.seed = seed
        self.passed = self.failed = self.acknowledged = self.unanswered = self.taken_back = self.shown = 0
        self.story: Story | None = None
        self.directory = Path()

    def go(self, rounds: int | None, seconds: float | None) -> None:
        began = time.monotonic()
        number = 0
        while self.failed < FAILURES_MAX:
            if number == rounds or (seconds is not None and time.monotonic() - began >= seconds):
                break
            number += 1
            if self._try(number, lambda story, number=number: story.round(number)):
                self.passed += 1
        if self.story is not None:
            if not self._try(number, Story.finish):
                self.passed -= 1
            self._end(keep=False)

    def _try(self, number: int, act) -> bool:  # type: ignore[no-untyped-def]
        try:
            if self.story is None:
                self.directory = Path(tempfile.mkdtemp(prefix="spine-crash-"))
                self.story = Story(self.directory, self.seed, number)
            act(self.story)
            return True
        except (Broken, Lost, StartError, subprocess.TimeoutExpired) as problem:
            self.failed += 1
            kind = "no answer: " if isinstance(problem, Lost) else ""
            print(
                f"round {number} (seed {self.seed}): {kind}{problem}\n  its data was kept in {self.directory}",
                flush=True,
            )
            self._end(keep=True)
            return False

    def _end(self, keep: bool) -> None:
        if self.story is not None:
            self.acknowledged += self.story.acknowledged
            self.unanswered += self.story.unanswered
            self.taken_back += self.story.taken_back
            self.shown += self.story.shown
            self.story.server.kill()
            self.story = None
            if not keep:
                shutil.rmtree(self.directory)


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Kills a loaded server at random moments and looks whether it kept its word."
    )
    parser.add_argument("--rounds", type=int, help="how many (default: 200, or no end with --seconds)")
    parser.add_argument("--seconds", type=float, help="stop after this time")
    parser.add_argument("--seed", default=str(random.SystemRandom().randrange(10**9)), help="replay a schedule")
    options = parser.parse_args()
    rounds = options.rounds if options.rounds or options.seconds else 200
    print(f"crash test, seed {options.seed}", flush=True)
    run = Run(options.seed)
    began = time.monotonic()
    run.go(rounds, options.seconds)
    print(
        f"{run.acknowledged} writes were acknowledged, {run.unanswered} were under way when the server was killed, "
        f"power cuts took {run.taken_back} writes to the disk back, in {run.shown} rounds after another server had shown "
        f"what was there; {time.monotonic() - began:.0f} s"
    )
    print(f"{run.passed} passed, {run.failed} failed")
    return 1 if run.failed else 0


if __name__ == "__main__":
    sys.exit(main())
