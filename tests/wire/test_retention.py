"""What has ended goes when its time is over; what is left says that it was there, and nothing else is lost."""

import json
import subprocess

import pytest
from api import wait_until
from database import look
from delivery import Desk
from server import binary, check_store

JSON = {"Accept": "application/json"}


def keep(desk, seconds=1, events=0):
    return desk.ok("PUT", "/v1/space", {"keep_handoffs_s": seconds, "keep_events_s": events})


def is_pruned(desk, handoff):
    answer = desk.call("GET", f"/v1/handoffs/{handoff}")
    assert answer.status in (200, 410), answer
    return answer.status == 410


def wait_pruned(desk, *handoffs):
    for handoff in handoffs:
        wait_until(lambda h=handoff: is_pruned(desk, h), f"{handoff} is pruned")


def step(desk, agent, summary, parent=None, result=None, to_end=True, **fields):
    """Packs, sends, receives and completes; the ids of the envelope and the handoff."""
    body = {"from": "boss", "target_agent": agent, "task_summary": summary, "include_recent": 0, **fields}
    if parent:
        body["parent"] = parent
    sent = desk.ok("POST", "/v1/handoffs", {"envelope": body}, status=202)
    if to_end:
        taken = desk.take(agent)
        assert taken["id"] == sent["id"]
        desk.settle("complete", taken, result=result)
    return sent["envelope_id"], sent["id"]


@pytest.fixture
def desk(desk, server):
    desk.data = server.data
    return desk


@pytest.fixture
def chain(desk):
    """Three hops, of which the last is still queued; each completed one has a result."""
    one = step(desk, "first", "begin", result="what the first found", intent="the whole", constraints={"style": "plain"})
    two = step(desk, "second", "go on", one[0], result="what the second found")
    three = step(desk, "third", "finish", two[0], to_end=False)
    return desk, (one, two, three)


def test_what_has_ended_is_pruned_and_its_chain_can_still_be_followed(chain):
    desk, ((env1, ho1), (env2, ho2), (env3, ho3)) = chain
    digests = {e: desk.ok("GET", f"/v1/envelopes/{e}")["digest"] for e in (env1, env2)}
    task = desk.ok("GET", f"/v1/envelopes/{env3}")["task"]["id"]
    keep(desk)
    wait_pruned(desk, ho1, ho2)
    for envelope, count in ((env3, 3), (env2, 2), (env1, 1)):
        verdict = desk.ok("GET", f"/v1/envelopes/{envelope}/verify")
        assert (verdict["ok"], verdict["verdict"], verdict["checked"], verdict["first_bad"]) == (True, "pruned", count, None)
    assert desk.ok("GET", f"/v1/envelopes/{env3}")["lineage"]["parent"] == env2
    with look(desk.data / "spine.db") as db:
        left = db.execute("SELECT p.id & 1099511627775, parent, hex(digest) FROM pruned_envelope p JOIN space s ON s.id = p.id >> 40 "
                          "WHERE s.name = ? ORDER BY p.id", (desk.space,)).fetchall()
    assert [(f"env-{num}", parent) for num, parent, _ in left] == [(env1, 0), (env2, int(env1[4:]))]
    assert [digest.lower() for _, _, digest in left] == [digests[e].removeprefix("sha256:") for e in (env1, env2)]
    # What is live goes on.
    taken = desk.take("third")
    assert taken["id"] == ho3
    desk.settle("ack", taken, work_lease_s=60)
    fidelity = desk.ok("GET", f"/v1/tasks/{task}/fidelity")
    assert fidelity["pruned"] is True and [h["pruned"] for h in fidelity["hops"]] == [True] and "score" not in fidelity["hops"][0]
    assert desk.ok("GET", f"/v1/tasks/{task}/blame?key=style")["pruned"] is True
    assert desk.ok("GET", f"/v1/tasks/{task}/trace")["pruned"] is True
    assert desk.ok("GET", f"/v1/tasks/{task}")["pruned"] is True
    desk.settle("complete", taken, result="done")
    four = step(desk, "fourth", "one more", env3, to_end=False)
    assert desk.ok("GET", f"/v1/envelopes/{four[0]}")["task"]["intent"] == "the whole"
    assert desk.ok("GET", f"/v1/envelopes/{four[0]}")["constraints"]["style"] == "plain"


def test_every_way_to_what_was_pruned_says_so(chain):
    desk, ((env1, ho1), (env2, ho2), (env3, ho3)) = chain
    desk.ok("PUT", "/v1/channels/news", {})
    keep(desk)
    wait_pruned(desk, ho1, ho2)
    for path in ("", "?format=prompt", "?format=v1", "/receipts", "/considered", f"/diff/{env3}"):
        desk.refused(410, "envelope_pruned", "GET", f"/v1/envelopes/{env1}{path}")
    desk.refused(410, "envelope_pruned", "GET", f"/v1/envelopes/{env3}/diff/{env1}")
    desk.refused(410, "envelope_pruned", "POST", f"/v1/envelopes/{env1}/resolve", {"ids": ["ms-1"]})
    desk.refused(410, "envelope_pruned", "POST", f"/v1/envelopes/{env1}/park", {"reason": "x"})
    desk.refused(410, "envelope_pruned", "POST", "/v1/handoffs", {"envelope_id": env1, "to": "first"})
    desk.refused(410, "envelope_pruned", "POST", "/v1/handoffs", {"envelope_id": env1, "to": "somebody-new"})
    desk.refused(410, "envelope_pruned", "POST", "/v1/envelopes", {"target_agent": "x", "task_summary": "y", "from": "z", "parent": env1})
    desk.refused(410, "envelope_pruned", "POST", "/v1/channels/news/publish", {"envelope_id": env1, "receivers": ["a"]})
    desk.refused(410, "envelope_pruned", "POST", "/v1/channels/news/join", {"envelope_id": env1})
    for verb in ("ack", "nack", "complete", "reject", "progress"):
        desk.refused(410, "handoff_pruned", "POST", f"/v1/handoffs/{ho1}/{verb}", {"lease": f"{ho1}.1", "reason": "x"})
    desk.refused(410, "handoff_pruned", "POST", f"/v1/handoffs/{ho1}/need", {"lease": f"{ho1}.1", "refs": ["ms-1"]})
    for verb in ("redrive", "discard"):
        desk.refused(410, "handoff_pruned", "POST", f"/v1/parked/{ho1}/{verb}", {"why": "x"})
    desk.refused(410, "handoff_pruned", "POST", f"/v1/parked/{ho1}/reroute", {"to": "x", "why": "x"})
    desk.refused(410, "handoff_pruned", "POST", f"/v1/parked/{ho1}/shrink", {"max_tokens": 300})
    problem = desk.refused(410, "handoff_pruned", "GET", f"/v1/handoffs/{ho1}")
    assert env1 in problem["detail"] and "completed" in problem["detail"]
    assert [h["id"] for h in desk.ok("GET", "/v1/handoffs")["handoffs"]] == [ho3]
    assert desk.ok("GET", f"/v1/handoffs?envelope_id={env1}")["handoffs"] == []
    # Numbers go on above.
    assert int(step(desk, "new", "x", to_end=False)[1][3:]) > int(ho3[3:])


def test_a_result_goes_with_its_handoff_unless_somebody_needs_it(desk):
    ends = {}
    for name in ("plain", "pinned", "changed", "cited"):
        step(desk, name, f"make {name}", result=f"the result of {name}")
        ends[name] = [m["id"] for m in desk.list(f"agent={name}&kind=output")["memories"]][0]
    desk.ok("POST", f"/v1/memories/{ends['pinned']}/pin")
    desk.patch(ends["changed"], content="another text")
    citing = step(desk, "reader", f"read {ends['cited']}", to_end=False)
    keep(desk)
    wait_until(lambda: desk.get(ends["plain"])["state"] == "forgotten", "the plain result is gone")
    wait_pruned(desk, "ho-1", "ho-2", "ho-3", "ho-4")
    assert desk.ids("query=plain") == [] or ends["plain"] not in desk.ids("query=plain")
    assert desk.get(ends["pinned"])["content"] == "the result of pinned"
    assert desk.get(ends["changed"])["content"] == "another text"
    assert desk.get(ends["cited"])["content"] == "the result of cited"
    assert desk.ok("GET", f"/v1/envelopes/{citing[0]}/verify")["verdict"] == "intact"
    assert "the result of cited" in desk.take("reader", format="prompt")["prompt"]


def test_a_result_goes_with_the_last_envelope_that_cites_it(desk):
    step(desk, "maker", "make it", result="the precious thing")
    step(desk, "reader", "read ms-1", result=None)
    keep(desk)
    wait_pruned(desk, "ho-1", "ho-2")
    wait_until(lambda: desk.get("ms-1")["state"] == "forgotten", "the result is gone")


def test_what_is_open_or_parked_never_goes(desk):
    acked, queued, parked = (desk.send(name) for name in ("acker", "nobody", "refuser"))
    desk.settle("ack", desk.take("acker"))
    desk.settle("reject", desk.take("refuser"), reason="no")
    worked = desk.send("worker")
    desk.settle("ack", desk.take("worker"), work_lease_s=600)
    desk.deliver(queued["envelope_id"], 202, to="acker")
    desk.settle("complete", desk.take("acker"))
    keep(desk)
    wait_pruned(desk, acked["id"])
    # Until a sweep has come by once more.
    last = step(desk, "last", "the last one")
    wait_pruned(desk, last[1])
    assert desk.state(queued) == "queued" and desk.state(parked) == "parked" and desk.state(worked) == "acked"
    # An envelope with an open handoff stays whole.
    assert len(desk.ok("GET", f"/v1/handoffs?envelope_id={queued['envelope_id']}")["handoffs"]) == 2


def test_a_join_that_waits_for_what_is_pruned_is_told_so(desk, server):
    """Acked without a work lease is an end, and many never complete: who waits for that is not left waiting."""
    desk.ok("PUT", "/v1/channels/news", {})
    envelope = desk.pack("reader")
    desk.ok("POST", "/v1/channels/news/publish", {"envelope_id": envelope, "receivers": ["reader"]})
    desk.settle("ack", desk.take("reader"))
    keep(desk)
    waiting = Desk(server.address, desk.space)
    answer = waiting.call("POST", "/v1/channels/news/join", {"envelope_id": envelope, "wait_s": 20})
    assert (answer.status, answer.json["code"]) == (410, "envelope_pruned")
    waiting.close()


def test_by_default_everything_stays(desk):
    done = step(desk, "worker", "x", result="y")
    space = desk.ok("GET", "/v1/space")
    assert space["keep_handoffs_s"] is None and space["keeps"] == {"handoffs_s": None, "events_s": None, "idle_s": None}
    other = Desk(desk.address, desk.space + "-other")
    keep(other)
    gone = step(other, "worker", "x")
    wait_pruned(other, gone[1])
    assert desk.state(done[1]) == "completed"
    other.close()


def events_of(desk, after=0):
    return desk.ok("GET", f"/v1/events?after={after}&limit=1000", headers=JSON)["events"]


def test_events_go_and_who_goes_on_behind_one_is_told(desk):
    desk.store("one")
    first = int(events_of(desk)[0]["id"])
    parked = desk.send("refuser")
    desk.settle("reject", desk.take("refuser"), reason="no")
    desk.store("two")
    keep(desk, 0, 1)
    wait_until(lambda: first not in [int(e["id"]) for e in events_of(desk)], "the first event is pruned")
    wait_until(lambda: desk.call("GET", f"/v1/events?after={first}", headers=JSON).status == 410, "who goes on there is told")
    problem = desk.refused(410, "events_pruned", "GET", f"/v1/events?after={first}", headers=JSON)
    assert problem["pruned_to"] >= first and str(problem["pruned_to"]) in problem["detail"]
    desk.refused(410, "events_pruned", "GET", "/v1/events", headers={"Last-Event-ID": str(first)})
    desk.refused(410, "events_pruned", "GET", f"/v1/events?after={first}")
    assert desk.call("GET", f"/v1/events?after={problem['pruned_to']}", headers=JSON).status == 200
    # The history of what is not over stays whole.
    assert desk.events(parked) == ["queued", "leased", "rejected", "parked"]
    desk.ok("POST", f"/v1/parked/{parked['id']}/discard", {"why": "over"})
    wait_until(lambda: desk.events(parked) == [] or len(desk.events(parked)) < 4, "then it goes, too")
    assert int(desk.store("three")["id"][3:]) == 3 and int(events_of(desk)[-1]["id"]) > problem["pruned_to"]


def test_the_server_says_it_for_spaces_that_do_not(start):
    server = start("--keep", "1s").wait_until_ready()
    desk, other = Desk(server.address, "plain"), Desk(server.address, "longer")
    other.ok("PUT", "/v1/space", {"keep_handoffs_s": 0, "keep_events_s": 0})
    gone, stays = step(desk, "w", "x"), step(other, "w", "x")
    wait_pruned(desk, gone[1])
    assert other.state(stays[1]) == "completed" and len(other.events(stays[1])) == 4
    assert desk.ok("GET", "/v1/space")["keeps"] == {"handoffs_s": 1, "events_s": 1, "idle_s": None}
    assert other.ok("GET", "/v1/space")["keep_handoffs_s"] == 0
    status = desk.ok("GET", "/v1/status")["retention"]
    assert (status["handoffs_s"], status["handoffs_kept"], status["handoffs_pruned"]) == (1, 0, 1)
    assert server.terminate() == 0, server.log_tail()
    check_store(server.data)


def test_a_wrong_time_is_refused_and_changes_nothing(desk):
    keep(desk, 60, 60)
    for wrong in (0.5, -2, "90d", 10**12, True):
        desk.refused(422, "invalid_field", "PUT", "/v1/space", {"keep_handoffs_s": wrong}, field="keep_handoffs_s")
    assert desk.ok("GET", "/v1/space")["keep_handoffs_s"] == 60
    assert desk.ok("PUT", "/v1/space", {"keep_handoffs_s": -1})["keep_handoffs_s"] is None


def spaces_of(desk):
    return {space["name"] for space in desk.ok("GET", "/v1/spaces?page_size=1000")["spaces"]}


def test_a_space_in_which_nothing_is_written_goes(start):
    server = start("--keep-idle", "1s").wait_until_ready()
    names = ("idle", "default", "parked", "queued", "longer")
    idle, default, parked, queued, longer = desks = [Desk(server.address, name) for name in names]
    for desk in desks:
        desk.store("x")
    parked.send("refuser")
    parked.settle("reject", parked.take("refuser"), reason="no")
    queued.send("nobody")
    space = longer.ok("PUT", "/v1/space", {"keep_idle_s": 0})
    assert (space["keep_idle_s"], space["keeps"]["idle_s"]) == (0, None)
    space = idle.ok("PUT", "/v1/space", {"keep_idle_s": 1})
    assert (space["keep_idle_s"], space["keeps"]["idle_s"]) == (1, 1)
    assert default.ok("GET", "/v1/space")["keeps"]["idle_s"] is None
    wait_until(lambda: "idle" not in spaces_of(default), "the idle space is gone")
    idle.refused(404, "memory_not_found", "GET", "/v1/memories/ms-1")
    # Until another one, which is as old, has gone, too: the rest was looked at.
    last = Desk(server.address, "last")
    last.store("x")
    wait_until(lambda: "last" not in spaces_of(default), "the last one is gone")
    assert spaces_of(default) >= {"default", "parked", "queued", "longer"}
    assert parked.ids() == ["ms-1"] and default.ids() == ["ms-1"]
    # A write to the name makes a new one.
    assert idle.store("again")["id"] == "ms-1"
    problem = default.refused(422, "invalid_field", "PUT", "/v1/space", {"keep_idle_s": 60}, field="keep_idle_s")
    assert "never removed" in problem["detail"]
    for desk in (*desks, last):
        desk.close()


def test_a_space_in_which_somebody_waits_stays(desk, poll):
    desk.store("x")
    call = poll("worker")
    desk.ok("PUT", "/v1/space", {"keep_idle_s": 1})
    other = Desk(desk.address, desk.space + "-other")
    other.ok("PUT", "/v1/space", {"keep_idle_s": 1})
    wait_until(lambda: other.space not in spaces_of(desk), "one in which nobody waits is gone")
    assert desk.ids() == ["ms-1"]
    sent = desk.send("worker")
    assert [h["id"] for h in call.result().json["handoffs"]] == [sent["id"]]
    other.close()


def test_status_shows_the_growth(desk):
    desk.store("x")
    store = desk.ok("GET", "/v1/status")["store"]
    assert store["bytes"] > 0 and set(store["growth"]) == {"bytes", "since"}


def test_a_kill_in_the_midst_of_pruning_loses_and_brings_back_nothing(start):
    server = start().wait_until_ready()
    desk = Desk(server.address, "busy")
    ends = [step(desk, "w", f"x {number}", result=f"r {number}")[1] for number in range(200)]
    stays = [desk.send("nobody")["id"] for _ in range(5)]
    keep(desk)
    wait_until(lambda: is_pruned(desk, ends[0]), "the first is gone")
    server.kill()
    again = start(data=server.data).wait_until_ready()
    desk = Desk(again.address, "busy")
    assert is_pruned(desk, ends[0])
    wait_pruned(desk, *ends)
    assert [desk.state(h) for h in stays] == ["queued"] * 5
    assert again.terminate() == 0, again.log_tail()
    check_store(again.data)


def run_cli(server, space, *args):
    return subprocess.run([binary(), *args, "--url", server.url, "--space", space], capture_output=True, text=True, check=False)


def test_an_export_that_was_cut_off_goes_on(chain, server, tmp_path):
    desk, ends = chain
    file = tmp_path / "history.jsonl"
    assert run_cli(server, desk.space, "export", "--all", str(file)).returncode == 0
    whole = file.read_bytes()
    lines = [json.loads(line) for line in whole.splitlines()]
    assert [line["handoff"]["id"] for line in lines if "handoff" in line] == [h for _, h in ends]
    assert [line["envelope"]["id"] for line in lines if "envelope" in line] == [e for e, _ in ends]
    assert [line["event"]["id"] for line in lines if "event" in line] == [e["id"] for e in events_of(desk)]
    assert next(line for line in lines if "handoff" in line)["handoff"]["result"] == "what the first found"
    refused = run_cli(server, desk.space, "export", "--all", str(file))
    assert refused.returncode != 0 and "--resume" in refused.stderr
    for cut in range(0, len(whole), max(1, len(whole) // 7)):
        file.write_bytes(whole[:cut])
        assert run_cli(server, desk.space, "export", "--all", "--resume", str(file)).returncode == 0
        assert sorted(file.read_bytes().splitlines()) == sorted(whole.splitlines()), cut
    desk.store("one more")
    assert run_cli(server, desk.space, "export", "--all", "--resume", str(file)).returncode == 0
    assert len(file.read_bytes().splitlines()) == len(lines) + 1
