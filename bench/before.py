"""This version beside the one before: a worker's step, and the raw cycle."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable

from figures import Part
from loading import BUILT, CONCURRENT, MESSAGE_BYTES, ROOT, fresh, load
from server import Server, binary

OLD = "4f70969"  # the last version in which a worker's step was three calls
STEP_BYTES = 300  # of the summary that is handed on; a result has as many (load/scenario_step.c)
AGAINST_S = 3.0
AGAINST_ROUNDS = 5


def old_binary() -> Path:
    """The version that is compared with: SPINE_OLD names its binary; else it is built from the history, once."""
    if named := os.environ.get("SPINE_OLD"):
        return Path(named).resolve()
    source = BUILT / f"old-{OLD}"
    program = source / "build" / "spine"
    if not program.exists():
        print(f"building {OLD} in {source.relative_to(ROOT)} (once)", file=sys.stderr, flush=True)
        shutil.rmtree(source, ignore_errors=True)
        source.mkdir(parents=True)
        with subprocess.Popen(["git", "archive", OLD], cwd=ROOT, stdout=subprocess.PIPE) as archive:
            subprocess.run(["tar", "x", "-C", str(source)], stdin=archive.stdout, check=True)
        for modules in ("tools", "dashboard"):  # so that nothing is fetched for it
            if (ROOT / modules / "node_modules").exists() and (source / modules).exists():
                shutil.copytree(ROOT / modules / "node_modules", source / modules / "node_modules", symlinks=True)
        subprocess.run(["make", "binary"], cwd=source, stdout=subprocess.DEVNULL, check=True)
    return program


def loaded(
    program: Path, scenario: str, clients: int, seconds: float, seed: int, text_bytes: int, *more: str
) -> dict[str, Any]:
    """A run of the load generator on a server that is started for it and removed afterwards."""
    data = fresh("against")
    server = Server(data, program=program).wait_until_ready()
    try:
        return load(server, clients, seconds, seed, scenario, text_bytes, more)
    finally:
        server.terminate()
        shutil.rmtree(data)


def in_turns(sides: dict[str, Callable[[int], dict[str, Any]]], rounds: int) -> dict[str, list[dict[str, Any]]]:
    """Every side once a round, now the first one first and now the last one."""
    told: dict[str, list[dict[str, Any]]] = {name: [] for name in sides}
    for turn in range(rounds):
        for name in list(sides) if turn % 2 == 0 else reversed(list(sides)):
            told[name].append(sides[name](turn + 1))
    return told


def add_sides(part: Part, told: dict[str, list[dict[str, Any]]], unit: str, clients: int, of: str) -> None:
    for name, runs in told.items():
        part.add(f"{clients:,} {of}, {name}", [run["rate"] for run in runs], "/s")
        for percentile in ("p50", "p99"):
            part.add(f"  {percentile} of a {unit}", [run[f"{percentile}_ms"] for run in runs], "ms", digits=1)
        part.add(f"  server's CPU time a {unit}", [run["server_cpu_us"] for run in runs], "us", digits=1)
        part.add(f"  load generator's CPU time a {unit}", [run["load_cpu_us"] for run in runs], "us", digits=1)


def ratios(told: dict[str, list[dict[str, Any]]], one: str, other: str, of: str = "rate") -> list[float]:
    return [a[of] / b[of] for a, b in zip(told[one], told[other])]


def step(quick: bool) -> Part:
    rounds, seconds = (1, 3.0) if quick else (AGAINST_ROUNDS, AGAINST_S)
    part = Part(
        "A worker's step",
        "Agents in a ring, each with work in hand and more in its queue. A step: complete it with a result, hand "
        "on to the next agent with the envelope in hand as the parent, take what the agent before has handed on. "
        "One call: `receive` with `settle` of a completion that has a `then`. Three calls: `complete`, `POST "
        f"/v1/handoffs` with the envelope in it, `receive`. Summary and result have about {STEP_BYTES} bytes "
        "each, another text each time; what is received comes as the prompt, which is what goes to a model "
        "(`format` prompt); nothing is added by relevance. Tasks end after 12 hops, and a new one is sent to the "
        f"next agent, by a call of its own on all sides. {rounds} rounds of {seconds:.0f} seconds, in each every "
        f"side once on a fresh store, now the first one first and now the last one. Before: {OLD}, which keeps a "
        'result with its handoff and nowhere else; so the sides that are compared with it say `"remember": '
        "false`. The default makes a memory of each result, which the next agents are given: those sides do "
        "more, and stand below.",
    )
    old, new = old_binary(), binary()
    for clients in CONCURRENT:

        def side(program: Path, scenario: str, *more: str, clients: int = clients) -> Callable[[int], dict[str, Any]]:
            return lambda seed: loaded(program, scenario, clients, seconds, seed, STEP_BYTES, *more)

        three_old, three, one = f"three calls, {OLD}", "three calls", "one call"
        told = in_turns(
            {
                three_old: side(old, "step-three"),
                three: side(new, "step-three", "--forget"),
                one: side(new, "step", "--forget"),
                f"{three}, results remembered": side(new, "step-three"),
                f"{one}, results remembered": side(new, "step"),
            },
            rounds,
        )
        label = f"steps/s, {clients:,} agents, one call over three"
        part.add(f"{label} of {OLD}", ratios(told, one, three_old), "times", at_least=2, digits=2, ratio=True)
        part.add(f"{label} of the same server", ratios(told, one, three), "times", digits=2, ratio=True)
        part.add("  three calls over those of " + OLD, ratios(told, three, three_old), "times", digits=2, ratio=True)
        remembered = ratios(told, f"{one}, results remembered", f"{three}, results remembered")
        part.add(f"{label} of the same server, results remembered", remembered, "times", digits=2, ratio=True)
        add_sides(part, told, "step", clients, "agents")
    return part


def cycles(quick: bool) -> Part:
    rounds, seconds = (1, 3.0) if quick else (AGAINST_ROUNDS, AGAINST_S)
    part = Part(
        "The raw cycle, against the version before",
        f"Cycles of publish ({MESSAGE_BYTES:,} bytes), receive, ack, as in `delivery`, on {OLD} and on this "
        f"version: {rounds} rounds of {seconds:.0f} seconds, each on a fresh store, now the one first and now the "
        "other. A ratio is of the two of the same round. Not slower: what a round's ratio lies below 1 must be "
        "noise, so the target is 0.95; the CPU time, which others on the machine disturb less, stands beside it.",
    )
    before, now = OLD, "this version"
    for clients in CONCURRENT:

        def side(program: Path, clients: int = clients) -> Callable[[int], dict[str, Any]]:
            return lambda seed: loaded(program, "deliver", clients, seconds, seed, MESSAGE_BYTES)

        told = in_turns({before: side(old_binary()), now: side(binary())}, rounds)
        label = f"{clients:,} clients, over {OLD}"
        part.add(f"cycles/s, {label}", ratios(told, now, before), "times", at_least=0.95, digits=2, ratio=True)
        cpu = ratios(told, now, before, "server_cpu_us")
        part.add(f"  server's CPU time a cycle, over {OLD}", cpu, "times", digits=2)
        add_sides(part, told, "cycle", clients, "clients")
    return part
