"""Runs the fuzzers: first the seeds, each of them, then new inputs for a while.

  run.py                         all of them, 3 seconds each
  run.py --seconds N [NAME…]     so long, only these ("token", "api")

An input that breaks a promise is written to build/fuzz/found/; put it beside the seeds when it is mended. New inputs that
reach new code stay in build/fuzz/corpus/, and are where the next run begins. Ends with "N passed, N failed".
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "build" / "fuzz" / "tests"
SEEDS = ROOT / "tests" / "fuzz" / "seeds"
WORK = ROOT / "build" / "fuzz"
SEEDS_S = 200  # all seeds of a fuzzer take a second or two
JSON_DICTIONARY = ROOT / "sdk" / "c" / "tests" / "answer.dict"
# Those with a whole server in their process: its threads hold memory until the end, and what it keeps grows.
SERVERS = {"http", "api", "mcp"}
SHARED_SEEDS = {"answer": ROOT / "sdk" / "c" / "tests" / "seeds", "json": ROOT / "sdk" / "c" / "tests" / "seeds"}
WITH_JSON = {"answer", "json", "envelope", "rules", "api", "mcp", "stream", "setup", "webhook"}


def environment() -> dict[str, str]:
    chosen = {name: value for name, value in os.environ.items() if not name.startswith("SPINE_")}
    chosen["ASAN_OPTIONS"] = "detect_leaks=1:allocator_may_return_null=1"
    chosen["UBSAN_OPTIONS"] = "print_stacktrace=1"
    return chosen


def seeds_of(name: str) -> list[Path]:
    folders = [SEEDS / name] + ([SHARED_SEEDS[name]] if name in SHARED_SEEDS else [])
    return [folder for folder in folders if folder.is_dir()]


def command(name: str, seconds: int) -> list[str]:
    found, corpus = WORK / "found" / name, WORK / "corpus" / name
    found.mkdir(parents=True, exist_ok=True)
    corpus.mkdir(parents=True, exist_ok=True)
    options = [
        f"-artifact_prefix={found}/",
        "-max_len=8192",
        "-timeout=25",
        "-rss_limit_mb=4096",
        f"-max_total_time={seconds}",
        "-print_final_stats=1",
    ]
    if name in WITH_JSON:
        options.append(f"-dict={JSON_DICTIONARY}")
    if name in SERVERS:
        options.append("-detect_leaks=0")
    return [str(PROGRAMS / f"fuzz_{name}"), *options, str(corpus), *map(str, seeds_of(name))]


def run_seeds(name: str) -> tuple[int, str]:
    """Every seed once. Returns how many there are, and what is wrong; "": nothing."""
    files = [str(file) for folder in seeds_of(name) for file in sorted(folder.iterdir())]
    if not files:  # it would begin to make inputs, for ever
        return 0, f"there are no seeds in tests/fuzz/seeds/{name}"
    options = ["-timeout=25"] + (["-detect_leaks=0"] if name in SERVERS else [])
    try:
        done = subprocess.run(
            [str(PROGRAMS / f"fuzz_{name}"), *options, *files], capture_output=True, env=environment(), timeout=SEEDS_S
        )
    except subprocess.TimeoutExpired:
        return len(files), f"the seeds were not through after {SEEDS_S} s"
    return len(files), "" if done.returncode == 0 else done.stderr.decode(errors="replace")[-4000:]


def run_long(name: str, seconds: int) -> tuple[str, str]:
    """Returns what was done, and what is wrong."""
    began = time.monotonic()
    done = subprocess.run(command(name, seconds), capture_output=True, env=environment())
    text = done.stderr.decode(errors="replace")
    runs = re.findall(r"stat::number_of_executed_units:\s*(\d+)", text)
    reached = re.findall(r"cov: (\d+)", text)
    told = f"{time.monotonic() - began:.0f} s, {runs[-1] if runs else '?'} inputs, {reached[-1] if reached else '?'} edges"
    return told, "" if done.returncode == 0 else text[-4000:]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    known = sorted(file.name.removeprefix("fuzz_") for file in PROGRAMS.glob("fuzz_*") if "." not in file.name)
    passed = failed = 0
    for name in options.names or known:
        count, wrong = run_seeds(name)
        told = ""
        if not wrong:
            told, wrong = run_long(name, options.seconds)
        print(f"{name:10} {count:3} seeds, {told}{': FAILED' if wrong else ''}", flush=True)
        if wrong:
            print(wrong, flush=True)
        passed += not wrong
        failed += bool(wrong)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
