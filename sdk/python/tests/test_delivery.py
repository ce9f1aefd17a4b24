"""Sending handoffs, and what becomes of them, against the real server. Each test holds for both clients."""

import builtins
import pickle
import time

import pytest
from peer import Peer

import memory_spine
from memory_spine import (
    Ack,
    AckTimeoutError,
    CircuitOpenError,
    Conflict,
    HandoffConflict,
    HandoffError,
    HandoffParkedError,
    HopLimit,
    MemorySpine,
    NoRoute,
    NotFound,
    RoutingLoop,
    SpineError,
    ValidationError,
)

SHORT = 0.02


def ack_one(client, agent, **options):
    (handoff,) = client.agent(agent).receive(wait_s=20)
    handoff.ack(**options)


def fail_to(spine, agent, times=3):
    """Lets that many handoffs to an agent use up their attempts, which opens its breaker."""
    for _ in range(times):
        with pytest.raises(AckTimeoutError):
            spine.deliver_handoff(spine.agent_handoff(agent, "go"), timeout=SHORT, max_attempts=1)


# --- Direct --------------------------------------------------------------------------------------


def test_deliver_returns_the_ack(connect, server, space, other, in_thread):
    spine = connect(server.url, space=space, agent="analyst")
    handoff = spine.agent_handoff("coder", "go")
    in_thread(ack_one, other, "coder")
    ack = spine.deliver_handoff(handoff, timeout=20)
    assert type(ack) is Ack
    assert (ack.state, ack.attempt, ack.to, ack.to_agent, ack.from_agent) == ("acked", 1, "coder", "coder", "analyst")
    assert ack.handoff == ack.id and ack.id.startswith("ho-")
    assert ack.envelope_id == handoff.id
    assert ack.acked_at >= ack.created_at >= handoff.created_at
    assert ack.notices == []


def test_deliver_goes_to_another_agent_where_one_is_named(spine, other, in_thread):
    handoff = spine.agent_handoff("coder", "go")
    in_thread(ack_one, other, "tester")
    assert spine.deliver_handoff(envelope=handoff, target="tester", timeout=20).to == "tester"


@pytest.mark.parametrize("form", ["handoff", "id", "dict", "draft", "v1"])
def test_deliver_takes_an_envelope_in_any_form(spine, other, in_thread, form):
    handoff = spine.agent_handoff("coder", "go")
    given = {
        "handoff": handoff,
        "id": handoff.id,
        "dict": handoff.raw,
        "draft": {"task_summary": "draft", "target_agent": "coder"},
        "v1": {"version": 1, "target": "coder", "summary": "flat", "constraints": {}, "history": [], "memory_ids": []},
    }[form]
    in_thread(ack_one, other, "coder")
    ack = spine.deliver_handoff(given, "coder", 20)
    if form in ("draft", "v1"):
        assert spine.envelope(ack.envelope_id).summary == {"draft": "draft", "v1": "flat"}[form]
    else:
        assert ack.envelope_id == handoff.id


def test_a_draft_is_packed_and_sent_in_one_step(spine):
    sent = spine.send({"task_summary": "one step"}, "coder")
    assert (sent.state, sent.to) == ("queued", "coder")
    envelope = spine.envelope(sent.envelope_id)
    assert (envelope.summary, envelope.to_agent) == ("one step", "coder")


def test_delivering_after_the_ack_returns_it(spine, other, in_thread):
    handoff = spine.agent_handoff("coder", "go")
    in_thread(ack_one, other, "coder")
    first = spine.deliver_handoff(handoff, timeout=20)
    again = spine.deliver_handoff(handoff, timeout=20)
    assert (again.id, again.acked_at) == (first.id, first.acked_at)


def test_no_ack_in_time_is_a_timeout_and_the_next_try_the_next_attempt(spine):
    handoff = spine.agent_handoff("nobody", "go")
    for attempt in (1, 2):
        with pytest.raises(builtins.TimeoutError) as caught:
            spine.deliver_handoff(handoff, timeout=SHORT)
        error = caught.value
        assert isinstance(error, (HandoffError, memory_spine.TimeoutError)) and type(error) is AckTimeoutError
        assert (error.code, error.status, error.retryable) == ("ack_timeout", 504, True)
        delivery = spine.handoff(error.handoff)
        assert (delivery.state, delivery.attempt) == ("expired", attempt)
    assert [event.event for event in delivery.events] == ["handoff.queued", "handoff.expired"] * 2


@pytest.mark.parametrize("timeout", [0, -1, float("nan")])
def test_a_delivery_that_would_not_wait_is_refused(spine, timeout):
    with pytest.raises(ValueError):
        spine.deliver_handoff("env-1", timeout=timeout)


def test_an_envelope_that_is_not_there_is_not_found(spine):
    for call in (spine.send, lambda id: spine.deliver_handoff(id, timeout=1), lambda id: spine.park_envelope(id, "x")):
        with pytest.raises(NotFound) as caught:
            call("env-99")
        assert caught.value.code == "envelope_not_found"
    for bad in (17, None):
        with pytest.raises(TypeError):
            spine.send(bad)
    with pytest.raises(ValueError):
        spine.send(spine.agent_handoff("b", "go", dry_run=True))
    with pytest.raises(ValueError):
        spine.park_envelope({"task_summary": "never packed"}, "x")


def test_deliver_outlives_a_restart_of_the_server(connect, start_server, in_thread):
    """The server is killed while the sender waits; the receiver comes after the restart."""
    first = start_server()
    spine = connect(first.url)
    handoff = spine.agent_handoff("coder", "go")

    def restart():
        with MemorySpine(first.url) as watcher:
            while not watcher.handoffs(state="queued").all():
                pass
        first.kill()
        second = start_server(first.data, listen=first.url.partition("//")[2])
        with MemorySpine(second.url) as receiver:
            ack_one(receiver, "coder")

    in_thread(restart)
    ack = spine.deliver_handoff(handoff, timeout=30)
    assert (ack.id, ack.state, ack.attempt) == ("ho-1", "acked", 1)


def test_a_server_that_is_not_there_is_waited_for_no_longer_than_the_timeout(connect):
    with Peer(lambda channel: None) as peer:
        spine = connect(peer.url)
        began = time.monotonic()
        with pytest.raises(memory_spine.ConnectionError):
            spine.deliver_handoff("env-1", timeout=0.3)
        assert time.monotonic() - began < 5
    assert len(peer.requests) == 0 and peer.connections >= 2


def test_a_server_that_never_answers_ends_in_a_timeout(connect):
    def silent(channel):
        channel.read()
        channel.read()

    with Peer(silent) as peer:
        spine = connect(peer.url, timeout=0.05)
        with pytest.raises(builtins.TimeoutError) as caught:
            spine.deliver_handoff("env-1", timeout=0.05)
    assert caught.value.code == "timeout"


# --- Without waiting -----------------------------------------------------------------------------


def test_send_does_not_wait(connect, server, space):
    spine = connect(server.url, space=space, agent="analyst")
    handoff = spine.agent_handoff("coder", "go")
    sent = spine.send(handoff, ack_timeout_s=33, max_attempts=5, fallbacks=["tester", "doc"], priority=9)
    assert (sent.state, sent.attempt, sent.max_attempts, sent.priority) == ("queued", 1, 5, 9)
    assert (sent.fallbacks, sent.target, sent.acked_at) == (["tester", "doc"], "coder", None)
    assert abs(sent.lease_s - 5 * 33) < 0.01, "then a fallback gets it, where nobody is there"
    assert spine.send(handoff).id == sent.id
    assert spine.handoff(sent).events[0].event == "handoff.queued"


@pytest.mark.parametrize(
    "options, field",
    [({"priority": 10}, "priority"), ({"max_attempts": 0}, "max_attempts"), ({"ack_timeout_s": -1}, "ack_timeout_s")],
)
def test_options_that_cannot_be_are_refused(spine, options, field):
    handoff = spine.agent_handoff("coder", "go")
    with pytest.raises(ValidationError) as caught:
        spine.send(handoff, **options)
    assert caught.value.field == field
    with pytest.raises(TypeError):
        spine.send(handoff, fallbacks="tester")


def test_handoffs_are_listed_by_what_they_are(connect, server, space):
    spine = connect(server.url, space=space, agent="analyst")
    envelopes = [spine.agent_handoff("coder", "go") for _ in range(3)]
    sent = [spine.send(one) for one in envelopes] + [spine.send(envelopes[0], "tester")]
    (taken,) = spine.agent("tester").receive()
    taken.ack()
    ids = {one.id for one in sent}
    assert {one.id for one in spine.handoffs(page_size=2)} == ids
    assert [one.id for one in spine.handoffs(order="newest")] == [one.id for one in spine.handoffs()][::-1]
    assert {one.id for one in spine.handoffs(to="coder")} == ids - {taken.id}
    assert [one.id for one in spine.handoffs(state="acked")] == [taken.id]
    assert {one.id for one in spine.handoffs(envelope=envelopes[0])} == {sent[0].id, sent[3].id}
    assert spine.handoffs(from_="ghost").all() == []
    with pytest.raises(ValidationError):
        spine.handoffs(state="lost").all()


def test_a_handoff_that_is_not_there_is_not_found(spine):
    with pytest.raises(NotFound):
        spine.handoff("ho-99")
    with pytest.raises(TypeError):
        spine.handoff(99)


# --- The breaker ---------------------------------------------------------------------------------


def test_the_breaker_opens_with_its_reset_time_and_can_be_reset(spine):
    fail_to(spine, "dead")
    handoff = spine.agent_handoff("dead", "go")
    before = time.time()
    with pytest.raises(CircuitOpenError) as caught:
        spine.deliver_handoff(handoff, timeout=20)
    assert time.time() - before < 10
    error = caught.value
    assert isinstance(error, HandoffError)
    assert 0 < error.retry_after <= 60
    assert 50 < error.reset_at.timestamp() - before <= 70
    assert pickle.loads(pickle.dumps(error)).reset_at == error.reset_at
    assert spine.send(handoff).state == "queued", "who does not wait is not refused"
    spine.reset_breaker("dead")
    assert spine.send(handoff).state == "queued"


def test_an_agent_shows_its_breaker_and_its_queue(spine):
    spine.register_agent("dead", ack_timeout_s=7, max_attempts=2, fallbacks=["other"], description="d")
    info = spine.agent_info("dead")
    assert (info.ack_timeout_s, info.max_attempts, info.fallbacks) == (7, 2, ("other",))
    assert (info.breaker.state, info.breaker.failures, info.breaker.reset_at) == ("closed", 0, None)
    spine.register_agent("dead", replace=True)
    fail_to(spine, "dead")
    info = spine.agent_info("dead")
    assert (info.breaker.state, info.breaker.failures) == ("open", 3)
    assert info.breaker.reset_at is not None
    spine.reset_breaker("dead")
    spine.send(spine.agent_handoff("dead", "go"))
    spine.send(spine.agent_handoff("dead", "go"))
    (taken,) = spine.agent("dead").receive()
    taken.ack(work_lease_s=30)
    spine.agent("dead").receive()
    spine.park_envelope(spine.agent_handoff("dead", "go"), "later")
    info = spine.agent_info("dead")
    assert (info.queue.queued, info.queue.leased, info.queue.working, info.queue.parked) == (0, 1, 1, 1)
    assert info.last_seen_at is not None


# --- Parked --------------------------------------------------------------------------------------


def test_what_is_parked_is_listed_with_its_reason_and_remedies(spine):
    handoff = spine.agent_handoff("coder", "go")
    parked = spine.park_envelope(handoff, "nobody is there", by="ops")
    assert (parked.state, parked.reason, parked.envelope_id) == ("parked", "nobody is there", handoff.id)
    (entry,) = spine.parked()
    assert (entry.id, entry.reason, entry.to) == (parked.id, "nobody is there", "coder")
    assert entry.remedies == ["redrive", "reroute", "shrink", "discard"]
    for send in (lambda: spine.send(handoff), lambda: spine.deliver_handoff(handoff, timeout=20)):
        with pytest.raises(HandoffParkedError) as caught:
            send()
        assert isinstance(caught.value, (HandoffError, Conflict))
        assert caught.value.remedies == entry.remedies
    assert spine.handoff(parked).events[-1].actor == "ops"


def test_parked_handoffs_leave_by_redrive_reroute_and_discard(spine):
    parked = [spine.park_envelope(spine.agent_handoff("coder", "go"), "x") for _ in range(3)]
    redriven = spine.redrive(parked[0], why="it is back", by="ops")
    assert (redriven.id, redriven.state, redriven.attempt, redriven.to) == (parked[0].id, "queued", 1, "coder")
    rerouted = spine.reroute(parked[1].id, "tester", why="better")
    assert (rerouted.id, rerouted.state, rerouted.to) == (parked[1].id, "queued", "tester")
    assert spine.discard(parked[2], "obsolete", by="ops").state == "discarded"
    assert spine.parked().all() == []
    last = spine.handoff(parked[2]).events[-1]
    assert (last.event, last.note, last.actor) == ("handoff.discarded", "obsolete", "ops")
    with pytest.raises(HandoffConflict) as caught:
        spine.redrive(parked[0])
    assert caught.value.code == "not_parked"


def test_a_parked_handoff_can_be_shrunk(spine):
    memory = spine.store("word " * 500)
    big = spine.agent_handoff("coder", f"see {memory.id}", constraints={"max_tokens": 4000})
    parked = spine.park_envelope(big, "too long")
    smaller = spine.shrink(parked, 400, why="its window is small")
    assert smaller.replaces == parked.id and smaller.id != parked.id
    assert smaller.state == "queued"
    assert spine.envelope(smaller.envelope_id).token_count <= 400 < big.token_count
    assert spine.handoff(parked).state == "discarded"


def test_a_sender_is_told_of_what_was_parked_since_its_last_call(connect, server, space):
    spine = connect(server.url, space=space, agent="analyst")
    lost = spine.send(spine.agent_handoff("coder", "go"))
    (taken,) = spine.agent("coder").receive()
    taken.reject("not mine")
    sent = spine.send(spine.agent_handoff("tester", "go"))
    (notice,) = sent.notices
    assert (notice.handoff, notice.to_agent, notice.reason) == (lost.id, "coder", "not mine")
    assert spine.send(spine.agent_handoff("tester", "go")).notices == []


# --- Choreography --------------------------------------------------------------------------------


def test_routes_lead_on(spine):
    made = spine.put_route(
        "to-python",
        "pythonista",
        from_="analyst",
        when={"constraint": {"language": "python"}, "hop": {"min": 1, "max": 5}},
        order=10,
        description="d",
    )
    assert (made.name, made.from_agent, made.to_agent, made.order) == ("to-python", "analyst", "pythonista", 10)
    assert made.when == {"constraint": {"language": "python"}, "hop": {"min": 1, "max": 5}}
    spine.put_route("else", "coder")
    assert spine.route("to-python") == made
    assert {route.name for route in spine.routes(page_size=1)} == {"to-python", "else"}
    packed = spine.agent_handoff("next", "go", from_="analyst", constraints={"language": "python"})
    assert packed.to_agent == "pythonista"
    assert spine.agent_handoff("next", "go", from_="analyst").to_agent == "coder"
    spine.delete_route("else")
    with pytest.raises(NoRoute) as caught:
        spine.agent_handoff("next", "go", from_="analyst")
    assert isinstance(caught.value, (HandoffError, ValidationError))
    with pytest.raises(NotFound):
        spine.route("else")


def test_the_end_of_a_chain_parks_its_last_envelope(spine):
    one = spine.agent_handoff("b", "go", from_="a", max_hops=1)
    with pytest.raises(HopLimit) as caught:
        spine.agent_handoff("c", "go on", parent=one, from_="b")
    assert isinstance(caught.value, (HandoffError, Conflict))
    (parked,) = spine.parked()
    assert (parked.id, parked.envelope_id) == (caught.value.handoff, one.id)


def test_work_that_goes_back_with_nothing_new_is_a_loop(spine):
    one = spine.agent_handoff("b", "go", from_="a")
    with pytest.raises(RoutingLoop) as caught:
        spine.agent_handoff("a", "back", parent=one, from_="b")
    assert "a -> b -> a" in str(caught.value)
    (parked,) = spine.parked()
    assert (parked.id, parked.envelope_id) == (caught.value.handoff, one.id)


def test_a_trace_tells_all_that_happened_to_a_task(spine):
    one = spine.agent_handoff("b", "go", from_="a", task="t")
    sent = spine.send(one)
    (taken,) = spine.agent("b").receive()
    taken.complete({"ok": True})
    two = spine.agent_handoff("c", "go on", parent=one, from_="b", state="done")
    trace = spine.trace("t")
    assert trace.task == "t"
    assert [(entry.id, entry.hop, entry.to_agent) for entry in trace.envelopes] == [(one.id, 1, "b"), (two.id, 2, "c")]
    assert [entry.token_count for entry in trace.envelopes] == [one.token_count, two.token_count]
    assert [entry.id for entry in trace.deliveries] == [sent.id]
    assert [event.event for event in trace.events] == [
        "handoff.queued",
        "handoff.leased",
        "handoff.acked",
        "handoff.completed",
    ]
    with pytest.raises(NotFound):
        spine.trace("nothing")


def test_every_error_of_delivery_is_a_handoff_error():
    kinds = (AckTimeoutError, CircuitOpenError, HandoffParkedError, HandoffConflict, HopLimit, RoutingLoop, NoRoute)
    for kind in kinds:
        assert issubclass(kind, HandoffError) and issubclass(kind, SpineError)
    assert issubclass(AckTimeoutError, builtins.TimeoutError)


# --- Again ---------------------------------------------------------------------------------------


def test_sending_again_never_makes_a_second_handoff(spine):
    """What the documentation of send and docs/protocol.md say of it."""
    packed = spine.agent_handoff("coder", "go")

    def again(**options):
        sent = spine.send(packed, **options)
        return sent.id, sent.state, sent.attempt, sent.max_attempts

    with pytest.raises(AckTimeoutError):
        spine.deliver_handoff(packed, timeout=0.05)
    (only,) = spine.handoffs()
    id = only.id
    assert (only.state, only.attempt) == ("expired", 1)
    assert again(max_attempts=5) == (id, "queued", 2, 5), "withdrawn: the next attempt"
    assert again(max_attempts=7) == (id, "queued", 2, 5), "under way: nothing changes"
    with pytest.raises(AckTimeoutError):
        spine.deliver_handoff(packed, timeout=0.05)
    assert again() == (id, "queued", 2, 5), "who waited for what somebody else had sent has not withdrawn it"
    (work,) = spine.agent("coder").receive()
    assert again() == (id, "leased", 2, 5)
    work.ack()
    assert again() == (id, "acked", 2, 5), "acked: as it is"
    assert spine.deliver_handoff(packed).id == id
    assert len(spine.handoffs().all()) == 1


def test_parked_handoffs_are_filtered(connect, server, space):
    spine = connect(server.url, space=space, agent="ada")
    packed = [spine.agent_handoff(name, "go") for name in ("a", "b")]
    for one in packed:
        spine.park_envelope(one, "on hold")
    assert [one.to_agent for one in spine.parked(to="a")] == ["a"]
    assert [one.to_agent for one in spine.parked(envelope=packed[1])] == ["b"]
    assert len(spine.parked(from_="ada").all()) == 2 and spine.parked(from_="bob").all() == []
