"""What waits for one agent is not read with the key of another: handoffs, queues, envelopes, tasks and events, over HTTP and
MCP. Each agent sees what it takes part in; everything else is answered as what is not there."""

import http.client
import json

import pytest

from keys import Keyed
from test_access import receive
from test_access_matrix import KeyedMcp

SPACE = "team"
AGENTS = ("ann", "bob", "cid", "dora", "mal")
SECRET = "the merger is on Friday"


@pytest.fixture(scope="module")
def keyed(tmp_path_factory):
    running = Keyed(tmp_path_factory.mktemp("keyed") / "data")
    yield running
    assert running.server.terminate() == 0, running.server.log_tail()


class Team:
    """Agents with a key each, in a space of their own."""

    spaces = 0

    def __init__(self, keyed):
        Team.spaces += 1
        self.keyed, self.space = keyed, f"{SPACE}-{Team.spaces}"
        self.keys = {agent: keyed.key(space=self.space, agent=agent) for agent in AGENTS}
        self.keys["lead"] = keyed.key(space=self.space, scopes=["read", "write", "receive"])
        self.keys["admin"] = keyed.key(space=self.space, scopes=["admin"])

    def ask(self, who, method, path, body=None):
        return self.keyed.ask(method, path, body, self.keys[who])

    def get(self, who, path):
        answer = self.keyed.ask("GET", path, key=self.keys[who], headers={"Accept": "application/json"})
        assert answer.status == 200, (who, path, answer)
        return answer.json

    def send(self, by, to, summary="work", **more):
        envelope = {"target_agent": to, "task_summary": summary, **more.pop("envelope", {})}
        answer = self.ask(by, "POST", "/v1/handoffs", {"envelope": envelope, **more})
        assert answer.status == 202, answer
        return answer.json

    def take(self, agent):
        return receive(self.keyed, agent, self.keys[agent])[0]

    def settle(self, agent, work, verb, **more):
        answer = self.ask(agent, "POST", f"/v1/handoffs/{work['id']}/{verb}", {"lease": work["lease"], **more})
        assert answer.status == 200, answer
        return answer.json

    def listed(self, who, path="/v1/handoffs", size=20):
        """Of all pages."""
        ids, token = [], ""
        while token is not None:
            page = self.get(who, f"{path}{'&' if '?' in path else '?'}page_size={size}{token}")
            ids += [row["id"] for row in page.get("handoffs", page.get("parked", page.get("tasks")))]
            token = f"&page_token={page['next_page_token']}" if page["next_page_token"] else None
        return ids


@pytest.fixture
def team(keyed):
    return Team(keyed)


def same_as_unknown(team, who, path, of, unknown):
    """The answer about `of` is the one about an id that was never given."""
    hidden, missing = (team.ask(who, "GET", path.format(one)) for one in (of, unknown))
    assert hidden.status == missing.status == 404, (path, hidden, missing)
    assert hidden.data.decode().replace(of, unknown) == missing.data.decode(), path


# --- Handoffs ---


def test_a_list_that_names_the_inbox_of_another_is_refused_as_receiving_for_it_is(team):
    team.send("ann", "bob", SECRET)
    refused = team.ask("mal", "POST", "/v1/agents/bob/receive", {})
    assert refused.status == 403
    for path in ("/v1/handoffs?to=bob", "/v1/parked?to=bob", "/v1/queues/bob", "/v1/handoffs?to=nobody", "/v1/queues/nobody"):
        answer = team.ask("mal", "GET", path)
        assert answer.status == 403 and answer.json["code"] == refused.json["code"] == "forbidden", (path, answer)
        assert answer.json["field"] == ("agent" if "queues" in path else "to"), answer
        assert '"mal"' in answer.json["detail"], answer
    assert team.listed("bob", "/v1/handoffs?to=bob") and team.get("bob", "/v1/queues/bob")["queue"]
    for who in ("lead", "admin"):
        assert team.listed(who, "/v1/handoffs?to=bob") and team.get(who, "/v1/queues/bob")["queue"]


def test_a_list_shows_the_key_of_an_agent_what_it_sent_and_what_is_or_was_for_it(team):
    sent = [team.send(by, to)["id"] for by, to in
            [("ann", "bob"), ("ann", "mal"), ("mal", "ann"), ("bob", "cid"), ("cid", "bob"), ("mal", "mal"), ("ann", "cid")] * 3]
    own = {"ann": {0, 1, 2, 6}, "bob": {0, 3, 4}, "cid": {3, 4, 6}, "mal": {1, 2, 5}}
    for agent, rows in own.items():
        expected = [one for i, one in enumerate(sent) if i % 7 in rows]
        for size in (1, 2, 1000):
            assert team.listed(agent, size=size) == expected, (agent, size)
            assert team.listed(agent, "/v1/handoffs?order=newest", size) == expected[::-1], (agent, size)
        assert team.listed(agent, "/v1/handoffs?state=queued") == expected
    assert team.listed("mal", "/v1/handoffs?from=ann") == [one for i, one in enumerate(sent) if i % 7 == 1]
    assert team.listed("mal", "/v1/handoffs?from=bob") == []
    for who in ("lead", "admin"):
        assert team.listed(who) == sent


def test_what_fell_back_or_was_moved_to_an_agent_is_its_own(team):
    fallen = team.send("ann", "bob", fallbacks=["cid", "dora"], max_attempts=1)["id"]
    team.settle("bob", team.take("bob"), "reject", reason="not mine")
    assert team.ask("mal", "GET", f"/v1/handoffs/{fallen}").status == 404
    row = team.get("cid", f"/v1/handoffs/{fallen}")
    if row["to"] != "cid":
        # A rejection parks it: somebody moves it on.
        moved = team.ask("admin", "POST", f"/v1/parked/{fallen}/reroute", {"to": "cid"})
        assert moved.status == 200, moved
    assert team.listed("cid") == team.listed("bob") == team.listed("ann") == [fallen]
    assert team.listed("mal") == team.listed("dora") == []


def test_what_an_agent_had_for_a_while_it_still_reads(team):
    sent = team.send("ann", "bob")["id"]
    for to in ("cid", "dora"):
        moved = team.ask("admin", "POST", f"/v1/handoffs/{sent}/move", {"to": to})
        assert moved.status == 200, moved
    for agent in ("ann", "bob", "cid", "dora"):
        seen = team.get(agent, f"/v1/handoffs/{sent}")
        assert team.get(agent, f"/v1/envelopes/{seen['envelope_id']}")["id"] == seen["envelope_id"]
    same_as_unknown(team, "mal", "/v1/handoffs/{}", sent, "ho-999")


def test_a_handoff_between_others_is_as_one_that_is_not_there(team):
    sent = team.send("ann", "bob", SECRET)
    work = team.take("bob")
    team.settle("bob", work, "progress", note=SECRET)
    same_as_unknown(team, "mal", "/v1/handoffs/{}", sent["id"], "ho-999")
    team.settle("bob", work, "complete", result=SECRET)
    same_as_unknown(team, "mal", "/v1/handoffs/{}", sent["id"], "ho-999")
    for who in ("ann", "bob", "lead", "admin"):
        assert team.get(who, f"/v1/handoffs/{sent['id']}")["result"] == SECRET


def test_who_began_a_chain_follows_what_is_handed_on_and_who_stands_beside_it_does_not(team):
    """ann publishes to bob and cid; bob hands on to dora. ann sees dora's work; cid, who has the same envelope, does not."""
    packed = team.ask("ann", "POST", "/v1/envelopes", {"target_agent": "bob", "task_summary": "first", "task": "t"}).json["id"]
    published = team.ask("ann", "POST", "/v1/channels/news/publish", {"envelope_id": packed, "receivers": ["bob", "cid"]})
    assert published.status == 200, published
    work = team.take("bob")
    done = team.settle("bob", work, "complete", result="half", then={"envelope": {"target_agent": "dora", "task_summary": SECRET}})
    on = done["then"]["id"]
    assert team.get("ann", f"/v1/handoffs/{on}")["to"] == "dora"
    assert team.get("bob", f"/v1/handoffs/{on}")["from"] == "bob"
    for who in ("cid", "mal"):
        same_as_unknown(team, who, "/v1/handoffs/{}", on, "ho-999")
    same_as_unknown(team, "cid", "/v1/handoffs/{}", work["id"], "ho-999")


# --- What is told with parked work ---


def test_parked_work_of_others_is_neither_listed_nor_counted(team):
    for to in ("bob", "mal"):
        team.send("ann", to, SECRET, max_attempts=1)
        team.settle(to, team.take(to), "reject", reason=f"{SECRET}, says {to}")
    page = team.get("mal", "/v1/parked")
    assert [row["to"] for row in page["parked"]] == ["mal"] and page["total"] == 1, page
    assert team.get("ann", "/v1/parked")["total"] == team.get("admin", "/v1/parked")["total"] == 2
    assert team.get("cid", "/v1/parked?reason=merger") == {**team.get("cid", "/v1/parked"), "parked": [], "total": 0}
    listed = KeyedMcp(team.keyed, team.keys["mal"]).tool("parked_list")
    assert "says mal" in json.dumps(listed) and "says bob" not in json.dumps(listed), listed
    error = KeyedMcp(team.keyed, team.keys["mal"]).tool_error("parked_list", to="bob")
    assert error.startswith("forbidden"), error


def test_the_list_of_queues_has_figures_only(team):
    team.send("ann", "bob", SECRET)
    (queue,) = team.get("mal", "/v1/queues")["queues"]
    assert queue["agent"] == "bob" and queue["queued"] == 1
    assert SECRET not in json.dumps(queue) and "ho-" not in json.dumps(queue) and "env-" not in json.dumps(queue)
    assert queue == {**team.get("lead", "/v1/queues")["queues"][0]}


def test_what_another_agent_works_on_is_told_to_who_sees_that_handoff(team):
    for agent in ("bob", "cid"):
        assert team.ask("admin", "PUT", f"/v1/agents/{agent}", {}).status == 200
    own, other = (team.send(by, "bob", SECRET)["id"] for by in ("mal", "ann"))
    for _ in range(2):
        team.take("bob")

    def works_on(who):
        (listed,) = [agent for agent in team.get(who, "/v1/agents")["agents"] if agent["name"] == "bob"]
        one = team.get(who, "/v1/agents/bob")
        assert one == listed and one["presence"] == "working" and one["queue"]["leased"] == 2, "figures stay"
        return [work["id"] for work in one["working_on"]]

    team.keys["eve"] = team.keyed.key(space=team.space, agent="cid", scopes=["read"])
    for who, expected in (("cid", []), ("eve", []), ("mal", [own]), ("ann", [other]), ("bob", [own, other]),
                          ("lead", [own, other]), ("admin", [own, other])):
        assert works_on(who) == expected, who
    assert SECRET not in json.dumps(team.get("cid", "/v1/agents")) and SECRET in json.dumps(team.get("mal", "/v1/agents"))


# --- Envelopes and tasks ---

OF_ENVELOPE = ("/v1/envelopes/{}", "/v1/envelopes/{}?format=prompt", "/v1/envelopes/{}/receipts", "/v1/envelopes/{}/considered",
               "/v1/envelopes/{}/verify")
OF_TASK = ("/v1/tasks/{}", "/v1/tasks/{}/trace", "/v1/tasks/{}/fidelity", "/v1/tasks/{}/blame?key=intent")


def test_an_envelope_is_read_by_who_takes_part_in_its_task(team):
    first = team.send("ann", "bob", SECRET, envelope={"task": "deal", "intent": SECRET})
    own = team.send("mal", "mal")["envelope_id"]
    work = team.take("bob")
    second = team.settle("bob", work, "complete", then={"envelope": {"target_agent": "cid", "task_summary": "and then"}})["then"]["id"]
    envelopes = [first["envelope_id"], team.get("bob", f"/v1/handoffs/{second}")["envelope_id"]]
    for who in ("ann", "bob", "cid", "lead", "admin"):
        for path in OF_ENVELOPE:
            assert [team.ask(who, "GET", path.format(one)).status for one in envelopes] == [200, 200], (who, path)
        assert [team.ask(who, "GET", path.format("deal")).status for path in OF_TASK] == [200] * 4, who
        assert "deal" in team.listed(who, "/v1/tasks"), who
    for one in envelopes:
        for path in OF_ENVELOPE:
            same_as_unknown(team, "mal", path, one, "env-999")
        assert team.ask("mal", "GET", f"/v1/envelopes/{one}/diff/{own}").status == 404
        assert team.ask("mal", "GET", f"/v1/envelopes/{own}/diff/{one}").status == 404
        assert team.ask("mal", "POST", f"/v1/envelopes/{one}/resolve", {}).status == 404
    for path in OF_TASK:
        same_as_unknown(team, "mal", path, "deal", "d999")
    assert "deal" not in team.listed("mal", "/v1/tasks")
    assert team.listed("mal", "/v1/tasks?query=merger") == team.listed("mal", "/v1/tasks?agent=cid") == []
    assert "deal" in team.listed("lead", "/v1/tasks?query=merger")


def test_pages_of_tasks_are_those_of_the_agents_own(team):
    mine = [team.send("ann", "mal" if i % 3 == 0 else "bob", envelope={"task": f"t{i}"})["id"] and f"t{i}" for i in range(12)]
    expected = [name for i, name in enumerate(mine) if i % 3 == 0][::-1]
    for query in ("", "?state=open", "?query=t"):
        for size in (1, 3, 100):
            assert team.listed("mal", f"/v1/tasks{query}", size) == expected, (query, size)


def test_a_large_task_is_looked_through_for_who_came_late(team):
    """More envelopes than are read at a time, and than one thread of connections may look at."""
    parent = team.send("ann", "bob", envelope={"task": "long"})["envelope_id"]
    for i in range(230):
        packed = team.ask("ann", "POST", "/v1/envelopes", {"target_agent": "bob", "task_summary": f"{i}", "task": "long", "parent": parent})
        assert packed.status == 201, packed
    assert team.ask("cid", "GET", "/v1/tasks/long").status == 404 and team.listed("cid", "/v1/tasks") == []
    team.send("ann", "cid", envelope={"task": "long", "parent": parent})
    assert team.ask("cid", "GET", "/v1/tasks/long").status == 200 and team.listed("cid", "/v1/tasks") == ["long"]
    assert team.ask("cid", "GET", f"/v1/envelopes/{parent}").status == 200
    assert team.ask("mal", "GET", f"/v1/envelopes/{parent}").status == 404


def test_a_trace_tells_a_participant_of_its_own_handoffs(team):
    packed = team.ask("ann", "POST", "/v1/envelopes", {"target_agent": "bob", "task_summary": "x", "task": "t"}).json["id"]
    assert team.ask("ann", "POST", "/v1/channels/news/publish", {"envelope_id": packed, "receivers": ["bob", "cid"]}).status == 200
    team.settle("cid", team.take("cid"), "progress", note=SECRET)
    seen = json.dumps(team.get("bob", "/v1/tasks/t/trace"))
    assert SECRET not in seen and '"cid"' not in seen and packed in seen
    assert SECRET in json.dumps(team.get("ann", "/v1/tasks/t/trace"))
    (task,) = team.get("bob", "/v1/tasks")["tasks"]
    assert SECRET not in json.dumps(task), task
    text = json.dumps(KeyedMcp(team.keyed, team.keys["bob"]).tool("handoff_trace", task="t"))
    assert SECRET not in text and packed in text
    assert KeyedMcp(team.keyed, team.keys["mal"]).tool_error("handoff_trace", task="t").startswith("task_not_found")


def test_what_is_stored_belongs_to_no_task_of_others(team):
    """Spine-Task says what one works on. A task of others is as one that was never there."""
    team.send("ann", "bob", SECRET, envelope={"task": "deal"})
    for path, body in (("/v1/memories", {"content": "x"}), ("/v1/memories/batch", {"memories": [{"content": "x"}, {"content": "y", "task": "own"}]})):
        def store(who, task):
            return team.keyed.ask("POST", path, body, team.keys[who], {"Spine-Task": task})

        hidden, missing = store("mal", "deal"), store("mal", "d999")
        assert hidden.status == missing.status == 404 and hidden.json["field"] == "Spine-Task", hidden
        assert hidden.data.replace(b"deal", b"d999") == missing.data
        assert [store(who, "deal").status for who in ("ann", "bob", "lead", "admin")] == [201] * 4
    assert team.keyed.ask("POST", "/v1/memories", {"content": "x", "task": "own"}, team.keys["mal"], {"Spine-Task": "deal"}).status == 201, \
        "what the header is not used for it does not decide"
    assert {row.get("task") for row in team.get("admin", "/v1/memories?agent=mal")["memories"]} == {"own"}


# --- Ways to take part ---


def test_nobody_reads_what_is_of_others_by_sending_it_or_going_on_from_it(team):
    sent = team.send("ann", "bob", SECRET, envelope={"task": "deal", "constraints": {"secret": SECRET}})
    envelope = sent["envelope_id"]
    whole = team.get("ann", f"/v1/envelopes/{envelope}")
    new = {"target_agent": "mal", "task_summary": "x"}
    for path, body in [
        ("/v1/handoffs", {"envelope_id": envelope, "to": "mal"}),
        ("/v1/channels/news/publish", {"envelope_id": envelope, "receivers": ["mal"]}),
        ("/v1/envelopes", {**new, "parent": envelope}),
        ("/v1/handoffs", {"envelope": {**new, "parent": envelope}}),
    ]:
        answer = team.ask("mal", "POST", path, body)
        unknown = team.ask("mal", "POST", path, json.loads(json.dumps(body).replace(envelope, "env-999")))
        assert answer.status == unknown.status == 404, (path, answer)
        assert answer.data.decode().replace(envelope, "env-999") == unknown.data.decode()
    for more in ({}, {"new_root": True}):
        answer = team.ask("mal", "POST", "/v1/envelopes", {**new, "task": "deal", **more})
        assert answer.status == 403 and answer.json["field"] == "task" and SECRET not in answer.data.decode(), answer
    error = KeyedMcp(team.keyed, team.keys["mal"]).tool_error("agent_handoff", target_agent="mal", task_summary="x", task="deal")
    assert error.startswith("forbidden"), error
    assert team.ask("mal", "GET", f"/v1/envelopes/{envelope}").status == 404
    assert team.ask("bob", "POST", "/v1/envelopes", {**new, "task": "deal"}).status == 201
    assert team.ask("lead", "POST", "/v1/envelopes", {**new, "parent": whole["id"]}).status == 201


def test_what_receivers_make_of_it_is_for_who_published_it(team):
    packed = team.ask("ann", "POST", "/v1/envelopes", {"target_agent": "bob", "task_summary": "x"}).json["id"]
    assert team.ask("ann", "POST", "/v1/channels/news/publish", {"envelope_id": packed, "receivers": ["bob", "cid"]}).status == 200
    for agent in ("bob", "cid"):
        team.settle(agent, team.take(agent), "complete", result=f"{SECRET} ({agent})")
    joined = {who: team.ask(who, "POST", "/v1/channels/news/join", {"envelope_id": packed}) for who in ("ann", "lead")}
    assert all(answer.status == 200 and SECRET in answer.data.decode() for answer in joined.values()), joined
    for who in ("bob", "mal"):
        hidden, unknown = (team.ask(who, "POST", "/v1/channels/news/join", {"envelope_id": one}) for one in (packed, "env-999"))
        assert hidden.status == unknown.status == 404, hidden
        assert hidden.data.decode().replace(packed, "env-999") == unknown.data.decode()


# --- What is told as it happens ---


class Events:
    """A stream of events with the key of an agent."""

    def __init__(self, team, who, query=""):
        self.connection = http.client.HTTPConnection(*team.keyed.address, timeout=30)
        self.connection.request("GET", f"/v1/events{query}", headers={"Authorization": f"Bearer {team.keys[who]}", "Accept": "text/event-stream"})
        self.response = self.connection.getresponse()
        assert self.response.status == 200

    def until(self, text):
        """What it tells, up to an event that holds the text."""
        events = []
        while not events or text not in events[-1]:
            line = self.response.readline().decode()
            assert line and "still here" not in line, ("it was all told", events)
            if line.startswith("data: "):
                events.append(line)
        self.connection.close()
        return "".join(events)


def test_events_and_audit_tell_of_what_an_agent_takes_part_in_and_of_what_is_shared(team):
    theirs = team.send("ann", "bob", SECRET)
    work = team.take("bob")
    team.settle("bob", work, "nack", reason=SECRET)
    own = team.send("ann", "mal")
    last = team.ask("ann", "POST", "/v1/memories", {"content": "shared"}).json["id"]
    hidden = (f'"{theirs["id"]}"', f'"{theirs["envelope_id"]}"', SECRET)
    for text in (json.dumps(team.get("mal", "/v1/audit?page_size=1000")), json.dumps(team.get("mal", "/v1/events?after=0&limit=1000")),
                 Events(team, "mal", "?after=0").until(last)):
        assert not [one for one in hidden if one in text], text
        assert own["id"] in text and last in text, text
    for who in ("ann", "bob", "lead"):
        assert SECRET in json.dumps(team.get(who, "/v1/audit?page_size=1000"))
        assert SECRET in Events(team, who, "?after=0").until(last), who
    for object_of in (theirs["id"], theirs["envelope_id"]):
        assert team.get("mal", f"/v1/audit?object={object_of}")["entries"] == []


def test_streams_of_several_keys_side_by_side_are_not_mixed_up(team):
    """Streams at one place share what is read for them: not with who may see less."""
    streams = [(who, Events(team, who)) for who in ("lead", "bob", "mal", "cid", "mal") * 4]
    theirs = team.send("ann", "bob", SECRET)
    last = team.ask("ann", "POST", "/v1/memories", {"content": "shared"}).json["id"]
    for who, stream in streams:
        assert (f'{theirs["id"]}"' in stream.until(last)) == (who in ("lead", "bob")), who


# --- MCP ---


def test_resources_are_read_by_the_same_rule(team):
    sent = team.send("ann", "bob", SECRET)
    uri = f"spine://envelope/{sent['envelope_id']}"
    for who in ("bob", "lead"):
        assert SECRET in str(KeyedMcp(team.keyed, team.keys[who]).ok("resources/read", {"uri": uri}))
    answer = KeyedMcp(team.keyed, team.keys["mal"]).call("resources/read", {"uri": uri})
    assert "error" in answer.json and "there is no envelope" in answer.json["error"]["message"], answer
