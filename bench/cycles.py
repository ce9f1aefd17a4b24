#!/usr/bin/env python3
"""Two servers, turn by turn, under the load of bench/load: cycles a second, and CPU time of the server for each.

    bench/cycles.py --old BINARY [--new build/spine] [--rounds 5] [--seconds 4] [--json FILE]

Each round starts both servers on fresh stores, one at a time, the one first and then the other, and loads each for some
seconds with every scenario: deliveries (publish, receive, ack) of 64 and 1,000 clients, stores of 64, and handoffs to
receivers that wait. The figure is the median of the rounds' ratios: a machine that is slow for a minute is slow for
both."""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LOAD = os.path.join(ROOT, "build", "bench", "load")


def load(*options):
    return lambda port, seconds: [os.path.join(LOAD, "load"), *options, "--seconds", str(seconds), "--warmup", "1", "--json", str(port)]



SCENARIOS = {
    "deliver, 64 clients": load("--scenario", "deliver", "--connections", "64"),
    "deliver, 1,000 clients": load("--scenario", "deliver", "--connections", "1000"),
    "store, 64 clients": load("--scenario", "store", "--connections", "64"),
    "store with a key, 64 clients": load("--scenario", "store-keyed", "--connections", "64"),
}


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(binary, command, seconds):
    """Cycles a second, and microseconds of the server's CPU time for a cycle."""
    with tempfile.TemporaryDirectory(dir=os.path.join(ROOT, "build")) as data:
        server = subprocess.Popen([binary, "serve", "--listen", "127.0.0.1:0", "--data", data, "--log-format", "json"],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        port = None
        while port is None:
            line = server.stdout.readline()
            if not line:
                sys.exit(f"{binary} did not start")
            found = re.search(r"127\.0\.0\.1:(\d+)", line)
            port = found and int(found.group(1))
        before = cpu_seconds(server.pid)
        done = subprocess.run(command(port, seconds), capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"the load ended with {done.returncode}: {done.stderr[-500:]}")
        told = json.loads(done.stdout)
        taken = cpu_seconds(server.pid) - before
        server.terminate()
        server.communicate()
    # The warm-up of one second is in the CPU time and not in the cycles.
    cycles = told["cycles"] * (seconds + 1) / seconds
    return told["cycles"] / seconds, 1e6 * taken / cycles


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", required=True)
    parser.add_argument("--new", default=os.path.join(ROOT, "build", "spine"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--only", help="scenarios whose name holds this")
    parser.add_argument("--json")
    options = parser.parse_args()
    figures = {}
    for name, command in SCENARIOS.items():
        if options.only and options.only not in name:
            continue
        rounds = []
        for turn in range(options.rounds):
            order = (options.old, options.new) if turn % 2 else (options.new, options.old)
            told = {binary: measure(binary, command, options.seconds) for binary in order}
            rounds.append((told[options.old], told[options.new]))
        rate = sorted(new[0] / old[0] for old, new in rounds)
        cpu = sorted(new[1] / old[1] for old, new in rounds)
        figures[name] = {
            "old_per_s": statistics.median(old[0] for old, new in rounds), "new_per_s": statistics.median(new[0] for old, new in rounds),
            "rate_ratio": statistics.median(rate), "rate_least": rate[0], "rate_most": rate[-1],
            "old_cpu_us": statistics.median(old[1] for old, new in rounds), "new_cpu_us": statistics.median(new[1] for old, new in rounds),
            "cpu_ratio": statistics.median(cpu), "cpu_least": cpu[0], "cpu_most": cpu[-1],
        }
        print("{0}: {old_per_s:,.0f}/s and {new_per_s:,.0f}/s, {rate_ratio:.3f} times ({rate_least:.3f} to {rate_most:.3f}); CPU {old_cpu_us:.1f} and "
              "{new_cpu_us:.1f} us, {cpu_ratio:.3f} times ({cpu_least:.3f} to {cpu_most:.3f})".format(name, **figures[name]), flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(figures, file, indent=1)


if __name__ == "__main__":
    main()
