#!/usr/bin/env python3
"""Two servers, turn by turn: how long the one takes for what the other does.

    bench/against.py --old BINARY [--new build/spine] [--memories 100000] [--rounds 7] [--json FILE]

Both get the same memories over HTTP, excerpts of 20 to 80 words of the prose on this machine (comments of headers and of
Python), each in a store of its own. Then the two are asked in turns, request by request, over one connection each: a
search for 20 to 40 words (page of 20), and a handoff with such a summary that cites five memories (20 recent, 4,000
tokens, durable). The figure is the median of a round; the ratio is that of the two medians of the same round. Another
program that takes CPU time takes it from both."""

import argparse
import glob
import http.client
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
QUERIES = 200


def prose(limit=2_000_000):
    """Words of comments, in their order."""
    words = []
    for path in sorted(glob.glob("/usr/include/**/*.h", recursive=True)) + sorted(glob.glob("/usr/lib/python3*/**/*.py", recursive=True)):
        with open(path, errors="replace") as file:
            for comment in re.findall(r"/\*(.*?)\*/|\"\"\"(.*?)\"\"\"", file.read(), re.S):
                words += re.findall(r"[A-Za-z][\w'./-]*[,.:;]?", "".join(comment))
        if len(words) > limit:
            break
    if len(words) < 100_000:
        sys.exit("there is too little prose on this machine: install libc6-dev")
    return words


class Server:
    def __init__(self, name, binary, memories):
        self.name, self.data = name, tempfile.TemporaryDirectory()
        self.process = subprocess.Popen([binary, "serve", "--listen", "127.0.0.1:0", "--data", self.data.name, "--log-format", "json"],
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        port = None
        while port is None:
            line = self.process.stdout.readline()
            if not line:
                sys.exit(f"{binary} did not start")
            found = re.search(r"127\.0\.0\.1:(\d+)", line)
            port = found and int(found.group(1))
        self.http = http.client.HTTPConnection("127.0.0.1", port)
        for at in range(0, len(memories), 500):
            self.ask("POST", "/v1/memories/batch", {"memories": [{"content": text} for text in memories[at:at + 500]]})

    def ask(self, method, path, body=None):
        began = time.perf_counter()
        self.http.request(method, path, json.dumps(body) if body else None, {"Content-Type": "application/json"})
        reply = self.http.getresponse()
        text = reply.read()
        if reply.status >= 300:
            sys.exit(f"{self.name}: {method} {path}: {reply.status} {text[:300]!r}")
        return 1000 * (time.perf_counter() - began)

    def stop(self):
        self.process.terminate()
        self.process.communicate()
        self.data.cleanup()


def search(server, text, rng):
    return server.ask("GET", "/v1/memories?query=" + urllib.parse.quote(text))


def pack(server, text, rng):
    return server.ask("POST", "/v1/envelopes", {"target_agent": "b", "task_summary": text, "refs": [f"ms-{rng.randint(1, 1000)}" for _ in range(5)],
                                                "constraints": {"max_tokens": 4000}})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", required=True)
    parser.add_argument("--new", default=os.path.join(ROOT, "build", "spine"))
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json")
    options = parser.parse_args()
    rng, words = random.Random(1), prose()
    excerpt = lambda least, most: (lambda at: " ".join(words[at:at + rng.randint(least, most)]))(rng.randrange(len(words) - most))
    memories = [excerpt(20, 80) for _ in range(options.memories)]
    servers = [Server(name, binary, memories) for name, binary in (("old", options.old), ("new", options.new))]
    figures = {}
    for name, call in (("search", search), ("pack", pack)):
        rounds = []
        for turn in range(options.rounds + 1):
            texts, times = [excerpt(20, 40) for _ in range(QUERIES)], ([], [])
            for i, text in enumerate(texts):
                for which in (0, 1) if i % 2 else (1, 0):
                    times[which].append(call(servers[which], text, random.Random(i)))
            rounds.append([statistics.median(one) for one in times])
        rounds = rounds[1:]  # the first one warms up
        ratios = sorted(new / old for old, new in rounds)
        figures[name] = {"old_ms": statistics.median(r[0] for r in rounds), "new_ms": statistics.median(r[1] for r in rounds),
                         "ratio": statistics.median(ratios), "least": ratios[0], "most": ratios[-1]}
        print("{0}, {1:,} memories: p50 {old_ms:.3f} ms and {new_ms:.3f} ms, {ratio:.2f} times ({least:.2f} to {most:.2f} in {2} rounds)".format(
            name, options.memories, options.rounds, **figures[name]))
    for server in servers:
        server.stop()
    if options.json:
        with open(options.json, "w") as file:
            json.dump(figures, file)


if __name__ == "__main__":
    main()
