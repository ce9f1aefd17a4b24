"""Handing on: finishing one handoff, sending the next and taking the next, in one call and one commit."""

import pytest
from receiving import in_loop, send, state, sync  # noqa: F401

from memory_spine import BudgetTooSmall, ConstraintConflict, ConstraintLocked, Delivery, HandoffConflict, ProtocolError, idempotent


def begin(client, **fields):
    """A handoff in the hands of the coder."""
    packed = client.pack("coder", "Write the parser.", intent="Ship it.", constraints={"max_files": 3}, **fields)
    client.send(packed)
    (work,) = client.agent("coder").receive(lease_s=60)
    return work


def test_it_finishes_and_hands_on_with_result_intent_and_constraints(spine, other):
    work = begin(spine)
    sent = work.hand_on("tester", "Test the parser.", result={"patch": "+1"}, constraints={"coverage": "90 %"})
    assert type(sent) is Delivery
    assert (sent.state, sent.to, sent.from_agent) == ("queued", "tester", "coder")
    assert (work.settled, work.delivery.result_memory) == ("complete", other.handoff(work.id).result_memory)
    (following,) = other.agent("tester").receive()
    envelope = following.envelope
    assert following.id == sent.id and envelope.parent == work.envelope_id
    assert (envelope.intent, envelope.constraints["max_files"], envelope.constraints["coverage"]) == ("Ship it.", 3, "90 %")
    assert '{"patch":"+1"}' in following.prompt


def test_all_that_pack_and_send_and_complete_take_goes_along(spine, other):
    memory = spine.store("a fact")
    work = begin(spine, open_decisions=["which?"])
    sent = work.hand_on(
        "tester",
        summary="Test it.",
        constraints={"language": "python"},
        result="done",
        gaps=["no network"],
        remember=False,
        state="written",
        history=[{"action": "wrote it"}],
        refs=[memory.id],
        resolved_decisions=[{"decision": "which?", "outcome": "this"}],
        open_decisions=["when?"],
        expected_output={"format": "text"},
        waive=[{"key": "max_files", "reason": "the user said so"}],
        locked=["language"],
        include_recent=0,
        priority=9,
        max_attempts=7,
        fallbacks=["other"],
        ack_timeout_s=33,
    )
    assert (sent.priority, sent.max_attempts, sent.fallbacks) == (9, 7, ["other"])
    told = other.handoff(work.id)
    assert (told.result, told.result_memory, told.gaps) == ("done", None, ["no network"])
    packed = other.envelope(sent.envelope_id)
    assert (packed.state, packed.open_decisions, packed.memory_refs) == ("written", ["when?"], [memory.id])
    assert packed.locked == ["language"]
    assert packed.waived[0].key == "max_files" and packed.expected_output["format"] == "text"


def test_it_begins_a_second_chain_in_the_task_where_that_is_asked_for(spine, other):
    work = begin(spine, task="t")
    packed = work.pack("auditor", "Look at it afresh.", new_root=True)
    assert (packed.task, packed.parent, packed.from_agent, packed.constraints) == ("t", None, "coder", {})
    sent = work.hand_on("tester", "Begin again.", result="done", new_root=True)
    packed = other.envelope(sent.envelope_id)
    assert (packed.task, packed.parent, packed.hop, packed.from_agent) == ("t", None, 1, "coder")
    assert (packed.intent, packed.constraints, state(other, work)) == (None, {}, "completed")


def test_a_refusal_changes_nothing_and_the_handoff_stays_in_hand(spine, other):
    work = begin(spine, locked=["max_files"])
    refusals = [
        (ConstraintConflict, {"constraints": {"max_files": 5}}),
        (BudgetTooSmall, {"constraints": {"max_tokens": 5}}),
        (ConstraintLocked, {"waive": [{"key": "max_files", "reason": "in the way"}]}),
    ]
    for error, fields in refusals:
        with pytest.raises(error):
            work.hand_on("tester", "Test it.", result="done", **fields)
        assert (work.settled, state(other, work)) == (None, "leased")
    assert list(other.handoffs(to="tester")) == []
    assert work.hand_on("tester", "Test it.", result="done").state == "queued"


def test_the_same_again_is_answered_as_before_and_another_is_refused(spine, other):
    work = begin(spine)
    sent = work.hand_on("tester", "Test it.", result="done")
    assert work.hand_on("tester", "Test it.", result="done").id == sent.id
    with pytest.raises(HandoffConflict):
        work.hand_on("reviewer", "Review it.", result="done")
    assert len(list(other.handoffs(to="tester"))) == 1


def test_in_a_loop_the_next_is_taken_in_the_same_call(sync, other):
    sent = send(other, count=3)
    made = []
    inner = sync._transport.send
    sync._transport.send = lambda request, deadline: (made.append(request.path), inner(request, deadline))[1]
    seen = []

    def handle(work):
        seen.append(work.id)
        return work.hand_on("tester", "Test it.", result=f"by {work.id}").id

    assert sync.agent("coder").run(handle, limit=3) == 3
    assert seen == [one.id for one in sent]
    assert made == ["/v1/agents/coder/receive"] * 3 + [f"/v1/handoffs/{sent[2].id}/complete"]
    assert [one.from_agent for one in other.handoffs(to="tester")] == ["coder"] * 3
    assert [other.handoff(one).result for one in sent] == [f"by {one.id}" for one in sent]


def test_in_a_loop_over_an_inbox_too(sync, other):
    sent = send(other, count=3)
    seen = []
    for work in sync.agent("coder").inbox(idle_s=0):
        work.hand_on("tester", "Test it.")
        seen.append(work.id)
    assert seen == [one.id for one in sent]
    assert {state(other, one) for one in sent} == {"completed"}
    assert len(list(other.handoffs(to="tester"))) == 3


def test_what_was_taken_on_the_way_is_given_back_where_the_loop_is_left(sync, other):
    one, two = send(other, count=2)
    for work in sync.agent("coder").inbox():
        work.hand_on("tester", "Test it.")
        break
    assert (state(other, one), state(other, two)) == ("completed", "queued")
    (again,) = other.agent("coder").receive()
    assert again.id == two.id, "at once"


def test_what_was_taken_on_the_way_is_kept_while_the_handler_goes_on(sync, other):
    """Its lease is renewed before it is begun."""
    sent = send(other, count=2)
    seen = []

    def handle(work):
        seen.append((work.id, work.attempt))
        work.hand_on("tester", "Test it.")
        if work.id == sent[0].id:
            following = work._following
            first = following.lease_expires_at
            while following.lease_expires_at == first:
                assert other.healthy()

    assert sync.agent("coder").run(handle, limit=2, lease_s=0.6) == 2
    assert seen == [(one.id, 1) for one in sent]


def test_a_handler_that_fails_after_it_has_handed_on_has_still_finished(sync, other):
    (sent,) = send(other)

    def handle(work):
        work.hand_on("tester", "Test it.", result="done")
        raise ValueError("too late")

    seen = []
    assert sync.agent("coder").run(handle, limit=1, on_error=lambda work, error: seen.append(str(error))) == 1
    assert (seen, state(other, sent)) == (["too late"], "completed")


def test_a_handler_that_takes_place_once_may_return_what_hand_on_returned(sync, other, tmp_path):
    (sent,) = send(other)
    handle = idempotent(path=tmp_path / "handled.db")(lambda work: work.hand_on("tester", "Test it."))
    assert sync.agent("coder").run(handle, limit=1) == 1
    assert state(other, sent) == "completed" and len(list(other.handoffs(to="tester"))) == 1


def test_several_hands_hand_on(sync, other):
    sent = send(other, count=12)
    count = sync.agent("coder").run(lambda work: work.hand_on("tester", "Test it.") and None, limit=12, concurrency=4)
    assert count == 12 and {state(other, one) for one in sent} == {"completed"}
    assert {one.attempt for one in map(other.handoff, sent)} == {1}
    assert len(list(other.handoffs(to="tester"))) == 12


def test_an_asynchronous_loop_hands_on(in_loop, other):
    sent = send(other, count=6)

    async def main(spine):
        async def handle(work):
            await work.hand_on("tester", "Test it.", result=work.id)

        assert await spine.agent("coder").run(handle, limit=3, concurrency=2) == 3
        async for work in spine.agent("coder").inbox(limit=3):
            await work.hand_on("tester", "Test it.", result=work.id)

    in_loop(main)
    assert {other.handoff(one).result for one in sent} == {one.id for one in sent}
    assert len(list(other.handoffs(to="tester"))) == 6


def test_a_review_that_says_something_new_goes_round_and_the_same_again_is_a_loop(sync):
    work = begin(sync)
    work.hand_on("reviewer", "Review it.", result="first")
    (review,) = sync.agent("reviewer").receive(lease_s=60)
    review.hand_on("coder", "Handle empty input.", result="empty input fails")
    (again,) = sync.agent("coder").receive(lease_s=60)
    again.hand_on("reviewer", "Review it again.", result="second")
    (last,) = sync.agent("reviewer").receive(lease_s=60)
    assert last.envelope.hop == 4
    assert last.complete("fine").state == "completed"


def test_a_server_that_does_not_know_it_is_told_apart(sync, monkeypatch):
    work = begin(sync)
    inner = sync._transport.send

    def older(request, deadline):
        import json

        body = json.loads(request.body)
        body.pop("then", None)
        return inner(type(request)(**{**vars(request), "body": json.dumps(body).encode()}), deadline)

    monkeypatch.setattr(sync._transport, "send", older)
    with pytest.raises(ProtocolError, match="too old"):
        work.hand_on("tester", "Test it.")
