"""One chain of work through four clients: packed in C, received in Python, handed on over MCP, finished in TypeScript. What
the user asked for and what must hold arrive word for word."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "sdk" / "python")]

from memory_spine import MemorySpine  # noqa: E402
from server import Server, binary, clean_environment  # noqa: E402

INTENT = 'Zahlungen überstehen ein "wackliges" Gateway \\ ohne doppelte Buchung — 支払い 🚧\nund ohne neue API.'
CONSTRAINTS = {"public_api": "unchanged", "max_retries": 3, "forbidden": ["eval", "sleep()"], "größe": {"kb": 1.5}}
ADDED = {"language": "Python ≥ 3.9"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = Server(tmp_path_factory.mktemp("server") / "data").wait_until_ready()
    yield running
    assert running.terminate() == 0, running.log_tail()


def pack_in_c(server):
    """Packs the first envelope and sends it, in one call of the C library."""
    program = ROOT / "build" / "sdk" / "c" / "tests" / "one_call"
    if not program.exists():
        pytest.fail(f"{program} is missing: make c-tests")
    envelope = {"from": "c-agent", "target_agent": "python-agent", "task_summary": "Find the cause.", "intent": INTENT,
                "constraints": CONSTRAINTS}
    environment = clean_environment(SPINE_SPACE="chain")
    subprocess.run([str(program), server.url, "deliver", f"envelope:={json.dumps(envelope)}"], env=environment, check=True,
                   timeout=60, stdout=subprocess.DEVNULL)


def hand_on_in_python(server):
    with MemorySpine(server.url, space="chain", agent="python-agent") as spine:
        assert spine.agent("python-agent").run(
            lambda work: work.hand_on("mcp-agent", "Decide.", result="The request id changes.", constraints=ADDED), limit=1
        ) == 1


class Mcp:
    """A host that speaks MCP to `spine mcp`."""

    def __init__(self, server):
        command = [str(binary()), "mcp", "--url", server.url, "--space", "chain", "--agent", "mcp-agent"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
                                        env=clean_environment())
        self.count = 0
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "chain", "version": "1"}})

    def ask(self, method, params):
        self.count += 1
        message = {"jsonrpc": "2.0", "id": self.count, "method": method, "params": params}
        print(json.dumps(message), file=self.process.stdin, flush=True)
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self.count:
                return answer["result"]
        raise AssertionError("spine mcp ended without an answer")

    def call(self, tool, **arguments):
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert not result.get("isError"), result
        return result["structuredContent"]

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(30) == 0


def hand_on_over_mcp(server):
    host = Mcp(server)
    [work] = host.call("handoff_receive", wait_s=20)["handoffs"]
    done = host.call("handoff_settle", id=work["id"], lease=work["lease"], verb="complete", result="Derive it from the order id.",
                     then={"envelope": {"target_agent": "ts-agent", "task_summary": "Write the patch."}})
    host.end()
    assert done["state"] == "completed"
    return work["prompt"]


def finish_in_typescript(server):
    command = [shutil.which("node"), str(ROOT / "tests" / "chain" / "finish.mjs"), server.url, "chain", "ts-agent"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=60, env=clean_environment())
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_intent_and_constraints_arrive_word_for_word(server):
    pack_in_c(server)
    hand_on_in_python(server)
    prompt = hand_on_over_mcp(server)
    end = finish_in_typescript(server)

    assert end["intent"] == INTENT
    assert end["constraints"] == {**CONSTRAINTS, **ADDED}
    assert end["path"] == ["c-agent", "python-agent", "mcp-agent", "ts-agent"]
    for text in (prompt, end["prompt"]):
        for line in INTENT.splitlines():
            assert f"> {line}" in text
        assert "- public_api: unchanged" in text and "Python ≥ 3.9" in text
    assert "Derive it from the order id." in end["prompt"]
    with MemorySpine(server.url, space="chain") as spine:
        [task] = [task.id for task in spine.tasks()]
        assert spine.fidelity(task).intent_and_constraints == 1
        assert [one.state for one in spine.trace(task).deliveries] == ["completed"] * 3
