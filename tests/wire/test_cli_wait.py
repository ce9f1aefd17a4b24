"""spine wait: blocks until there is work, takes none of it, and says so by its exit code."""

import os
import signal
import subprocess

import pytest
from api import Api, wait_until

from delivery import waiting_calls
from cli import Cli, Fake, answer, hang_up, offline, spine  # noqa: F401
from cli import FAILED, UNREACHABLE
from cli_delivery import nothing_is_left_running, sent, start, state, taken  # noqa: F401
from server import ROOT, Server

NOTHING, WORK = 0, 2


def waiting(server, space, count=1):
    """Until so many calls wait at the server."""
    api = Api(server.address, space)
    wait_until(
        lambda: waiting_calls(api.call("GET", "/metrics").data.decode()) == count, f"{count} calls wait"
    )
    api.close()


def test_work_that_is_there_is_told_and_not_taken(spine):
    sent(spine)
    found = spine("wait", "coder")
    assert (found.code, found.out) == (WORK, "")
    assert found.err == ("ho-1 (env-1 from analyst) waits for coder; take it with the tool handoff_receive, or with: "
                         "spine receive coder\n")
    assert state(spine)["state"] == "queued" and state(spine)["attempt"] == 1
    assert spine.ok("agent", "coder", "--json").json["last_seen_at"] is None
    assert taken(spine)["id"] == "ho-1"


def test_no_work_within_the_timeout_is_zero(spine):
    assert spine("wait", "coder", "--timeout", "0").code == NOTHING
    over = spine("wait", "coder", "--timeout", "50ms")
    assert (over.code, over.out, over.err) == (NOTHING, "", "")
    assert spine("wait", "coder", "-t", "0", "--json").json == {"handoff": None}


def test_it_wakes_when_work_comes(server, spine):
    process = start(spine, "wait", "coder", "--timeout", "60s", "--json")
    waiting(server, spine.env()["SPINE_SPACE"])
    sent(spine, "tester")
    assert process.poll() is None
    sent(spine, "coder")
    out, err = process.communicate(timeout=30)
    assert process.returncode == WORK and err.startswith("ho-2 (env-2 from analyst) waits for coder")
    assert '"id":"ho-2"' in out


def test_it_outlives_a_restart_of_the_server(tmp_path):
    server = Server(tmp_path / "data").wait_until_ready()
    spine = Cli(tmp_path, SPINE_URL=server.url)
    process = start(spine, "wait", "coder", "--timeout", "60s")
    waiting(server, "default")
    server.kill()
    server = Server(tmp_path / "data", listen=server.url.removeprefix("http://")).wait_until_ready()
    sent(spine)
    assert process.wait(30) == WORK
    assert server.terminate() == 0


def test_a_server_that_drains_sends_it_away_and_it_comes_again(tmp_path):
    nothing, work = {"handoff": None}, {"handoff": {"id": "ho-1", "envelope_id": "env-1", "from": "a"}}
    with Fake(answer(200, nothing), hang_up, answer(503, {"code": "draining", "detail": "the server is stopping"}),
              answer(200, work)) as fake:
        assert Cli(tmp_path, SPINE_URL=fake.url)("wait", "coder").code == WORK
        assert all("/v1/agents/coder/peek?wait_s=" in request[1] for request in fake.requests)


def test_what_goes_wrong_never_looks_like_work(offline, spine):
    assert offline("wait", "coder").code == UNREACHABLE
    for wrong in (["wait"], ["wait", "a", "b"], ["wait", "coder", "--timeout", "soon"], ["wait", "coder", "--nonsense"],
                  ["wait", "coder", "--url", "nonsense:"]):
        assert spine(*wrong).code == FAILED, wrong
    assert spine("wait", "next").code == FAILED
    assert spine("wait", "coder", env={"SPINE_CONFIG": "/nonexistent"}).code == FAILED


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_when_asked(server, spine, number):
    process = start(spine, "wait", "coder")
    waiting(server, spine.env()["SPINE_SPACE"])
    os.kill(process.pid, number)
    assert process.wait(30) == FAILED


def test_help_manual_and_documentation_have_the_same_exit_codes(spine):
    promise = "2 where there is work, which a line on standard error names; 0 where there was none within --timeout; 1"
    manual = subprocess.run(["man", "-l", str(ROOT / "man/spine.1")], capture_output=True, text=True).stdout
    texts = [spine.ok("wait", "--help").out, (ROOT / "docs/cli.md").read_text()]
    for text in texts + ([manual] if manual else []):
        assert promise in " ".join(text.split())


def test_of_those_that_may_be_replaced_the_newest_waits(server, spine):
    space = spine.env()["SPINE_SPACE"]
    runtime = {"XDG_RUNTIME_DIR": str(spine.home)}
    first = start(spine, "wait", "coder", "--timeout", "60s", "--replace", env=runtime)
    other = start(spine, "wait", "tester", "--timeout", "60s", "--replace", env=runtime)
    plain = start(spine, "wait", "coder", "--timeout", "60s", env=runtime)
    waiting(server, space, 3)
    second = start(spine, "wait", "coder", "--timeout", "60s", "--replace", env=runtime)
    out, err = first.communicate(timeout=30)
    assert (first.returncode, out, err) == (NOTHING, "", ""), "being replaced is nothing to tell"
    waiting(server, space, 3)
    sent(spine, "coder")
    for process in (second, plain):
        process.communicate(timeout=30)
        assert process.returncode == WORK
    assert other.poll() is None
    other.send_signal(signal.SIGTERM)
    other.communicate(timeout=30)
    assert not list(spine.home.glob("spine-*-coder*")), "names are not part of paths"
