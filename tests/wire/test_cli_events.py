"""spine tail and spine audit."""

import json
import os
import signal
import subprocess

import pytest
from cli import FAILED, OK, UNREACHABLE, USAGE, Cli, Fake, have, offline, spine, stored  # noqa: F401
from server import binary

EVIL = "evil\x1b]0;title\x07 \x1b[2J\u009b31m \u202etxt.exe\x7f"


class Tail:
    """A tail that runs while the test goes on."""

    def __init__(self, cli, *args):
        self.process = subprocess.Popen([str(binary()), "tail", *args], env=cli.env(), cwd=cli.home, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def line(self):
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()
        return line

    def stop(self, number=signal.SIGINT):
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=30)
        assert "Sanitizer" not in err
        return self.process.returncode, out, err


@pytest.fixture
def tail(spine):
    running = []

    def begin(*args, cli=None):
        running.append(Tail(cli or spine, *args))
        return running[-1]

    yield begin
    for one in running:
        if one.process.poll() is None:
            one.process.kill()
            one.process.communicate()


def test_tail_prints_a_line_for_each_event_as_it_happens(spine, tail):
    following = tail("--after", "0")
    stored(spine, "hello", "--agent", "ann")
    assert following.line().split()[2:] == ["memory.stored", "ms-1", "by", "ann"]
    spine.ok("send", "--to", "coder", "Go.", "--from", "ann")
    assert following.line().split()[2:4] == ["handoff.queued", "ho-1"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_tail_ends_well_when_it_is_asked_to(spine, tail, number):
    stored(spine, "hello")
    following = tail("--after", "0")
    following.line()
    assert following.stop(number) == (OK, "", "")


def test_tail_with_json_prints_the_events_themselves(spine):
    stored(spine, "one")
    stored(spine, "two")
    lines = spine.ok("tail", "--after", "0", "--count", "2", "--json").out.splitlines()
    assert [json.loads(line)["subject"] for line in lines] == ["ms-1", "ms-2"]


def test_tail_takes_types(spine):
    stored(spine, "one")
    spine.ok("pin", "ms-1")
    result = spine.ok("tail", "--after", "0", "--count", "1", "--type", "memory.pinned", "--type", "handoff.")
    assert "memory.pinned" in result.out and "memory.stored" not in result.out


def test_tail_refuses_a_type_that_there_is_not_before_it_follows(spine):
    result = spine("tail", "--type", "nonsense.")
    assert result.code == FAILED and "nonsense." in result.err and result.out == ""


def test_tail_says_when_nothing_listens(offline):
    assert offline("tail").code == UNREACHABLE


def test_tail_goes_on_over_a_restart_without_a_gap_or_a_repetition(start, tmp_path, tail):
    data = tmp_path / "data"
    server = start(data=data).wait_until_ready()
    cli = Cli(tmp_path, SPINE_URL=server.url)
    following = tail("--after", "0", "--json", cli=cli)
    listen = f"{server.address[0]}:{server.address[1]}"
    seen = []
    for n in range(9):
        stored(cli, str(n))
        if n % 3 == 2:
            seen += [json.loads(following.line())["subject"] for _ in range(3)]
            server.kill()
            server = start(data=data, listen=listen).wait_until_ready()
    stored(cli, "last")
    seen.append(json.loads(following.line())["subject"])
    assert seen == [f"ms-{n + 1}" for n in range(10)]
    code, out, err = following.stop()
    assert (code, out) == (OK, "") and "connection was lost" in err
    server.kill()


def test_what_others_wrote_is_safe_to_print(spine):
    spine.ok("send", "--to", "coder", "Go.", "--from", "analyst")
    spine.ok("receive", "coder", "--json")
    spine.ok("nack", "ho-1.1", EVIL)
    for args in (["tail", "--after", "0", "--type", "handoff.nacked", "--count", "1"], ["audit", "--action", "handoff.nack"]):
        out = spine.ok(*args).out
        assert "evil" in out and not any(c in out for c in "\x1b\x07\x7f\u009b\u202e"), out


def test_audit_is_a_table_with_the_newest_first(spine):
    stored(spine, "one", "--agent", "ann")
    stored(spine, "two", "--supersedes", "ms-1")
    rows = [line.split() for line in spine.ok("audit").out.splitlines()]
    assert rows[0][:4] == ["AT", "BY", "ACTION", "OBJECT"]
    assert [row[1:4] for row in rows[1:]] == [["-", "memory.store", "ms-2"], ["-", "memory.supersede", "ms-1"], ["ann", "memory.store", "ms-1"]]
    oldest = spine.ok("audit", "--oldest", "--json").json["entries"]
    assert [entry["object"] for entry in oldest] == ["ms-1", "ms-1", "ms-2"]


def test_audit_takes_filters(spine):
    stored(spine, "one", "--agent", "ann")
    stored(spine, "two", "--agent", "ben")

    def found(*args):
        return [entry["object"] for entry in spine.ok("audit", "--json", *args).json["entries"]]

    assert found("--actor", "ann") == ["ms-1"] and found("--object", "ms-2") == ["ms-2"]
    assert found("--action", "memory.forget") == [] and found("--since", "1h") == ["ms-2", "ms-1"]
    assert found("--until", "1h") == [] and found("--limit", "1") == ["ms-2"]


def test_audit_goes_on_until_it_finds_something(tmp_path):
    """The server looks through a part of a long history at a time."""
    empty = {"entries": [], "next_page_token": "more"}
    entry = {"id": 1, "at": "2026-01-30T00:00:00.000Z", "actor": "ann", "action": "memory.store", "object": "ms-1", "space": "default",
             "agent": None, "note": None}
    answers = [lambda h: h.reply(200, empty), lambda h: h.reply(200, empty), lambda h: h.reply(200, {"entries": [entry], "next_page_token": None})]
    with Fake(*answers) as fake:
        assert "ms-1" in Cli(tmp_path, SPINE_URL=fake.url).ok("audit", "--actor", "ann").out
        assert ["page_token=more" in request[1] for request in fake.requests] == [False, True, True]


def test_audit_refuses_a_time_that_is_none(spine):
    assert spine("audit", "--since", "yesterday").code == USAGE


def test_the_examples_of_the_help_work(spine, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "spine").symlink_to(binary())
    env = spine.env({"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"})
    stored(spine, "one")
    for name in ("tail", "audit"):
        block = spine.ok(name, "--help").out.split("Examples:\n")[1].split("\n\n")[0]
        for line in map(str.strip, block.splitlines()):
            if "jq" in line and not have("jq"):
                continue
            done = subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=tmp_path, env=env, capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, timeout=60)
            assert done.returncode == OK, f"{line}\n{done.stdout}{done.stderr}"
