"""The programs of examples/ do what their texts say, against a server of their own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from server import ROOT, Server, binary, clean_environment  # noqa: E402

EXAMPLES = ROOT / "examples"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = Server(tmp_path_factory.mktemp("server") / "data").wait_until_ready()
    yield running
    assert running.terminate() == 0, running.log_tail()


def run(server, *command, stdin=None):
    environment = clean_environment(
        SPINE_URL=server.url,
        PYTHONPATH=str(ROOT / "sdk" / "python"),
        PATH=f"{binary().parent}{os.pathsep}{os.environ['PATH']}",
    )
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=60, env=environment, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_four_agents_hand_on_and_the_last_one_knows_everything(server):
    printed = run(server, sys.executable, str(EXAMPLES / "pipeline" / "pipeline.py"))
    prompt, end = printed.rsplit("\nreviewer: ", 1)
    for kept in (
        "> Customers are charged twice when the network is slow.",  # the user's words
        "- public_api: unchanged",  # a constraint of the first hop
        "- max_retries: 3",  # one of the third
        "`Make the request id from the order id.`",  # the analyst's decision
        "`retry.py: request_id = sha256(order_id)",  # the coder's result
    ):
        assert kept in prompt
    assert end == (
        "Approved: the public API is unchanged, and a retry cannot charge twice.\n"
        "intent and constraints kept over all hops: 100%\n"
    )


def test_a_review_goes_round_until_the_reviewer_is_content(server):
    printed = run(server, sys.executable, str(EXAMPLES / "review-loop" / "review_loop.py"))
    assert printed.splitlines() == [
        "coder: Version 1 of retry.py.",
        "reviewer: Retries need a limit.",
        "coder: Version 2 of retry.py.",
        "reviewer: The limit needs a test.",
        "coder: Version 3 of retry.py.",
        "reviewer: Approved.",
    ]


def test_a_shell_script_is_an_agent(server):
    script = str(EXAMPLES / "shell-agent" / "summarise.sh")
    run(server, "spine", "send", "--to", "summariser", "Summarise the week.", "--from", "lead")
    run(server, "spine", "receive", "summariser", "--", script)
    assert "It has a task." in run(server, "spine", "get", "ho-1")
    stored = json.loads(run(server, "spine", "list", "--json"))["memories"]
    assert {(m["kind"], m["agent"], m["task"]) for m in stored} == {("note", "summariser", "task-1"), ("output", "summariser", "task-1")}
