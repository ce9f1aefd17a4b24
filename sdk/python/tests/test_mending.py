"""What people look at and decide: queues, many handoffs at once, waivers, agents that go. For both clients."""

import json
from datetime import datetime, timedelta, timezone

import pytest
from peer import Peer

from memory_spine import Conflict, HandoffConflict, NotFound, SpineError, ValidationError


def sent(spine, agent, count=1, **fields):
    return [spine.send(spine.pack(agent, "Go.", **fields)) for _ in range(count)]


def parked(spine, agent, count=1, reason="on hold", **fields):
    return [spine.park_envelope(spine.pack(agent, "Go.", **fields), reason) for _ in range(count)]


def states(spine, handoffs):
    return [spine.handoff(one).state for one in handoffs]


# --- The task of a handoff -----------------------------------------------------------------------


def test_what_was_sent_says_its_task(spine):
    envelope = spine.pack("coder", "Write the parser.", task="parser")
    first = spine.send(envelope)
    assert first.task == "parser" and spine.send({"task_summary": "Go."}, "tester").task.startswith("task-")
    read = spine.handoff(first)
    assert (read.task, read.summary) == ("parser", "Write the parser.")
    (work,) = spine.agent("coder").receive()
    assert (work.delivery.task, work.delivery.summary) == ("parser", "Write the parser.")
    (held,) = parked(spine, "reviewer", task="other")
    assert [one.task for one in spine.parked()] == ["other"] and held.state == "parked"


# --- Queues --------------------------------------------------------------------------------------


def test_queues_tell_what_waits_for_whom_since_when_and_why(spine):
    assert spine.queues().all() == []
    first, _ = sent(spine, "coder", 2)
    later = spine.send(spine.pack("coder", "Later."), not_before=datetime.now(timezone.utc) + timedelta(hours=1))
    sent(spine, "tester")
    spine.agent("tester").receive()
    coder, tester = spine.queues(page_size=1)
    assert (coder.agent, coder.queue.queued, coder.why, coder.presence) == ("coder", 3, "empty_chair", "never_seen")
    assert coder.oldest_at == first.created_at and coder.breaker.state == "closed"
    assert (tester.queue.leased, tester.why, tester.oldest_at, tester.presence) == (1, None, None, "working")
    entries = spine.queue("coder", page_size=2).all()
    assert [one.position for one in entries] == [1, 2, 3] and entries[0].id == first.id
    assert (entries[0].why, entries[0].summary, entries[0].since) == ("empty_chair", "Go.", first.created_at)
    assert (entries[2].id, entries[2].why, entries[2].until) == (later.id, "deferred", later.not_before)
    with pytest.raises(NotFound):
        spine.queue("nobody").all()


def test_a_look_at_what_comes_next_takes_nothing(spine, other, in_thread):
    coder = spine.agent("coder")
    assert coder.peek() is None
    (first,) = sent(spine, "coder")
    assert coder.peek().id == first.id and coder.peek().id == first.id
    assert spine.handoff(first).leases == 0
    (work,) = coder.receive()
    assert work.attempt == 1 and coder.peek() is None
    in_thread(lambda: sent(other, "tester"))
    assert spine.agent("tester").peek(wait_s=20).to_agent == "tester"


# --- Many at once --------------------------------------------------------------------------------


def test_many_leave_by_redrive_reroute_and_discard_and_come_back(spine):
    coder, tester = parked(spine, "coder", 3), parked(spine, "tester", 2, "No budget left")
    preview = spine.redrive_many(to="coder", dry_run=True)
    assert (preview.action, preview.dry_run, preview.matched, preview.more) == ("redrive", True, 3, False)
    assert [one.id for one in preview.done] == [one.id for one in coder] and states(spine, coder) == ["parked"] * 3
    done = spine.redrive_many(to="coder", why="it is back", by="ops")
    assert (done.matched, len(done.done), done.refused, done.done[0].state) == (3, 3, [], "queued")
    assert (done.done[0].to, done.done[0].summary) == ("coder", "Go.")
    event = spine.handoff(coder[0]).events[-1]
    assert (event.event, event.actor, event.note) == ("handoff.redriven", "ops", "it is back")
    assert spine.redrive_many(to="coder").matched == 0
    moved = spine.reroute_many(reason="budget", reroute_to="generalist")
    assert [one.to for one in moved.done] == ["generalist"] * 2
    again = spine.restore_many(moved.done, why="a mistake")
    assert states(spine, tester) == ["parked"] * 2 and again.action == "restore"
    assert len(spine.discard_many(spine.parked().all(), why="superseded").done) == 2
    assert states(spine, tester) == ["discarded"] * 2
    assert spine.restore(tester[0], why="after all").state == "parked"
    with pytest.raises(HandoffConflict) as caught:
        spine.restore(tester[0])
    assert caught.value.code == "not_restorable"


def test_all_that_is_queued_is_moved_and_cancelled(spine):
    coder = sent(spine, "coder", 2)
    (kept,) = sent(spine, "tester", task="t")
    assert [one.to for one in spine.move_many(to="coder", move_to="reviewer").done] == ["reviewer"] * 2
    assert spine.cancel_many(task="t", dry_run=True).matched == 1
    assert len(spine.cancel_many(coder, why="enough").done) == 2
    assert states(spine, [*coder, kept]) == ["discarded", "discarded", "queued"]
    assert spine.cancel_many(all=True).matched == 1


def test_filters_hold_together_and_times_are_among_them(spine):
    before = datetime.now(timezone.utc) - timedelta(hours=1)
    parked(spine, "coder", from_="ada", task="t")
    parked(spine, "coder", from_="bob")
    assert spine.redrive_many(from_="ada", task="t", to="coder", since=before, dry_run=True).matched == 1
    assert spine.redrive_many(from_="ada", before=before, dry_run=True).matched == 0


def test_one_that_is_refused_does_not_keep_the_others(spine):
    (one,), (other,) = parked(spine, "coder"), sent(spine, "coder")
    done = spine.redrive_many([one.id, other.id])
    assert [entry.id for entry in done.done] == [one.id]
    assert [(entry.id, entry.code) for entry in done.refused] == [(other.id, "not_parked")] and done.refused[0].detail


def test_nothing_is_decided_about_everything_by_leaving_something_out(spine):
    handoffs = parked(spine, "coder")
    with pytest.raises(ValidationError) as caught:
        spine.discard_many(why="x")
    assert caught.value.field == "all"
    with pytest.raises(ValueError):
        spine.discard_many(handoffs, to="coder", why="x")
    with pytest.raises(TypeError):
        spine.discard_many("ho-1", why="x")
    with pytest.raises(ValueError):
        spine.redrive_many(all=True, limit=0)
    assert spine.discard_many([], why="x").done == [] and states(spine, handoffs) == ["parked"]


def test_a_limit_ends_it_and_says_that_there_is_more(spine):
    parked(spine, "coder", 3)
    part = spine.redrive_many(all=True, limit=2)
    assert (len(part.done), part.matched, part.more) == (2, 3, True)
    rest = spine.redrive_many(all=True, limit=2)
    assert (len(rest.done), rest.matched, rest.more) == (1, 1, False)


def test_it_goes_on_until_all_are_done(spine):
    sent(spine, "coder", 105)
    done = spine.cancel_many(all=True)
    assert (done.matched, len(done.done), len({one.id for one in done.done}), done.more) == (105, 105, 105, False)


def test_more_ids_than_a_call_takes_are_several_calls(connect):
    def answer(channel):
        while (request := channel.read()) is not None:
            fitted = len(json.loads(request[3])["ids"])
            channel.reply(200, {"matched": fitted, "done": [], "refused": [], "next_after": None})

    with Peer(answer) as peer:
        assert connect(peer.url).restore_many([f"ho-{n}" for n in range(1500)]).matched == 1500
        assert [len(json.loads(request[3])["ids"]) for request in peer.requests] == [1000, 500]


# --- Waivers and agents --------------------------------------------------------------------------


def test_a_person_waives_a_constraint_of_a_task(connect, server, space):
    spine = connect(server.url, space=space, agent="form")
    packed = spine.pack("coder", "Go.", task="t", constraints={"region": "eu"}, locked=["region"])
    waiver = spine.waive("t", "region", "the client has moved", by="Ada")
    assert (waiver.task, waiver.key, waiver.value, waiver.by) == ("t", "region", "eu", "Ada")
    assert (waiver.envelope, waiver.reason, waiver.unauthenticated) == (packed.id, "the client has moved", True)
    (waived,) = spine.pack("tester", "Go on.", parent=packed).waived
    assert (waived.by, waived.waiver) == ("Ada", waiver.waiver)
    with pytest.raises(ValidationError):
        spine.waive("t", "regoin", "a slip", by="Ada")
    with pytest.raises(ValueError):
        spine.waive("t", "region", "nobody says so", by="")


def test_an_agent_without_open_work_is_deleted(spine):
    (one,) = sent(spine, "coder")
    with pytest.raises(Conflict) as caught:
        spine.delete_agent("coder")
    assert caught.value.code == "agent_busy"
    spine.cancel(one)
    spine.delete_agent("coder")
    for gone in (spine.agent_info, spine.delete_agent):
        with pytest.raises(SpineError) as caught:
            gone("coder")
        assert caught.value.code == "agent_not_found"
