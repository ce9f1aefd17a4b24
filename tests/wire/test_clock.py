"""The wall clock is set back and forward under a real server: deadlines stay where they are, also over a restart.

The server's clock_gettime is a shim's (wrong_clock.c), which shifts the wall clock by what the test writes into a file.
"""

import re
import time
from datetime import datetime, timedelta, timezone

import pytest
import wrong_clock
from api import wait_until
from delivery import Desk, at
from server import StartError, plain_binary

HOUR_S = 3600
BACKOFF_MAX_S = 2.0  # after the first failed attempt
STEERED = 1.1  # a span of time may be off by a tenth


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    return wrong_clock.build(tmp_path_factory.mktemp("shim"))


class Machine:
    """A data directory and a wall clock; servers come and go on it."""

    def __init__(self, start, shim, folder):
        self._start, self._shim, self._folder = start, shim, folder
        self.data = folder / "data"
        self._shift = folder / "shift"
        self._boot = folder / "boot"
        self.set_clock(0)
        self.reboot("first")
        self.server = None
        self.desk = None

    def set_clock(self, shift_s):
        new = self._shift.with_name("shift.new")
        new.write_text(f"{shift_s}\n")
        new.rename(self._shift)

    def reboot(self, name):
        self._boot.write_text(f"boot-{name}\n")

    def run(self, *options):
        self.server = self._start(
            *options,
            data=self.data,
            program=plain_binary(),
            **wrong_clock.environment(self._shim, self._shift, self._boot),
        ).wait_until_ready()
        self.desk = Desk(self.server.address, "clock")
        return self.desk

    def stop(self, kills=True):
        self.desk.close()
        if kills:
            self.server.kill()
        else:
            assert self.server.terminate() == 0, self.server.log_tail()

    def status(self):
        return self.desk.ok("GET", "/v1/status")

    def offset_s(self):
        return self.status()["clock_offset_ms"] / 1000


def in_s(seconds):
    return (datetime.now(timezone.utc) + timedelta(seconds=seconds)).isoformat()


@pytest.fixture
def machine(start, shim, tmp_path):
    machine = Machine(start, shim, tmp_path)
    machine.run()
    yield machine
    machine.desk.close()


def interrupt(machine, how):
    """In the middle of a lease: nothing, or the server ends and is there again."""
    if how != "runs on":
        machine.stop(kills=how == "is killed")
        machine.run()


ways = pytest.mark.parametrize("how", ["runs on", "is killed", "is stopped"])


@ways
def test_a_lease_ends_in_its_time_though_the_clock_is_set_back_an_hour(machine, how):
    handoff = machine.desk.send()
    began = time.monotonic()
    machine.desk.take(lease_s=2)
    machine.set_clock(-HOUR_S)
    interrupt(machine, how)
    again = machine.desk.take(wait_s=20)
    took_s = time.monotonic() - began
    assert (again["id"], again["redelivered"]) == (handoff["id"], True)
    assert 2 / STEERED <= took_s < (2 + BACKOFF_MAX_S) * STEERED + 3


@ways
def test_a_live_lease_survives_that_the_clock_is_set_forward_an_hour(machine, how):
    handoff = machine.desk.send(ack_timeout_s=60)
    got = machine.desk.take(lease_s=60)
    machine.set_clock(HOUR_S)
    interrupt(machine, how)
    assert machine.desk.receive(wait_s=0.5) == []
    assert machine.desk.settle("ack", got)["state"] == "acked"
    assert machine.desk.events(handoff) == ["queued", "leased", "acked"]


@ways
@pytest.mark.parametrize("shift_s", [-HOUR_S, HOUR_S])
def test_time_goes_on_in_one_line(machine, how, shift_s):
    first = machine.desk.send()
    machine.set_clock(shift_s)
    interrupt(machine, how)
    second = machine.desk.send()
    apart_s = at(second["created_at"]) - at(first["created_at"])
    assert 0 <= apart_s < 20
    assert abs(machine.offset_s() + shift_s) < 20


def test_what_waits_for_a_time_waits_though_the_clock_is_set_forward(machine):
    """A day: longer than the time in the queue, the breaker's and a key's."""
    desk = machine.desk
    later = desk.send("later", not_before=in_s(60))
    queued = desk.send("queued", queue_timeout_s=3600)
    body = {"content": "kept", "tags": ["clock"]}
    key = {"Idempotency-Key": "k-1"}
    stored = desk.call("POST", "/v1/memories", body, key)
    for _ in range(3):
        desk.send("dead", max_attempts=1)
        desk.settle("nack", desk.take("dead"), reason="broken")
    assert desk.agent("dead")["breaker"]["state"] == "open"
    machine.set_clock(25 * HOUR_S)
    assert desk.receive("later", wait_s=0.5) == []
    assert (desk.state(later), desk.state(queued)) == ("queued", "queued")
    assert desk.call("POST", "/v1/memories", body, key).json == stored.json
    assert desk.agent("dead")["breaker"]["state"] == "open"


def test_a_delay_is_over_in_its_time_though_the_clock_is_set_back(machine):
    began = time.monotonic()
    machine.desk.send("later", not_before=in_s(2))
    machine.set_clock(-HOUR_S)
    machine.desk.take("later", wait_s=20)
    assert 2 / STEERED - 0.5 < time.monotonic() - began < 2 * STEERED + 3


def test_a_small_difference_is_made_good(machine):
    machine.desk.send()
    machine.set_clock(1)
    assert machine.offset_s() <= -0.5
    wait_until(lambda: abs(machine.offset_s()) < 0.01, "the server's time agrees with the wall clock", 30)


def test_the_difference_is_told(machine):
    machine.desk.send()
    assert abs(machine.offset_s()) < 5
    machine.set_clock(-HOUR_S)
    assert HOUR_S - 20 < machine.offset_s() <= HOUR_S
    text = machine.desk.call("GET", "/metrics").data.decode()
    seconds = float(re.search(r"^spine_clock_offset_seconds (\S+)$", text, re.MULTILINE).group(1))
    assert HOUR_S - 20 < seconds <= HOUR_S
    assert "the wall clock is not where it was" in machine.server.log_tail()
    machine.set_clock(0)
    assert abs(machine.offset_s()) < 5
    assert "agrees with the wall clock again" in machine.server.log_tail()


def test_over_a_reboot_it_is_never_earlier_than_it_was(machine):
    first = machine.desk.send()
    machine.stop()
    machine.reboot("second")
    machine.set_clock(-50 * 365 * 24 * HOUR_S)  # a machine without a battery for its clock
    machine.run()
    apart_s = at(machine.desk.send()["created_at"]) - at(first["created_at"])
    assert 0 <= apart_s < 20


def test_over_a_reboot_the_time_that_it_was_off_has_passed(machine):
    machine.desk.send(ack_timeout_s=600)
    got = machine.desk.take(lease_s=600)
    machine.stop()
    machine.reboot("second")
    machine.set_clock(HOUR_S)
    machine.run()
    again = machine.desk.take(wait_s=20)
    assert (again["id"], again["redelivered"]) == (got["id"], True)
    assert abs(machine.offset_s()) < 5


@pytest.mark.parametrize("file", ["gone", "garbage"])
def test_without_its_file_it_begins_no_earlier_than_what_is_stored(machine, file):
    machine.set_clock(-HOUR_S)
    first = machine.desk.send()
    machine.stop()
    clock = machine.data / "clock"
    clock.unlink()
    if file == "garbage":
        clock.write_text("boot-first 1 9223372036854775807 0123456789abcdef\n")
    machine.run()
    assert 0 <= at(machine.desk.send()["created_at"]) - at(first["created_at"]) < 20


def test_a_person_can_have_it_begin_anew(machine):
    """After the wall clock was far ahead by mistake when the machine was started."""
    machine.stop()
    machine.reboot("second")
    machine.set_clock(365 * 24 * HOUR_S)
    machine.run()
    machine.desk.send()
    machine.set_clock(0)
    machine.stop()
    machine.run()
    assert machine.offset_s() > 364 * 24 * HOUR_S
    machine.stop()
    machine.run("--reset-clock")
    assert abs(machine.offset_s()) < 5
    machine.stop()
    machine.run("--reset-clock")


def test_where_it_cannot_be_kept_the_server_runs_and_says_so(machine):
    machine.stop()
    (machine.data / "clock").unlink()
    (machine.data / "clock").mkdir()
    try:
        machine.run()
    except StartError as error:
        pytest.fail(str(error))
    machine.desk.send()
    assert "the server's time cannot be kept" in machine.server.log.read_text()
