"""What the server posts (webhooks, alerts, spans) when it has no descriptor for a connection: it is tried again, and nothing is lost."""

import errno
import shutil

import pytest
from api import wait_until
from collector import Collector
from delivery import Desk
from fault_shim import SOCKET, Control, build
from server import plain_binary
from stores import needs_embedded_store
from test_alerts import Receiver, exhaust
from test_webhook import hook, set_hook, wait_for_state  # noqa: F401


@pytest.fixture
def without_sockets(start, tmp_path):
    """A server, and what makes each socket() of it fail; those that accept are not concerned."""
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    library, control = build(tmp_path), Control(tmp_path / "control")
    data = tmp_path / "served"

    def begin(*options):
        return start(*options, data=data, program=plain_binary(), **control.environment(library, data)).wait_until_ready()

    yield begin, control
    control.close()


def starve(control):
    control.arm(SOCKET, errno.EMFILE, at=1, stays=True)


@needs_embedded_store("its sessions with PostgreSQL are sockets, too")
def test_a_webhook_without_a_descriptor_is_a_failed_attempt_that_says_so_and_is_posted_when_there_is_one(without_sockets, hook):  # noqa: F811
    begin, control = without_sockets
    desk = Desk(begin().address, "starved")
    set_hook(desk, hook)
    starve(control)
    handoff = desk.send()
    failed = wait_until(lambda: (seen := desk.look(handoff))["reason"] and seen, "the first attempt has failed")
    assert failed["reason"].startswith("this server cannot open a connection: Too many open files"), failed["reason"]
    assert failed["state"] in ("delayed", "queued", "leased"), failed
    assert control.disarm()[1] >= 1
    hook.answers.put({"status": 200})
    assert hook.next().json["id"] == handoff["id"]
    assert wait_for_state(desk, handoff, "acked")["attempt"] >= 2


@needs_embedded_store("its sessions with PostgreSQL are sockets, too")
def test_an_alert_without_a_descriptor_is_told_when_there_is_one(without_sockets):
    begin, control = without_sockets
    receiver = Receiver()
    try:
        desk = Desk(begin("--alert-webhook", receiver.url).address, "starved")
        starve(control)
        exhaust(desk)
        wait_until(lambda: control.hits() >= 2, "it was tried, and again")
        assert receiver.posts.empty()
        control.disarm()
        assert receiver.posts.get(timeout=60)
    finally:
        receiver.close()


@needs_embedded_store("its sessions with PostgreSQL are sockets, too")
def test_spans_without_a_descriptor_are_sent_when_there_is_one(without_sockets):
    begin, control = without_sockets
    collector = Collector()
    try:
        desk = Desk(begin("--otlp-endpoint", collector.url, "--otlp-interval", "1ms").address, "starved")
        starve(control)
        desk.send()
        desk.settle("ack", desk.take())
        wait_until(lambda: control.hits() >= 1, "it was tried")
        control.disarm()
        collector.wait(1)
    finally:
        collector.close()
