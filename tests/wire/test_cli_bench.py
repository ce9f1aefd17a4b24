"""spine bench: a load test in a space of its own, with a verdict."""

import json
import re
import signal
import urllib.request

import pytest

from cli import Cli, offline, spine  # noqa: F401
from cli import FAILED, OK, UNREACHABLE, USAGE
from cli_delivery import nothing_is_left_running, start, wait_for  # noqa: F401
from server import Server

STAGES = ["pack", "queue", "deliver", "ack", "whole"]


def spaces(spine):
    return [space["name"] for space in spine.ok("spaces", "--limit", "1000", "--json").json["spaces"]]


def removes_spaces(spine):
    """Whether the server has the call; a bench against one that has not says what stays."""
    with urllib.request.urlopen(spine.environment["SPINE_URL"] + "/openapi.json") as answer:
        return "delete" in json.load(answer)["paths"].get("/v1/spaces/{name}", {})


def test_each_stage_is_measured_for_each_number(spine):
    before = spaces(spine)
    document = spine.ok("bench", "-c", "3", "-c", "20", "--rounds", "4", "--json").json
    assert document["healthy"] is True and re.fullmatch("bench-[0-9a-f]{8}", document["space"])
    assert [level["concurrent"] for level in document["levels"]] == [3, 20]
    for level in document["levels"]:
        count = level["concurrent"] * 4
        assert (level["planned"], level["acked"], level["failed"], level["whole"]) == (count, count, 0, True)
        assert level["completeness"] == level["completeness_min"] == 1 and level["failure_rate"] == 0
        assert level["verdict"] == {"failure_rate": "healthy", "completeness": "healthy", "latency": "healthy"}
        assert list(level["latency_ms"]) == STAGES
        for stage in STAGES:
            one = level["latency_ms"][stage]
            assert one["count"] == count and 0 < one["p50"] <= one["p95"] <= one["p99"] <= one["max"] < 60000
        assert level["latency_ms"]["whole"]["p50"] >= level["latency_ms"]["ack"]["p50"]
    assert document["space_removed"] is removes_spaces(spine)
    assert (spaces(spine) == before) is document["space_removed"]


def test_the_space_stays_where_it_is_to_be_kept(spine):
    done = spine.ok("bench", "-c", "2", "-r", "3", "--keep", "--json")
    name = done.json["space"]
    assert f"(the space {name} stays: --keep was given)" in done.err and name in spaces(spine)
    handoffs = spine.ok("handoffs", "--space", name, "--limit", "1000", "--json").json["handoffs"]
    assert [handoff["state"] for handoff in handoffs] == ["acked"] * 6
    assert len(spine.ok("list", "--space", name, "--limit", "1000", "--json").json["memories"]) == 200


def test_people_read_a_table_and_a_verdict(spine):
    text = spine.ok("bench", "-c", "5", "-r", "2").out
    assert re.match(r"5 at a time: 10 handoffs in \d+\.\d s, \d+ a second\nSTAGE +P50 MS +P95 MS +P99 MS +MAX MS\n", text)
    assert [line.split()[0] for line in text.splitlines()[2:7]] == STAGES
    assert text.count("\nhealthy ") == 3


def test_on_a_terminal_it_shows_how_far_it_is(spine):
    code, shown = spine.on_terminal("bench", "-c", "20", "-r", "20")
    assert code == OK and re.search(r"\[#*-*\] +\d+% +\d+ handoffs, 20 at a time", shown)


def test_another_machine_is_not_put_under_load_by_mistake(offline):
    away = offline("bench", "--url", "http://192.0.2.1:9")
    assert away.code == USAGE and "--yes-remote" in away.err
    told = offline("bench", "--url", "http://192.0.2.1:9", "--yes-remote", "--timeout", "100ms")
    assert told.code == UNREACHABLE


@pytest.mark.parametrize("wrong", [
    ["-c", "0"], ["-c", "5001"], ["-c", "many"], ["--rounds", "0"], ["--space", "mine"], ["x"],
    [word for _ in range(9) for word in ("-c", "1")],
])
def test_a_wrong_command_line_does_nothing(offline, wrong):
    assert offline("bench", *wrong).code == USAGE


def test_ctrl_c_ends_it_with_what_it_has(spine):
    before = set(spaces(spine))
    process = start(spine, "bench", "-c", "10", "-r", "1000", "--json")
    wait_for(lambda: set(spaces(spine)) - before, "it has begun")
    (name,) = set(spaces(spine)) - before
    wait_for(lambda: spine.ok("handoffs", "--space", name, "--json").json["handoffs"], "handoffs are under way")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    document = json.loads(out)
    (level,) = document["levels"]
    assert process.returncode == FAILED and document["healthy"] is False
    assert level["whole"] is False and level["acked"] < level["planned"] == 10000
    assert document["space_removed"] is removes_spaces(spine)


def test_its_time_is_bounded(spine):
    level = spine("bench", "-c", "10", "-r", "1000", "--max-time", "1s", "--json").json["levels"][0]
    assert level["whole"] is False and 0.9 < level["seconds"] < 10 and level["failed"] == 0 and level["acked"] > 0


def test_what_fails_is_counted_and_said(tmp_path):
    """A server that takes only a few connections refuses the others."""
    server = Server(tmp_path / "data", "--max-connections", "12").wait_until_ready()
    spine = Cli(tmp_path, SPINE_URL=server.url)
    done = spine("bench", "-c", "20", "-r", "2", "--max-time", "5s", "--json")
    (level,) = done.json["levels"]
    assert done.code == FAILED and level["failed"] > 0 and level["verdict"]["failure_rate"] == "sick"
    assert level["first_failure"]
    server.kill()
