"""The published HandoffClient, as it stands, and the package's own, against the real server. Nothing here sleeps."""

import asyncio
import builtins
import threading
import time
from pathlib import Path

import pytest

from memory_spine import (
    Ack,
    AckTimeoutError,
    CircuitOpenError,
    HandoffError,
    HandoffParkedError,
    MemorySpine,
    SpineError,
)
from memory_spine import deliveries as memory_spine_deliveries

HERE = Path(__file__).resolve().parent
LISTING = HERE / "listing_client.txt"
PUBLISHED = HERE.parents[3] / "shared" / "seed" / "agent-handoff-protocols.txt"
# The published text has lost its indentation. How deep each line stands, in the order of the lines:
DEPTHS = "0001010122222212234554332234555444344422233222332"
SHORT = 0.02


def listing():
    lines = LISTING.read_text(encoding="utf-8").splitlines()
    depths = DEPTHS[: len(lines)]
    return "".join(f"{'    ' * int(depth)}{line}\n" for depth, line in zip(depths, lines))


@pytest.fixture
def naps(monkeypatch):
    """What was slept, without sleeping it."""
    slept = []

    async def nap(seconds):
        slept.append(seconds)

    monkeypatch.setattr(time, "sleep", slept.append)
    monkeypatch.setattr(asyncio, "sleep", nap)
    return slept


@pytest.fixture
def published():
    names = {}
    exec(compile(listing(), "<listing>", "exec"), names)
    return names


def receiver(client):
    return lambda: client.agent("coder").run(lambda handoff: None, max=1)


# --- The published one ---------------------------------------------------------------------------


def test_the_client_listing_is_the_published_one():
    if not PUBLISHED.exists():
        pytest.skip("the published text is not beside this repository")
    assert LISTING.read_text(encoding="utf-8") in PUBLISHED.read_text(encoding="utf-8")


def test_the_listing_was_indented_and_not_changed():
    lines = LISTING.read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(DEPTHS)
    assert [line.strip() for line in listing().splitlines()] == lines


def test_the_published_client_returns_the_ack(other, published, in_thread, naps):
    packed = other.agent_handoff("coder", "go")
    in_thread(receiver(other))
    client = published["HandoffClient"](other)
    ack = client.send_handoff(packed, "coder")
    assert type(ack) is Ack and (ack.state, ack.to, ack.envelope_id) == ("acked", "coder", packed.id)
    assert (client.failure_count, client.circuit_open, naps) == (0, False, [])


def test_the_published_client_retries_and_parks(other, published, naps):
    packed = other.agent_handoff("coder", "go")
    client = published["HandoffClient"](other, max_retries=3, timeout=SHORT)
    with pytest.raises(published["HandoffError"]) as caught:
        client.send_handoff(packed, "coder")
    assert str(caught.value).startswith("Handoff to coder failed after 3 attempts: coder did not ack in time")
    assert naps == [2, 4, 8]
    (parked,) = other.parked()
    assert (parked.envelope_id, parked.attempt, parked.to) == (packed.id, 3, "coder")
    assert "did not ack in time" in parked.reason
    assert len(other.handoffs().all()) == 1, "three attempts, one handoff"


def test_the_published_client_gets_through_on_a_later_attempt(other, published, monkeypatch):
    packed = other.agent_handoff("coder", "go")
    client = published["HandoffClient"](other, timeout=SHORT)
    taken = []

    def instead_of_sleeping(seconds):
        """Between the attempts a receiver comes up; the next attempt has time for it."""
        client.timeout = 20
        thread = threading.Thread(target=lambda: taken.extend(other.agent("coder").receive(wait_s=20)))
        thread.start()
        threads.append(thread)
        threads.append(threading.Thread(target=lambda: (thread.join(), taken[0].ack())))
        threads[-1].start()

    threads = []
    monkeypatch.setattr(time, "sleep", instead_of_sleeping)
    ack = client.send_handoff(packed, "coder")
    for thread in threads:
        thread.join()
    assert (ack.state, ack.attempt) == ("acked", 2)


def test_the_published_clients_circuit_opens_after_three(other, published, naps, monkeypatch):
    client = published["HandoffClient"](other, max_retries=2, timeout=SHORT)
    for _ in range(3):
        with pytest.raises(published["HandoffError"]):
            client.send_handoff(other.agent_handoff("coder", "go"), "coder")
    assert client.circuit_open and len(other.parked().all()) == 3
    packed = other.agent_handoff("coder", "go")
    with pytest.raises(published["CircuitOpenError"]) as caught:
        client.send_handoff(packed, "coder")
    assert str(caught.value).startswith("Circuit open for coder. Resets at ")
    # The server's own breaker has opened with it: the next one is refused there, even where the client would try.
    monkeypatch.setattr(client, "circuit_open", False)
    with pytest.raises(CircuitOpenError):
        client.send_handoff(packed, "coder")
    other.reset_breaker("coder")
    with pytest.raises(published["HandoffError"]):
        client.send_handoff(packed, "coder")


# --- Ours ----------------------------------------------------------------------------------------


def test_send_handoff_returns_the_ack(spine, other, handoff_client, in_thread, naps):
    packed = spine.agent_handoff("coder", "go")
    in_thread(receiver(other))
    ack = handoff_client(spine).send_handoff(packed, "coder")
    assert type(ack) is Ack and (ack.state, ack.envelope_id, naps) == ("acked", packed.id, [])


def test_retries_are_attempts_of_one_handoff_and_end_in_parked(spine, other, handoff_client, naps):
    packed = spine.agent_handoff("coder", "go")
    with pytest.raises(HandoffError) as caught:
        handoff_client(spine, max_retries=3, timeout=SHORT).send_handoff(packed, "coder")
    assert str(caught.value).startswith("Handoff to coder failed after 3 attempts: coder did not ack in time")
    assert isinstance(caught.value.__cause__, AckTimeoutError)
    assert caught.value.code == "ack_timeout"
    assert len(naps) == 2, "none after the last"
    assert 1 <= naps[0] <= 2 <= naps[1] <= 4
    (parked,) = other.parked()
    assert caught.value.handoff == parked.id and f"It is parked as {parked.id}:" in str(caught.value)
    for text in (str(caught.value), parked.reason):
        assert "did not ack in time" in text and "deliver again" not in text and "park the envelope" not in text
    assert (parked.envelope_id, parked.attempt) == (packed.id, 3)
    assert len(other.handoffs().all()) == 1


def test_the_pauses_differ_so_that_senders_do_not_come_together(spine, handoff_client, naps):
    client = handoff_client(spine, max_retries=2, timeout=SHORT)
    for name in ("a", "b", "c", "d"):
        with pytest.raises(SpineError):
            client.send_handoff(spine.agent_handoff(name, "go"), name)
    assert len(set(naps)) == 4


def test_circuits_are_kept_by_target_and_shared_by_all_senders(spine, other, handoff_client, naps, in_thread):
    mine, theirs = handoff_client(spine, max_retries=1, timeout=SHORT), handoff_client(other, timeout=20)
    assert mine.circuit("dead").state == "closed"
    for _ in range(3):
        with pytest.raises(HandoffError):
            mine.send_handoff(spine.agent_handoff("dead", "go"), "dead")
    packed = other.agent_handoff("dead", "go")
    with pytest.raises(CircuitOpenError) as caught:
        theirs.send_handoff(packed, "dead")
    assert caught.value.reset_at is not None
    assert packed.id not in {one.envelope_id for one in other.parked()}, "it was not sent, and can be later"
    circuit = mine.circuit("dead")
    assert (circuit.state, circuit.failures) == ("open", 3)
    in_thread(receiver(other))
    assert theirs.send_handoff(other.agent_handoff("coder", "go"), "coder").state == "acked"


def test_what_was_parked_by_somebody_is_told_at_once(spine, handoff_client, naps):
    packed = spine.agent_handoff("coder", "go")
    spine.park_envelope(packed, "on hold")
    with pytest.raises(HandoffParkedError):
        handoff_client(spine).send_handoff(packed, "coder")
    assert naps == []


def test_a_draft_is_packed_once(spine, other, handoff_client, naps):
    with pytest.raises(HandoffError):
        handoff_client(spine, max_retries=2, timeout=SHORT).send_handoff({"task_summary": "draft"}, "coder")
    (parked,) = other.parked()
    assert parked.attempt == parked.max_attempts == 2
    assert len(other.tasks().all()) == 1


def test_somebody_elses_ack_counts(spine, other, handoff_client, monkeypatch, naps):
    """Acked between the last timeout and the parking: there is nothing to park, and nothing has failed."""
    packed = other.agent_handoff("coder", "go")
    park = memory_spine_deliveries.park_envelope

    def acked_first(*args, **kwargs):
        other.send(packed)
        other.agent("coder").receive()[0].ack()
        return (yield from park(*args, **kwargs))

    inner = getattr(spine, "_inner", spine)
    if inner is spine:
        monkeypatch.setattr(spine, "park_envelope", lambda *a, **k: spine._run(acked_first(*a, **k)), raising=False)
    else:
        monkeypatch.setattr(inner, "park_envelope", lambda *a, **k: inner._run(acked_first(*a, **k)), raising=False)
    ack = handoff_client(spine, max_retries=1, timeout=SHORT).send_handoff(packed.id, "coder")
    assert ack.state == "acked"


def test_a_server_that_is_gone_is_an_error_that_says_so(start_server, handoff_client, naps):
    server = start_server()
    with MemorySpine(server.url, retries=0) as spine:
        packed = spine.agent_handoff("coder", "go")
        server.kill()
        with pytest.raises(HandoffError) as caught:
            handoff_client(spine, max_retries=2, timeout=0.05).send_handoff(packed, "coder")
    assert isinstance(caught.value.__cause__, builtins.ConnectionError)
    assert caught.value.code == "connect_failed"


@pytest.mark.parametrize("options", [{"max_retries": 0}, {"timeout": 0}])
def test_a_policy_that_cannot_be_is_refused(spine, handoff_client, options):
    with pytest.raises(ValueError):
        handoff_client(spine, **options)
