"""Each check finds the violation that it is there for, and nothing in a history without one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import checker  # noqa: E402
from history import Call, History, Mark, View  # noqa: E402


def call(verb: str, began: float, ended: float, status: int = 200, **more: Any) -> Call:
    what: dict[str, Any] = {"client": "c", "node": "n1", "space": "s", **more}
    return Call(verb=verb, began_at=began, ended_at=ended, status=status, **what)


def unanswered(verb: str, began: float, **more: Any) -> Call:
    return call(verb, began, began + 1, 0, **more)


def send(name: str, began: float, ended: float, **more: Any) -> Call:
    return call("send", began, ended, 202, id=name, key=f"key-{name}", group="a", **more)


def receive(began: float, ended: float, *taken: tuple[str, int], **more: Any) -> Call:
    return call("receive", began, ended, taken=list(taken), **more)


def complete(name: str, lease: int, began: float, ended: float, status: int = 200, **more: Any) -> Call:
    return call("complete", began, ended, status, id=name, lease=lease, **{"value": "done", **more})


def ack(name: str, lease: int, began: float, ended: float, status: int = 200) -> Call:
    return call("ack", began, ended, status, id=name, lease=lease)


def handing_on(name: str, lease: int, began: float, ended: float, *made: str) -> Call:
    return complete(name, lease, began, ended, hands_on=True, made=list(made))


def join(began: float, ended: float, state: str = "joined", **results: str) -> Call:
    return call("join", began, ended, id="env-1", value=state, results={name.replace("_", "-"): text for name, text in results.items()})


def stream(*numbers: int, client: str = "f", began: float = 1) -> Call:
    return call("stream", began, began + 1, client=client, events=[(number, "handoff.queued", "ho-1") for number in numbers])


def nack(name: str, lease: int, began: float, ended: float, status: int = 200) -> Call:
    return call("nack", began, ended, status, id=name, lease=lease)


def seen(state: str = "completed", result: str | None = "done", first_leased: int = 1, handed_on: str | None = None) -> dict[str, Any]:
    return {"state": state, "result": result, "first_leased": first_leased, "handed_on": handed_on}


def view(**handoffs: Any) -> View:
    """ho_1=…: what a node shows."""
    named = {("s", name.replace("_", "-")): what for name, what in handoffs.items()}
    return View("n2", handoffs=named, listed_handoffs={"s": [name for (_, name), what in named.items() if what]})


GOOD = [
    send("ho-1", 1, 2), send("ho-2", 3, 4),
    receive(5, 6, ("ho-1", 1)), receive(5.5, 6.5, ("ho-2", 1)),
    nack("ho-1", 1, 7, 8), receive(9, 10, ("ho-1", 2)),
    complete("ho-1", 2, 11, 12), complete("ho-1", 2, 13, 14), complete("ho-1", 1, 13, 14, 409), nack("ho-1", 2, 15, 16, 409),
    unanswered("ack", 11, id="ho-2", lease=1),
    call("store", 1, 2, 201, id="ms-1", key="m", value="text"), call("look", 3, 4, id="ms-1"),
    unanswered("write", 0, value="1"), call("write", 2, 3, value="2"), call("read", 4, 5, value="2"),
    call("probe", 1, 2, 503),
    call("publish", 1, 2, id="env-1", key="p", made=["ho-3", "ho-4"]), join(3, 4, "waiting"),
    unanswered("complete", 5, id="ho-3", lease=1, value="done"), handing_on("ho-4", 1, 5, 6, "ho-5"),
    handing_on("ho-4", 1, 7, 8, "ho-5"), complete("ho-5", 1, 9, 10), join(7, 8, ho_3="done", ho_4="done"),
    stream(1, 2), unanswered("stream", 2, client="f"), stream(4, 9, began=3), stream(2, 4, 9, 12, client="g"),
]
GOOD[-1].events.insert(0, (1, "handoff.queued", "ho-1"))
GOOD_VIEW = view(ho_1=seen(first_leased=1), ho_2=seen("acked", None, first_leased=2), ho_3=seen(), ho_4=seen(handed_on="ho-5"), ho_5=seen())
GOOD_VIEW.events["s"] = [(number, "handoff.queued", "ho-1") for number in (1, 2, 4, 9)]
GOOD_VIEW.memories["s", "ms-1"] = "text"
GOOD_VIEW.listed_memories["s"] = [("ms-1", "text"), ("ms-2", "done")]


@pytest.mark.parametrize("name", sorted(checker.CHECKS))
def test_a_history_without_violations_passes(name: str) -> None:
    assert checker.CHECKS[name](GOOD, [GOOD_VIEW]) == []


def assert_one(found: list[str], *words: str) -> None:
    assert len(found) == 1, found
    assert all(word in found[0] for word in words), found


# --- Lost ---


def test_a_handoff_that_a_node_does_not_know_is_lost() -> None:
    assert_one(checker.lost([send("ho-1", 1, 2)], [view(ho_1=None)]), "n2 does not know it")
    assert_one(checker.lost([send("ho-1", 1, 2)], [view()]), "n2 does not know it")


def test_a_handoff_whose_send_was_never_answered_may_be_gone() -> None:
    assert checker.lost([unanswered("send", 1)], [view()]) == []


def test_a_handoff_that_is_open_at_the_end_is_lost() -> None:
    for state in ("queued", "leased", "parked", "expired"):
        assert_one(checker.lost([send("ho-1", 1, 2)], [view(ho_1=seen(state, None))]), state)


def test_only_a_sender_that_waits_withdraws() -> None:
    waiting = call("send", 1, 2, 504, id="ho-1", is_waiting=True)
    assert checker.lost([waiting], [view(ho_1=seen("expired", None))]) == []
    assert_one(checker.lost([waiting], [view()]), "does not know it")


def test_an_accepted_completion_and_its_result_stay() -> None:
    calls = [send("ho-1", 1, 2), complete("ho-1", 1, 3, 4)]
    assert_one(checker.lost(calls, [view(ho_1=seen("queued", None))]), "was completed", "queued")
    assert_one(checker.lost(calls, [view(ho_1=seen("completed", "other"))]), "other")


def test_an_accepted_ack_stays() -> None:
    assert_one(checker.lost([send("ho-1", 1, 2), ack("ho-1", 1, 3, 4)], [view(ho_1=seen("queued", None))]), "was acked")


def test_nothing_is_settled_that_nobody_settled() -> None:
    refused = [send("ho-1", 1, 2), complete("ho-1", 1, 3, 4, 409), ack("ho-1", 1, 3, 4, 409)]
    assert_one(checker.lost(refused, [view(ho_1=seen())]), "nobody said")
    assert_one(checker.lost(refused, [view(ho_1=seen("acked", None))]), "nobody acked")


@pytest.mark.parametrize("content", [None, "other"])
def test_a_memory_that_is_gone_or_another_is_lost(content: str | None) -> None:
    there = view()
    there.memories["s", "ms-1"] = content
    assert_one(checker.lost([call("store", 1, 2, 201, id="ms-1", value="text")], [there]), "stored as 'text'")


# --- Settles ---


def test_two_settles_with_different_leases_are_not_both_accepted() -> None:
    calls = [receive(1, 2, ("ho-1", 1)), complete("ho-1", 1, 3, 9), receive(4, 5, ("ho-1", 2)), ack("ho-1", 2, 6, 7)]
    assert any("with the leases [1, 2]" in what for what in checker.settles(calls, []))


def test_a_lease_is_given_to_one_receiver() -> None:
    assert_one(checker.settles([receive(1, 2, ("ho-1", 1)), receive(1, 2, ("ho-1", 1), client="d")], []), "to c and to d")


def test_a_lease_ends_the_work_or_gives_it_back() -> None:
    calls = [receive(1, 2, ("ho-1", 1)), ack("ho-1", 1, 3, 4), nack("ho-1", 1, 5, 6)]
    assert_one(checker.settles(calls, []), "taken for a nack")


def test_a_lease_completes_with_one_result() -> None:
    calls = [complete("ho-1", 1, 3, 4), complete("ho-1", 1, 5, 6, value="else")]
    assert_one(checker.settles(calls, []), "'done', 'else'")


def test_a_lease_counts_no_more_after_a_newer_one() -> None:
    calls = [receive(1, 2, ("ho-1", 1)), receive(3, 4, ("ho-1", 2)), nack("ho-1", 1, 5, 6)]
    assert_one(checker.settles(calls, []), "though 2 was given out")


def test_a_settle_beside_a_newer_lease_may_have_been_first() -> None:
    assert checker.settles([receive(1, 2, ("ho-1", 1)), receive(3, 6, ("ho-1", 2)), nack("ho-1", 1, 5, 7)], []) == []


def test_what_is_settled_is_not_given_out_again() -> None:
    calls = [receive(1, 2, ("ho-1", 1)), ack("ho-1", 1, 3, 4), receive(5, 6, ("ho-1", 2))]
    assert_one(checker.settles(calls, []), "then given out with 2")


# --- Duplicates ---


def test_a_key_has_one_handoff() -> None:
    calls = [call("send", 1, 2, 202, id="ho-1", key="k"), call("send", 3, 4, 202, id="ho-2", key="k")]
    assert_one(checker.duplicates(calls, []), "'ho-1', 'ho-2'")


def test_a_key_of_another_space_is_another_one() -> None:
    calls = [call("send", 1, 2, 202, id="ho-1", key="k"), call("send", 3, 4, 202, id="ho-2", key="k", space="t")]
    assert checker.duplicates(calls, []) == []


def test_a_handoff_in_the_list_that_no_answer_named_is_a_duplicate() -> None:
    assert_one(checker.duplicates([send("ho-1", 1, 2)], [view(ho_1=seen(), ho_2=seen())]), "ho-2", "nobody knows")


def test_lists_have_what_is_there_once() -> None:
    there = view(ho_1=seen())
    there.listed_handoffs["s"] = ["ho-1", "ho-1"]
    assert_one(checker.duplicates([send("ho-1", 1, 2)], [there]), "2 times")
    there.listed_handoffs["s"] = []
    assert_one(checker.duplicates([send("ho-1", 1, 2)], [there]), "not listed")


def test_a_memory_of_a_retry_is_listed_once() -> None:
    calls = [unanswered("store", 1, key="k", value="text"), call("store", 2, 3, 201, id="ms-1", key="k", value="text")]
    there = view()
    there.listed_memories["s"] = [("ms-1", "text"), ("ms-2", "text")]
    assert_one(checker.duplicates(calls, [there]), "2 memories")
    there.listed_memories["s"] = []
    assert_one(checker.duplicates(calls, [there]), "not listed")


def test_what_is_published_again_with_its_key_makes_no_second_handoffs() -> None:
    calls = [call("publish", 1, 2, id="env-1", key="p", made=["ho-1"]), call("publish", 3, 4, id="env-1", key="p", made=["ho-2"])]
    assert_one(checker.duplicates(calls, []), "'ho-1', 'ho-2'")


# --- Chains ---


def test_what_is_handed_on_is_one_handoff() -> None:
    assert_one(checker.chains([handing_on("ho-1", 1, 1, 2, "ho-2"), handing_on("ho-1", 1, 3, 4, "ho-3")], []), "'ho-2', 'ho-3'")
    assert_one(checker.chains([handing_on("ho-1", 1, 1, 2, "ho-3"), handing_on("ho-2", 1, 3, 4, "ho-3")], []), "from ['ho-1', 'ho-2']")


def test_a_completion_with_a_next_handoff_makes_it_and_no_other_does() -> None:
    assert_one(checker.chains([handing_on("ho-1", 1, 1, 2)], []), "handed on as []")
    assert_one(checker.chains([complete("ho-1", 1, 1, 2, made=["ho-2"])], []), "handed on as ['ho-2']")


def test_a_handoff_tells_what_was_handed_on_with_it() -> None:
    calls = [handing_on("ho-1", 1, 1, 2, "ho-2")]
    for told in (None, "ho-3"):
        assert_one(checker.chains(calls, [view(ho_1=seen(handed_on=told))]), "n2 says")
    assert_one(checker.chains([], [view(ho_1=seen(handed_on="ho-2"))]), "as [], and n2 says ['ho-2']")


def test_what_was_handed_on_or_published_and_is_gone_is_lost() -> None:
    assert_one(checker.lost([handing_on("ho-1", 1, 1, 2, "ho-2")], [view(ho_2=None)]), "ho-2", "does not know it")
    assert_one(checker.lost([call("publish", 1, 2, made=["ho-2"])], [view(ho_2=seen("queued", None))]), "ho-2", "queued")


# --- Joins ---

PUBLISHED = [call("publish", 1, 2, id="env-1", made=["ho-1", "ho-2"]), complete("ho-1", 1, 3, 4), complete("ho-2", 1, 3, 5)]


def test_a_join_waits_no_longer_than_until_all_have_completed() -> None:
    assert_one(checker.joins([*PUBLISHED, join(6, 7, "waiting")], []), "the join waited")
    assert checker.joins([*PUBLISHED, join(4.5, 6, "waiting", ho_1="done")], []) == []


def test_a_join_has_the_results_of_all() -> None:
    assert_one(checker.joins([*PUBLISHED, join(6, 7, ho_1="done")], []), "joined with ['ho-1']")
    assert_one(checker.joins([*PUBLISHED, join(6, 7, ho_1="done", ho_2="other")], []), "'other', which nobody had said")


def test_a_join_does_not_come_before_its_results() -> None:
    assert_one(checker.joins([*PUBLISHED, join(2.5, 2.8, "waiting", ho_1="done")], []), "ho-1", "nobody had said")


def test_a_join_does_not_fail_where_nobody_has_given_up() -> None:
    assert_one(checker.joins([*PUBLISHED, join(6, 7, "failed")], []), "the join is failed")


# --- Events ---


def followed(*streams: Call) -> list[str]:
    there = view()
    there.events["s"] = [(number, "handoff.queued", "ho-1") for number in (1, 2, 4)]
    return checker.events(list(streams), [there])


def test_who_follows_events_misses_none() -> None:
    assert followed(stream(1), stream(2, 4)) == []
    assert_one(followed(stream(1), stream(4)), "was not given (2, ")
    assert_one(followed(stream(1, 2), unanswered("stream", 3, client="f")), "was not given (4, ")


def test_who_follows_events_is_given_none_twice_and_none_too_late() -> None:
    assert_one(followed(stream(1, 2), stream(2, 4)), "after (2, ")
    assert_one(followed(stream(1, 4, 2)), "given (2, ", "after (4, ")


def test_who_follows_events_is_given_none_that_did_not_happen() -> None:
    assert_one(followed(stream(1, 2, 3, 4)), "given (3, ", "n2 has not")
    assert followed(stream(1, 2, 4, 5)) == []


# --- Order ---


def test_receivers_see_the_order_of_the_sender() -> None:
    sends = [send("ho-1", 1, 2), send("ho-2", 3, 4)]
    wrong = [receive(5, 6, ("ho-2", 1)), receive(7, 8, ("ho-1", 1))]
    assert_one(checker.order(sends + wrong, []), "ho-2 was given out before ho-1")


def test_calls_beside_each_other_have_no_order() -> None:
    sends = [send("ho-1", 1, 2), send("ho-2", 3, 4)]
    assert checker.order(sends + [receive(5, 6, ("ho-2", 1)), receive(5.5, 8, ("ho-1", 1))], []) == []


def test_a_second_lease_has_no_place_in_the_order() -> None:
    sends = [send("ho-1", 1, 2), send("ho-2", 3, 4)]
    assert checker.order(sends + [receive(5, 6, ("ho-2", 1)), receive(7, 8, ("ho-1", 2))], []) == []


def test_the_events_have_the_order_of_the_sender() -> None:
    sends = [send("ho-1", 1, 2), send("ho-2", 3, 4)]
    there = view(ho_1=seen(first_leased=9), ho_2=seen(first_leased=8))
    assert_one(checker.order(sends, [there]), "ho-1 was leased before ho-2")


def test_a_repeated_send_has_the_place_of_its_first_answer() -> None:
    sends = [send("ho-1", 1, 2), send("ho-2", 3, 4), send("ho-1", 5, 6)]
    assert checker.order(sends, [view(ho_1=seen(first_leased=1), ho_2=seen(first_leased=2))]) == []


# --- Served ---


def history(*calls: Call, marks: list[Mark]) -> History:
    made = History()
    made.calls, made.marks = list(calls), marks
    return made


def test_a_space_that_is_not_served_in_time_is_found() -> None:
    marks = [Mark(10, "kill n2", ["n1"])]
    assert_one(checker.served(history(call("probe", 5, 6), marks=marks), ["s"], 40), "never")
    assert_one(checker.served(history(call("probe", 11, 26), marks=marks), ["s"], 40), "16.0 s")
    assert checker.served(history(call("probe", 11, 24), marks=marks), ["s"], 40) == []


def test_each_node_must_serve_each_space() -> None:
    marks = [Mark(10, "start n2", ["n1", "n2"])]
    calls = [call("probe", 11, 12, space=space, node=node) for space, node in (("s", "n1"), ("t", "n1"), ("s", "n2"))]
    assert_one(checker.served(history(*calls, marks=marks), ["s", "t"], 40), "n2 served t never")


def test_the_next_fault_may_come_before_the_time_is_over() -> None:
    marks = [Mark(10, "kill n2", ["n1"]), Mark(20, "kill n1", []), Mark(30, "start all", ["n1"])]
    assert checker.served(history(call("probe", 31, 32), marks=marks), ["s"], 50) == []


def test_reads_do_not_show_that_a_space_is_served() -> None:
    assert_one(checker.served(history(call("read", 11, 12, value="0"), marks=[Mark(10, "kill", ["n1"])]), ["s"], 40), "never")


def test_what_is_served_again_stays_so() -> None:
    calls = [call("probe", 11, 12), call("probe", 30, 31, 503, code="no_owner")]
    assert_one(checker.served(history(*calls, marks=[Mark(10, "kill", ["n1"])]), ["s"], 40), "no_owner")
    assert checker.served(history(*calls, marks=[Mark(10, "kill", ["n1"]), Mark(29, "kill", [])]), ["s"], 40) == []


# --- Stale reads, and what nobody expects ---


def test_a_read_is_never_older_than_what_was_acknowledged() -> None:
    writes = [call("write", 1, 2, value="1"), call("write", 3, 4, value="2")]
    assert_one(checker.stale(writes + [call("read", 5, 6, value="1")], []), "read 1", "between 2 and 2")
    assert checker.stale(writes + [call("read", 3.5, 6, value="1")], []) == []


def test_a_read_shows_nothing_that_was_not_yet_asked_for() -> None:
    assert_one(checker.stale([call("read", 1, 2, value="1"), call("write", 3, 4, value="1")], []), "read 1")


def test_what_was_acknowledged_is_found_at_once() -> None:
    assert_one(checker.stale([call("look", 1, 2, 404, id="ms-1")], []), "did not find it")


@pytest.mark.parametrize(("verb", "status"), [("send", 500), ("send", 409), ("receive", 409), ("ack", 404), ("probe", 400)])
def test_an_answer_that_no_fault_explains_is_found(verb: str, status: int) -> None:
    assert_one(checker.unexpected([call(verb, 1, 2, status)], []), str(status))


def test_a_commit_of_unknown_outcome_is_an_answer() -> None:
    assert checker.unexpected([call("send", 1, 2, 500, code="outcome_unknown")], []) == []
