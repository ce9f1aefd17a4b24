"""spine top and spine status: the figures for people."""

import json
import os
import pty
import select
import subprocess
import time

import pytest
from api import wait_until
from delivery import Desk
from server import binary, clean_environment


def spine(server, *arguments, space="default"):
    return subprocess.run([str(binary()), *arguments, "--url", server.url, "--space", space], capture_output=True, text=True,
                          env=clean_environment(COLUMNS="120"), timeout=60, check=False)


@pytest.fixture
def busy(desk):
    for _ in range(3):
        desk.send("coder", max_attempts=1)
    desk.settle("ack", desk.take("coder"))
    desk.settle("nack", desk.take("coder"), reason="no")
    return desk


def test_top_prints_once_where_there_is_no_terminal(server, busy):
    done = spine(server, "top", space=busy.space)
    assert done.returncode == 0, done.stderr
    assert "\033" not in done.stdout
    for text in ("Memory Spine", busy.space, "handoffs  3", "failed 1 of 3 (33 %)", "p99", "queued 1", "parked 1", "coder"):
        assert text in done.stdout, done.stdout


def test_top_gives_the_answer_of_the_server_as_json(server, busy):
    answer = json.loads(spine(server, "top", "--window", "1h", "--json", space=busy.space).stdout)
    assert (answer["window"], answer["overall"]["handoffs"]) == ("1h", 3)


def test_top_in_a_terminal_refreshes_and_q_quits(server, busy):
    master, slave = pty.openpty()
    process = subprocess.Popen([str(binary()), "top", "--url", server.url, "--space", busy.space], stdin=slave, stdout=slave, stderr=slave,
                               env=clean_environment(TERM="xterm"))
    os.close(slave)
    seen, deadline = b"", time.monotonic() + 30
    # Two screens: it was drawn anew.
    while seen.count(b"Memory Spine") < 2 and time.monotonic() < deadline:
        if select.select([master], [], [], 1)[0]:
            seen += os.read(master, 65536)
    assert b"\033[?1049h" in seen and seen.count(b"Memory Spine") >= 2
    os.write(master, b"q")
    try:
        while chunk := os.read(master, 65536):
            seen += chunk
    except OSError:  # the terminal's other end is closed
        pass
    assert process.wait(30) == 0
    assert b"\033[?1049l" in seen
    os.close(master)


def test_hostile_names_do_not_reach_the_terminal(server, desk):
    desk.pack("\u202eleft")
    done = spine(server, "top", space=desk.space)
    assert "\u202e" not in done.stdout and "\\u202e" in done.stdout


def test_a_server_that_is_not_there_is_said(tmp_path):
    done = subprocess.run([str(binary()), "top", "--url", "http://127.0.0.1:9"], capture_output=True, text=True, env=clean_environment(),
                          timeout=60, check=False)
    assert done.returncode == 5 and done.stderr


def test_status_tells_of_delivery(server, busy):
    done = spine(server, "status", space=busy.space)
    assert done.returncode == 0, done.stderr
    assert "The last five minutes:" in done.stdout and "failed 1" in done.stdout


def test_alerts_are_shown_with_who_has_seen_them(start):
    server = start().wait_until_ready()
    desk = Desk(server.address, "default")
    desk.send("bad", max_attempts=1)
    desk.settle("nack", desk.take("bad"), reason="no")
    alert = wait_until(lambda: desk.ok("GET", "/v1/alerts")["alerts"], "it fires")[0]
    desk.ok("POST", f"/v1/alerts/{alert['id']}/ack", {"by": "ada"})
    for command in ("top", "status"):
        done = spine(server, command)
        assert alert["summary"] in done.stdout and "seen by ada" in done.stdout, done.stdout
    desk.close()


# --- spine alerts ---


def test_alerts_lists_what_fires_and_the_rules_in_force(start):
    server = start("--alert-latency", "3s").wait_until_ready()
    done = spine(server, "alerts")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["alerts", "none"]
    for name, limit in (("latency_high", "above 3 s"), ("handoff_failed", "at least 1 handoff "),
                        ("failure_rate_high", "above 2 %"), ("completeness_low", "below 95 %"),
                        ("hop_depth_high", "above the usual"), ("breaker_open", "critical, pages")):
        assert any(line.startswith(name) and limit in line for line in lines), (name, done.stdout)
    answer = json.loads(spine(server, "alerts", "list", "--state", "all", "--json").stdout)
    assert (answer["alerts"], len(answer["rules"])) == ([], 17)


def test_alerts_are_acknowledged_and_silenced(server, busy):
    def of_space(*arguments):
        return spine(server, "alerts", *arguments, space=busy.space)

    def failed():
        return [one for one in json.loads(of_space("--json").stdout)["alerts"] if one["name"] == "handoff_failed"]

    [alert] = wait_until(failed, "an alert")
    assert "used up the attempts" in of_space().stdout
    done = of_space("ack", alert["id"], "--by", "ada")
    assert (done.returncode, "seen by ada" in done.stdout) == (0, True), done.stderr
    silenced = json.loads(of_space("silence", alert["id"], "--for", "90s", "--why", "known", "--by", "ada", "--json").stdout)
    assert silenced["alerts"][0]["silenced_why"] == "known"
    assert "needs --for" in of_space("silence", alert["id"]).stderr
    assert of_space("ack", "al-999999", "--by", "ada").returncode == 3
