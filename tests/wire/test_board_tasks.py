"""The list of tasks that people work from: how each stands follows from its handoffs, the newest change comes first."""

from api import wait_until


def begin(desk, task, to="worker", summary="do the work", **fields):
    """A task with one handoff, queued."""
    return desk.deliver(desk.pack(to, summary, task=task, **fields), 202).json


def tasks(desk, query=""):
    """All pages."""
    found, token = [], ""
    while token is not None:
        page = desk.ok("GET", f"/v1/tasks?page_size=3{query}" + (f"&page_token={token}" if token else ""))
        found += page["tasks"]
        token = page["next_page_token"]
    return found


def names(desk, query=""):
    return [task["id"] for task in tasks(desk, query)]


def task(desk, name):
    return next(one for one in tasks(desk) if one["id"] == name)


def reject(desk, task, to="worker", reason="cannot"):
    handoff = begin(desk, task, to)
    desk.settle("reject", desk.take(to), reason=reason)
    return handoff


def test_the_state_of_a_task_follows_from_its_handoffs(desk):
    handoff = begin(desk, "t")
    seen = task(desk, "t")
    assert (seen["state"], seen["agent"], seen["handoff"], seen["open"]) == ("waiting", "worker", handoff["id"], 1)
    assert seen["last_event"]["event"] == "handoff.queued"
    got = desk.take()
    assert task(desk, "t")["state"] == "working"
    desk.settle("ack", got, work_lease_s=60)
    assert task(desk, "t")["state"] == "working"
    desk.settle("complete", got, result="made")
    seen = task(desk, "t")
    assert (seen["state"], seen["agent"], seen["open"], seen["parked"]) == ("done", "worker", 0, 0)
    assert seen["last_event"]["event"] == "handoff.completed"
    reject(desk, "p", reason="no disk")
    seen = task(desk, "p")
    assert (seen["state"], seen["parked"], seen["last_event"]["note"]) == ("parked", 1, "no disk")


def test_one_parked_handoff_makes_the_task_parked_whatever_else_goes_on(desk):
    envelope = desk.pack("worker", task="t")
    desk.deliver(envelope, 202, to="worker")
    desk.deliver(envelope, 202, to="other")
    desk.settle("reject", desk.take("worker"), reason="no")
    seen = task(desk, "t")
    assert (seen["state"], seen["agent"], seen["open"], seen["parked"]) == ("parked", "worker", 1, 1)
    assert names(desk, "&state=parked") == ["t"] and names(desk, "&state=waiting") == []


def test_what_is_queued_behind_an_open_breaker_is_held(desk):
    begin(desk, "t", "flaky")
    desk.ok("PUT", "/v1/agents/other", {})
    got = desk.take("flaky")
    for number in range(3):
        desk.deliver(desk.pack("flaky", task=f"fails-{number}"), 202, max_attempts=1)
    for _ in range(3):
        desk.settle("nack", desk.take("flaky"), reason="out of order")
    desk.settle("nack", got, delay_s=0)
    assert desk.agent("flaky")["breaker"]["state"] == "open"
    seen = task(desk, "t")
    assert (seen["state"], seen["agent"]) == ("held", "flaky")
    assert names(desk, "&state=held") == ["t"] and names(desk, "&state=waiting") == []
    desk.ok("POST", "/v1/agents/flaky/reset")
    assert task(desk, "t")["state"] == "waiting"


def test_the_newest_change_comes_first_on_all_pages(desk):
    for number in range(8):
        begin(desk, f"t{number}")
    assert names(desk) == [f"t{number}" for number in reversed(range(8))]
    desk.settle("ack", desk.take())
    assert names(desk) == ["t0", *(f"t{number}" for number in reversed(range(1, 8)))]
    desk.pack(task="only-packed")
    assert names(desk)[0] == "only-packed" and len(names(desk)) == 9
    assert task(desk, "only-packed")["state"] == "done"


def test_a_page_goes_on_where_the_last_ended_though_tasks_change_meanwhile(desk):
    for number in range(6):
        begin(desk, f"t{number}")
    page = desk.ok("GET", "/v1/tasks?page_size=3")
    assert [one["id"] for one in page["tasks"]] == ["t5", "t4", "t3"]
    desk.take()  # t0 is at the top now
    rest = desk.ok("GET", f"/v1/tasks?page_size=3&page_token={page['next_page_token']}")
    assert [one["id"] for one in rest["tasks"]] == ["t2", "t1"]


def test_tasks_are_filtered_by_state_agent_and_age(desk):
    begin(desk, "a1", "ann")
    begin(desk, "b1", "bob")
    desk.take("bob")
    reject(desk, "b2", "bobby")
    desk.settle("ack", desk.take("ann"))
    assert names(desk, "&state=done") == ["a1"]
    assert names(desk, "&state=working") == ["b1"]
    assert names(desk, "&state=parked") == ["b2"]
    assert names(desk, "&state=open") == ["b2", "b1"]
    assert names(desk, "&agent=bob") == ["b1"]
    assert names(desk, "&agent=bob&state=parked") == []
    assert names(desk, "&agent=nobody") == []
    assert names(desk, "&older_than_s=3600") == []
    assert len(names(desk, "&older_than_s=0")) == 3
    since = task(desk, "a1")["changed_at"]
    assert set(names(desk, f"&changed_since={since}")) <= {"a1", "b1", "b2"}
    assert names(desk, "&changed_since=2999-01-01T00:00:00Z") == []
    desk.refused(422, "invalid_field", "GET", "/v1/tasks?state=asleep", field="state")
    desk.refused(422, "invalid_field", "GET", "/v1/tasks?changed_since=yesterday", field="changed_since")


def test_tasks_are_found_by_their_id_their_intent_and_the_newest_summary(desk):
    begin(desk, "INVOICE-17", intent="pay the supplier", summary="check the sum")
    first = desk.pack(task="other", summary="draft the letter")
    desk.pack("next-one", "Proof-read the LETTER", parent=first)
    assert names(desk, "&query=invoice") == ["INVOICE-17"]
    assert names(desk, "&query=SUPPLIER") == ["INVOICE-17"]
    assert names(desk, "&query=proof-read") == ["other"]
    assert names(desk, "&query=draft") == []
    assert names(desk, "&query=sum&state=waiting") == ["INVOICE-17"]
    assert names(desk, "&query=sum&state=parked") == []
    assert names(desk, "&query=nowhere") == []


def test_of_the_tasks_that_hold_the_words_the_one_that_changed_last_comes_first(desk):
    for number in range(5):
        begin(desk, f"t{number}", to=f"w{number}", intent="look for the needle")
    begin(desk, "other", to="x")
    assert names(desk, "&query=needle") == ["t4", "t3", "t2", "t1", "t0"]
    desk.settle("complete", desk.take("w1"), result="found")
    assert names(desk, "&query=needle") == ["t1", "t4", "t3", "t2", "t0"]


def test_a_task_whose_handoff_is_for_later_waits(desk):
    begin(desk, "t", not_before="2099-01-01T00:00:00Z")
    assert task(desk, "t")["state"] == "waiting"


def gone_events(desk):
    """Nothing is kept of what has happened so far but the history of what is open or parked."""
    last = desk.ok("GET", f"/v1/events?after={2**62}", headers={"Accept": "application/json"})["next"]
    desk.ok("PUT", "/v1/space", {"keep_events_s": 1})
    wait_until(lambda: desk.call("GET", f"/v1/events?after={last - 1}", headers={"Accept": "application/json"}).status == 410, "they are pruned")
    desk.ok("PUT", "/v1/space", {"keep_events_s": 0})


def test_tasks_stay_in_the_list_though_their_events_were_pruned(desk):
    for number in range(5):
        begin(desk, f"done-{number}")
        desk.settle("complete", desk.take(), result="x")
    desk.pack(task="only-packed")
    reject(desk, "parked", "refuser")
    begin(desk, "waits", "nobody")
    old = ["waits", "parked", "only-packed", *(f"done-{number}" for number in reversed(range(5)))]
    assert names(desk) == old
    gone_events(desk)
    assert names(desk) == old
    # What is changed since comes first, in the order of its changes; each task once.
    begin(desk, "new")
    desk.pack(task="new-packed")
    second = desk.deliver(desk.pack("worker", "once more", task="done-1"), 202).json
    assert names(desk) == ["done-1", "new-packed", "new", *(name for name in old if name != "done-1")]
    assert names(desk, "&state=done") == ["new-packed", "only-packed", "done-4", "done-3", "done-2", "done-0"]
    assert names(desk, "&agent=refuser") == ["parked"]
    seen = task(desk, "done-3")
    assert (seen["state"], seen["last_event"]) == ("done", None)
    assert task(desk, "done-1")["handoff"] == second["id"]
    since = task(desk, "new")["changed_at"]
    assert set(names(desk, f"&changed_since={since}")) <= {"done-1", "new-packed", "new"}
    # Again, with the newest task among those that have gone quiet.
    gone_events(desk)
    assert sorted(names(desk)) == sorted([*old, "new", "new-packed"])


def test_a_task_that_has_gone_quiet_is_listed_once_whatever_the_size_of_the_page(desk):
    for number in range(9):
        begin(desk, f"t{number}")
        desk.settle("ack", desk.take())
        if number == 4:
            gone_events(desk)
    for size in range(1, 12):
        found, token = [], ""
        while token is not None:
            page = desk.ok("GET", f"/v1/tasks?page_size={size}" + (f"&page_token={token}" if token else ""))
            assert len(page["tasks"]) <= size
            found += [one["id"] for one in page["tasks"]]
            token = page["next_page_token"]
        assert found == [f"t{number}" for number in reversed(range(9))]


def test_a_task_tells_its_hops_tokens_and_envelopes(desk):
    first = desk.pack(task="t", intent="the whole")
    second = desk.pack("next-one", "go on", parent=first)
    seen = task(desk, "t")
    assert (seen["envelopes"], seen["hops"], seen["intent"], seen["summary"]) == (2, 2, "the whole", "go on")
    counts = [one["token_count"] for one in desk.ok("GET", "/v1/tasks/t")["envelopes"]]
    assert seen["tokens"] == sum(counts)
    assert seen["agent"] is None and seen["handoff"] is None and seen["last_event"] is None
    desk.deliver(second, 202)
    wait_until(lambda: task(desk, "t")["agent"] == "next-one", "it is handed over")


def test_another_space_has_its_own_tasks(desk):
    begin(desk, "t")
    other = type(desk)(desk.address, "another")
    assert other.ok("GET", "/v1/tasks")["tasks"] == []
    begin(other, "theirs")
    assert names(other) == ["theirs"] and names(desk) == ["t"]
    other.close()
