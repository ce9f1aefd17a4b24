"""The audit names the key: which one let in who did something."""

import http.client

import pytest

from api import wait_until
from keys import Keyed, ask


@pytest.fixture(scope="module")
def keyed(tmp_path_factory):
    running = Keyed(tmp_path_factory.mktemp("keyed") / "data")
    yield running
    assert running.server.terminate() == 0, running.server.log_tail()


class Stream:
    """The events of a key's space from the first on."""

    def __init__(self, address, key):
        self.connection = http.client.HTTPConnection(*address, timeout=20)
        self.connection.request("GET", "/v1/events?after=0", headers={"Authorization": f"Bearer {key}"})
        self.response = self.connection.getresponse()
        assert self.response.status == 200

    def until(self, end):
        text = b""
        while end not in text:
            text += self.response.readline()
        return text

    def close(self):
        self.connection.close()


WORK = {"target_agent": "ben", "task_summary": "it is to be done", "include_recent": 0}


def entries(keyed, key, query=""):
    return keyed.ask("GET", f"/v1/audit?page_size=1000{query}", key=key).json["entries"]


def made(keyed, space, **fields):
    """A new key of the space: its text and its id."""
    one = keyed.make(keyed.root, **{"name": "a key", "space": space, "scopes": ["admin"], **fields})
    return one["key"], one["id"]


def work(keyed, key, agent=None):
    """One of each kind of write: what tells by itself, what delivery tells, and what several events come of."""
    head = {"Spine-Agent": agent} if agent else {}

    def ok(method, path, body=None):
        answer = keyed.ask(method, path, body, key, head)
        assert answer.status < 300, (method, path, answer)
        return answer.json

    first = ok("POST", "/v1/memories", {"content": "one"})
    ok("POST", "/v1/memories", {"content": "two", "supersedes": first["id"]})
    ok("POST", "/v1/handoffs", {"envelope_id": ok("POST", "/v1/envelopes", WORK)["id"]})
    ok("PUT", "/v1/agents/ben", {"max_tokens": 5000})


def test_every_event_of_a_request_names_its_key_also_where_an_agent_is_named(keyed):
    (first, first_id), (second, second_id) = made(keyed, "two"), made(keyed, "two")
    work(keyed, first, "ann")
    own = entries(keyed, first)
    asked = [one for one in own if not one["action"].startswith("key.")]
    assert {one["actor"] for one in asked} == {"ann"} and {one["key"] for one in asked} == {first_id}, own
    assert {"memory.store", "memory.supersede", "envelope.pack", "handoff.send", "agent.set"} <= {one["action"] for one in asked}, own
    work(keyed, second, "ann")
    assert {one["key"] for one in entries(keyed, first)[len(own) :]} == {second_id}, "two keys of one agent are told apart"


def test_delivery_names_the_key_of_each_side(keyed):
    (sends, sender), (takes, taker) = made(keyed, "sides"), made(keyed, "sides")
    work(keyed, sends, "ann")
    taken = keyed.ask("POST", "/v1/agents/ben/receive", {}, takes).json["handoffs"][0]
    answer = keyed.ask("POST", f"/v1/handoffs/{taken['id']}/complete", {"lease": taken["lease"], "result": "done"}, takes)
    assert answer.status == 200, answer
    told = {one["action"]: one["key"] for one in entries(keyed, sends, f"&object={taken['id']}")}
    assert told["handoff.send"] == sender and told["handoff.receive"] == told["handoff.complete"] == taker, told
    result = [one for one in entries(keyed, sends, "&action=memory.store") if (one["note"] or "").startswith("result of")]
    assert [one["key"] for one in result] == [taker]


def test_one_key_can_be_asked_for(keyed):
    (one, number), (other, other_number) = made(keyed, "asked"), made(keyed, "asked")
    for key, text in ((one, "a"), (other, "b"), (one, "c")):
        assert keyed.ask("POST", "/v1/memories", {"content": text}, key).status == 201
    assert [entry["object"] for entry in entries(keyed, one, f"&key={number}")] == ["ms-1", "ms-3"]
    assert [entry["object"] for entry in entries(keyed, one, f"&key={other_number}")] == ["ms-2"]
    assert entries(keyed, one, "&key=key-9999") == []
    keyed.refused(422, "invalid_field", "GET", "/v1/audit?key=seven", key=one, field="key")


def test_events_and_the_history_of_a_handoff_name_it_too(keyed):
    key, number = made(keyed, "told")
    work(keyed, key, "ann")
    page = keyed.ask("GET", "/v1/events?after=0", key=key, headers={"Accept": "application/json"}).json["events"]
    asked = [one for one in page if ".key." not in one["type"]]
    assert asked and {one["data"]["key"] for one in asked} == {number}, page
    assert {one["key"] for one in keyed.ask("GET", "/v1/handoffs/ho-1", key=key).json["events"]} == {number}


def test_a_body_does_not_say_which_key_it_was(keyed):
    key, number = made(keyed, "forged")
    answer = keyed.ask("POST", "/v1/memories", {"content": "x", "key": "key-1", "access_key": 1, "metadata": {"key": "key-1"}}, key, {"Spine-Key": "key-1"})
    assert answer.status in (201, 422), answer
    if answer.status == 422:
        assert keyed.ask("POST", "/v1/memories", {"content": "x", "metadata": {"key": "key-1"}}, key, {"Spine-Key": "key-1"}).status == 201
    assert [one["key"] for one in entries(keyed, key, "&action=memory.")] == [number]


def test_forgetting_a_memory_takes_the_name_from_the_events_of_its_writing_and_leaves_the_key(keyed):
    (writes, writer), (forgets, forgetter) = made(keyed, "forgotten"), made(keyed, "forgotten")
    assert keyed.ask("POST", "/v1/memories", {"content": "mine"}, writes, {"Spine-Agent": "ann"}).status == 201
    assert keyed.ask("DELETE", "/v1/memories/ms-1", key=forgets).status == 200
    told = {one["action"]: one for one in entries(keyed, writes, "&object=ms-1")}
    assert told["memory.store"]["actor"] is None and told["memory.store"]["key"] == writer
    assert told["memory.forget"]["key"] == forgetter


def test_what_was_done_with_keys_is_told_to_who_may_read_them_alone(keyed):
    admin, _ = made(keyed, "hidden")
    readers = [made(keyed, "hidden", name="planted name", agent=agent, scopes=["read", "write"])[0] for agent in ("ann", None)]
    assert keyed.ask("POST", "/v1/memories", {"content": "one"}, readers[0]).status == 201

    def told(key, path, **headers):
        answer = keyed.ask("GET", path, key=key, headers={"Accept": "application/json", **headers})
        assert answer.status == 200, answer
        return answer.data

    for path in ("/v1/events?after=0", "/v1/audit?page_size=1000", "/v1/audit?action=key.", "/v1/audit?order=newest", "/v1/events?after=0&types=key."):
        assert b"planted name" in told(admin, path), path
        for reader in readers:
            assert b"planted name" not in told(reader, path) and b"key.create" not in told(reader, path), path
    assert b"memory.stored" in told(readers[1], "/v1/events?after=0")


def test_a_stream_does_not_tell_of_keys_to_who_may_not_read_them(keyed):
    admin, _ = made(keyed, "streamed")
    reader = made(keyed, "streamed", name="planted name", scopes=["read", "write"])[0]
    assert keyed.ask("POST", "/v1/memories", {"content": "the last one"}, reader).status == 201
    streams = [Stream(keyed.address, key) for key in (admin, reader, admin, reader)]
    for stream, sees in zip(streams, (True, False, True, False)):
        text = stream.until(b"memory.stored")
        assert (b"key.created" in text) == sees
        stream.close()


def test_what_happens_by_itself_names_none(keyed):
    key, number = made(keyed, "itself")
    sent = keyed.ask("POST", "/v1/handoffs", {"envelope": WORK, "queue_timeout_s": 1}, key)
    assert sent.status == 202, sent

    def told():
        return {one["action"]: one for one in entries(keyed, key, "&action=handoff.")}

    wait_until(lambda: "handoff.park" in told(), "nobody has taken it")
    assert told()["handoff.send"]["key"] == number and "key" not in told()["handoff.park"], told()


def test_an_open_server_names_none(server):
    assert ask(server.address, "POST", "/v1/memories", {"content": "x"}).status == 201
    told = ask(server.address, "GET", "/v1/audit").json["entries"]
    assert told and all("key" not in one for one in told), told
