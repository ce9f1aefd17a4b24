#!/usr/bin/python3
"""How much of what is needed does search find, how much of it does a handoff carry, and how much else?

    bench/recall/recall.py                     the project's own small set
    bench/recall/recall.py --data mine.json    data of your own; README.md describes the file

Every collection of the file becomes a space of its own, every turn or document a memory, in the file's order. Without
--url a server is started for the measurement, on a temporary directory and a free port, and stopped afterwards.

search  the share of the needed memories among the first 5, 10, 25, 50 that a search for the question finds;
        for graded questions nDCG@10
pack    the share of the needed memories whose whole text is in the envelope of a handoff that asks the question
noise   what goes along with work that has nothing to do with the collection
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import math
import secrets
import sys
import tempfile
import urllib.parse
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(Path(__file__).resolve().parent)]

from labelled import BadFile, Collection, Question, read_labelled  # noqa: E402
from server import Server, StartError  # noqa: E402

SMALL_SET = ROOT / "tests" / "recall" / "small.json"
CUTS = (5, 10, 25, 50)
GRADED_CUT = 10
BUDGETS = (500, 1000, 2000, 4000)
RECENTS = (20, 50, 100)
NOISE_BUDGET = 2000
NOISE_RECENT = 20
BATCH_MEMORIES = 200
BATCH_BYTES = 200_000
TIMEOUT_S = 120
KINDS = ("search", "pack", "noise")


class CallError(Exception):
    """The server could not be reached, or refused something."""


class Client:
    """One connection that stays open. Its spaces begin with the prefix: the name of a space stands in the prompt, so
    that how much fits depends on it. A server of our own has always the same names."""

    def __init__(self, url: str, prefix: str = "recall") -> None:
        parts = urllib.parse.urlsplit(url if "//" in url else f"http://{url}")
        if parts.scheme != "http" or not parts.hostname:
            raise CallError(f"{url}: not the address of a server, such as http://127.0.0.1:8788")
        self.url = url
        self.prefix = prefix
        self._http = http.client.HTTPConnection(parts.hostname, parts.port or 80, timeout=TIMEOUT_S)

    def call(self, method: str, path: str, space: str, body: Any = None) -> Any:
        text = None if body is None else json.dumps(body)
        try:
            self._http.request(method, path, text, {"Content-Type": "application/json", "Spine-Space": space})
            reply = self._http.getresponse()
            told = reply.read()
        except (OSError, http.client.HTTPException) as error:
            raise CallError(f"{self.url}: {error}") from None
        if reply.status >= 300:
            raise CallError(f"{method} {path[:80]}: {reply.status} {told[:400].decode(errors='replace')}")
        return json.loads(told)

    def close(self) -> None:
        self._http.close()


@dataclass
class Space:
    """A collection that was stored."""

    name: str
    collection: Collection
    ids: dict[str, str]  # the file's id of each memory


# --- Asking the server ---


def batches(memories: list[tuple[str, str]]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    size = 0
    for key, content in memories:
        if batch and (len(batch) == BATCH_MEMORIES or size + len(content) > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append({"content": content, "metadata": {"labelled": key}})
        size += len(content)
    yield batch


def fill(client: Client, collections: list[Collection]) -> list[Space]:
    spaces = []
    for number, collection in enumerate(collections, 1):
        space = Space(f"{client.prefix}-{number}", collection, {})
        for batch in batches(collection.memories):
            answer = client.call("POST", "/v1/memories/batch", space.name, {"memories": batch})
            space.ids.update({memory["id"]: memory["metadata"]["labelled"] for memory in answer["memories"]})
        spaces.append(space)
    return spaces


def find(client: Client, space: Space, question: str) -> list[str]:
    path = f"/v1/memories?page_size={max(CUTS)}&query=" + urllib.parse.quote(question)
    return [space.ids[memory["id"]] for memory in client.call("GET", path, space.name)["memories"]]


def carried(client: Client, space: Space, summary: str, recent: int, budget: int) -> list[dict[str, Any]]:
    """The memories of the collection in the envelope of a handoff."""
    body = {
        "from": "asker",
        "target_agent": "answerer",
        "task_summary": summary,
        "include_recent": recent,
        "constraints": {"max_tokens": budget},
    }
    refs = client.call("POST", "/v1/envelopes", space.name, body)["memory"]["refs"]
    return [ref for ref in refs if ref["id"] in space.ids]


# --- What is measured ---


def share(found: list[str], needed: list[str]) -> float:
    return sum(key in found for key in needed) / len(needed)


def ndcg(found: list[str], grades: dict[str, int], cut: int = GRADED_CUT) -> float:
    """Gain is the grade, discounted by log2 of the rank + 1, over that of the best order."""

    def gain(order: list[int]) -> float:
        return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(order[:cut], 1))

    return gain([grades.get(key, 0) for key in found]) / gain(sorted(grades.values(), reverse=True))


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def search(client: Client, spaces: list[Space]) -> dict[str, Any]:
    """Means over questions; of all collections and of each."""
    found = [
        (space.collection.name, [(one, find(client, space, one.text)) for one in space.collection.questions])
        for space in spaces
        if space.collection.questions
    ]

    def told(name: str, asked: list[tuple[Question, list[str]]]) -> dict[str, Any]:
        needed = [(question.evidence, keys) for question, keys in asked if question.evidence]
        graded = [(question.grades, keys) for question, keys in asked if question.grades]
        result: dict[str, Any] = {"name": name, "questions": len(needed), "graded_questions": len(graded)}
        if needed:
            result["recall"] = {str(k): mean([share(keys[:k], want) for want, keys in needed]) for k in CUTS}
        if graded:
            result[f"ndcg_{GRADED_CUT}"] = mean([ndcg(keys, grades) for grades, keys in graded])
        return result

    return {
        **told("all", [one for _, asked in found for one in asked]),
        "collections": [told(name, asked) for name, asked in found],
    }


def sampled(questions: list[Question], sample: int) -> list[Question]:
    """At most so many, spread evenly over all of them, always the same ones. 0 means all."""
    if not sample or len(questions) <= sample:
        return questions
    return [questions[at * len(questions) // sample] for at in range(sample)]


def pack(
    client: Client,
    spaces: list[Space],
    sample: int = 0,
    recents: tuple[int, ...] = RECENTS,
    budgets: tuple[int, ...] = BUDGETS,
) -> dict[str, Any]:
    asked = [
        (space, question)
        for space in spaces
        for question in sampled([one for one in space.collection.questions if one.evidence], sample)
    ]
    shares: dict[str, dict[str, float]] = {}
    for recent in recents if asked else ():
        for budget in budgets:
            values = []
            for space, question in asked:
                refs = carried(client, space, f"Answer the question: {question.text}", recent, budget)
                values.append(share([space.ids[ref["id"]] for ref in refs if ref["form"] == "full"], question.evidence))
            shares.setdefault(str(recent), {})[str(budget)] = mean(values)
    return {"questions": len(asked), "whole": shares}


def noise(client: Client, spaces: list[Space], unrelated: list[str] | None = None) -> dict[str, Any]:
    """unrelated: tasks for the collections that bring none of their own."""
    memories, tokens = [], []
    for space in spaces:
        for task in space.collection.unrelated or unrelated or []:
            refs = carried(client, space, task, NOISE_RECENT, NOISE_BUDGET)
            memories.append(float(len(refs)))
            tokens.append(float(sum(ref["tokens"] for ref in refs)))
    if not memories:
        return {"tasks": 0}
    return {"tasks": len(memories), "memories": mean(memories), "tokens": mean(tokens)}


def measure(
    client: Client,
    collections: list[Collection],
    kinds: tuple[str, ...] = KINDS,
    sample: int = 0,
    unrelated: list[str] | None = None,
) -> dict[str, Any]:
    spaces = fill(client, collections)
    parts = {
        "search": lambda: search(client, spaces),
        "pack": lambda: pack(client, spaces, sample),
        "noise": lambda: noise(client, spaces, unrelated),
    }
    return {kind: parts[kind]() for kind in KINDS if kind in kinds}


# --- Telling ---


def print_search(told: dict[str, Any]) -> None:
    rows = [*told["collections"], told] if len(told["collections"]) > 1 else [told]
    width = max(len(row["name"]) for row in rows)
    if told["questions"]:
        print("\nSearch: needed memories among the first k, %")
        print(f"  {'':{width}}  questions" + "".join(f"{f'R@{k}':>8}" for k in CUTS))
        for row in (row for row in rows if "recall" in row):
            print(f"  {row['name']:{width}}  {row['questions']:9}" + "".join(
                f"{100 * row['recall'][str(k)]:8.1f}" for k in CUTS
            ))
    if told["graded_questions"]:
        key = f"ndcg_{GRADED_CUT}"
        print(f"\nSearch: graded questions\n  {'':{width}}  questions  nDCG@{GRADED_CUT}")
        for row in (row for row in rows if key in row):
            print(f"  {row['name']:{width}}  {row['graded_questions']:9}{row[key]:9.3f}")


def print_pack(told: dict[str, Any]) -> None:
    if not told["questions"]:
        return
    print(f"\nPacking: needed memories whose whole text is in the envelope, % ({told['questions']} questions)")
    print("  include_recent" + "".join(f"{f'{budget:,} tokens':>14}" for budget in BUDGETS))
    for recent, shares in told["whole"].items():
        print(f"  {recent:>14}" + "".join(f"{100 * shares[str(budget)]:14.1f}" for budget in BUDGETS))


def print_noise(told: dict[str, Any]) -> None:
    if not told["tasks"]:
        print("\nNoise: not measured; the file has no unrelated tasks (see --unrelated)")
        return
    print(f"\nNoise: what goes along with unrelated work ({told['tasks']} tasks, {NOISE_BUDGET:,} tokens, "
          f"include_recent {NOISE_RECENT})")
    print(f"  {told['memories']:.2f} memories, {told['tokens']:.0f} tokens of them a handoff")


PRINTERS = {"search": print_search, "pack": print_pack, "noise": print_noise}


# --- The program ---


@contextlib.contextmanager
def serving(url: str | None) -> Iterator[Client]:
    """A client of that server, or of one that is started for it."""
    if url:
        client = Client(url, f"recall-{secrets.token_hex(4)}")
        yield client
        client.close()
        return
    with tempfile.TemporaryDirectory(prefix="spine-recall-") as temp:
        server = Server(Path(temp) / "data")
        try:
            client = Client(server.wait_until_ready().url)
            yield client
            client.close()
            server.terminate()
        finally:
            if server.process.poll() is None:
                server.kill()


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=SMALL_SET, metavar="FILE", help="labelled data")
    parser.add_argument("--url", help="a server that runs already; the spaces stay there")
    parser.add_argument("--only", metavar="KIND[,KIND]", help=f"of {', '.join(KINDS)}")
    parser.add_argument("--sample", type=int, default=60, metavar="N",
                        help="at most so many questions of each collection are packed; 0: all (default 60)")
    parser.add_argument("--unrelated", type=Path, metavar="FILE",
                        help="tasks, one a line, for collections that have no unrelated ones of their own")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    chosen = parser.parse_args()
    chosen.kinds = tuple(chosen.only.split(",")) if chosen.only else KINDS
    if unknown := [kind for kind in chosen.kinds if kind not in KINDS]:
        parser.error(f"there is no {unknown[0]!r}; there are {', '.join(KINDS)}")
    if chosen.sample < 0:
        parser.error("--sample is 0 or more")
    return chosen


def main() -> int:
    chosen = options()
    try:
        collections = read_labelled(chosen.data)
        lines = chosen.unrelated.read_text(encoding="utf-8").splitlines() if chosen.unrelated else []
        unrelated = [line for line in lines if line.strip()]
        count = sum(len(one.memories) for one in collections)
        print(f"{chosen.data}: {len(collections)} collections, {count:,} memories", flush=True)
        with serving(chosen.url) as client:
            told = measure(client, collections, chosen.kinds, chosen.sample, unrelated)
        for kind, figures in told.items():
            PRINTERS[kind](figures)
        if chosen.json:
            chosen.json.write_text(json.dumps({"data": str(chosen.data), **told}, indent=2) + "\n")
    except (BadFile, CallError, StartError, OSError) as error:
        print(f"recall: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
