"""What one client asks for holds up nobody else, and is answered as if it was small."""

import json
import random
import socket
import time

import pytest
from api import Api, check_problem, wait_until
from keys import Keyed

LETTERS = "abcdefghijklmnopqrstuvwxyz"
LONG = 200_000  # characters of a memory that nobody packs in a moment


def letters(count, seed=1):
    """Random letters without a space: what takes longest to count."""
    return "".join(random.Random(seed).choices(LETTERS, k=count))


@pytest.fixture
def with_long_memory(desk):
    return desk.store(letters(LONG), pinned=True)["id"]


def slowest_meanwhile(desk, large):
    """Seconds of the slowest small request while the large ones are under way."""
    slowest = 0.0
    while any(one.is_alive() for one in large):
        began = time.monotonic()
        assert desk.call("GET", "/healthz").status == 200
        slowest = max(slowest, time.monotonic() - began)
    return slowest


def test_small_requests_do_not_wait_while_large_texts_are_counted(desk, beside):
    body = json.dumps({"text": letters(4_000_000)}).encode()
    large = [beside("POST", "/v1/tokens", body) for _ in range(8)]  # more than there are threads of HTTP
    slowest = slowest_meanwhile(desk, large)
    assert len({one.result(200).json["tokens"] for one in large}) == 1
    assert slowest < max(one.seconds for one in large) / 3


def test_small_requests_do_not_wait_while_large_envelopes_are_packed(desk, beside):
    for seed in range(40):
        desk.store(letters(LONG, seed), pinned=True)
    body = {"from": "a", "target_agent": "b", "task_summary": "look", "strategy": "full", "constraints": {"max_tokens": 9_000_000}}
    large = [beside("POST", "/v1/envelopes", {**body, "dry_run": True}) for _ in range(4)]
    slowest = slowest_meanwhile(desk, large)
    assert {one.result(200).status for one in large} == {200}
    assert slowest < max(one.seconds for one in large) / 3


def long_history(desk, steps, **more):
    """An envelope that is long without a memory; its id."""
    history = [{"agent": "a", "action": f"did {number} " + "x" * 2000} for number in range(steps)]
    return desk.ok("POST", "/v1/envelopes", {"from": "a", "target_agent": "b", "task_summary": "go on", "include_recent": 0, "execution_history": history,
                                             "constraints": {"max_tokens": 1_000_000}, **more}, status=201)


@pytest.mark.parametrize("how", ["prompt", "v1", "considered", "resolve", "mcp"])
def test_small_requests_do_not_wait_while_large_envelopes_are_read(desk, beside, how):
    ident = long_history(desk, 1000)["id"]
    asked = {
        "prompt": ("GET", f"/v1/envelopes/{ident}?format=prompt"),
        "v1": ("GET", f"/v1/envelopes/{ident}?format=v1"),
        "considered": ("GET", f"/v1/envelopes/{ident}/considered"),
        "resolve": ("POST", f"/v1/envelopes/{ident}/resolve", {}),
        "mcp": ("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": f"spine://envelope/{ident}"}}),
    }[how]
    large = [beside(*asked) for _ in range(12)]
    slowest = slowest_meanwhile(desk, large)
    assert len({one.result(200).data for one in large}) == 1
    assert slowest < max(one.seconds for one in large) / 2


def test_a_large_envelope_is_sent_and_received_as_a_small_one(desk):
    small, large = long_history(desk, 1), long_history(desk, 1000)
    for packed in (small, large):
        sent = desk.ok("POST", "/v1/handoffs", {"envelope_id": packed["id"]}, status=202)
        again = desk.ok("POST", "/v1/handoffs", {"envelope_id": packed["id"]}, status=202)
        assert again["id"] == sent["id"]
    taken = desk.ok("POST", "/v1/agents/b/receive", {"max": 2, "format": "both"})["handoffs"]
    assert [one["envelope"]["id"] for one in taken] == [small["id"], large["id"]]
    for one, packed in zip(taken, (small, large)):
        told = desk.call("GET", f"/v1/envelopes/{packed['id']}?format=prompt").data.decode()
        assert one["prompt"] == told
        assert one["envelope"]["digest"] == packed["digest"]


def test_a_large_envelope_is_packed_and_can_be_verified(desk, with_long_memory):
    packed = desk.ok("POST", "/v1/envelopes", {"from": "a", "target_agent": "b", "task_summary": f"Read {with_long_memory}.",
                                               "constraints": {"max_tokens": 1_000_000}}, status=201)
    [ref] = packed["memory"]["refs"]
    assert (ref["id"], ref["form"], len(ref["text"])) == (with_long_memory, "full", LONG)
    assert desk.ok("GET", f"/v1/envelopes/{packed['id']}/verify")["ok"] is True


def test_what_is_refused_while_it_is_large_says_why(desk, with_long_memory):
    problem = desk.refused(422, "budget_too_small", "POST", "/v1/envelopes",
                           {"from": "a", "target_agent": "b", "task_summary": letters(40_000), "constraints": {"max_tokens": 100}})
    assert problem["minimum"] > 10_000
    assert desk.ok("GET", "/v1/tasks")["tasks"] == []


def test_a_large_dry_run_stores_nothing(desk, with_long_memory):
    body = {"from": "a", "target_agent": "b", "task_summary": f"Read {with_long_memory}.", "dry_run": True}
    assert "budgets" in desk.ok("POST", "/v1/envelopes", body)
    assert desk.ok("GET", "/v1/tasks")["tasks"] == []


def test_a_large_request_with_a_key_is_carried_out_once(desk, with_long_memory):
    body = {"envelope": {"from": "a", "target_agent": "b", "task_summary": f"Read {with_long_memory}."}}
    first = desk.ok("POST", "/v1/handoffs", body, {"Idempotency-Key": "k"}, 202)
    again = desk.call("POST", "/v1/handoffs", body, {"Idempotency-Key": "k"})
    assert again.json == first and again.headers["Idempotent-Replayed"] == "true"
    assert len(desk.receive("b", max=10)) == 1


def test_a_sender_of_something_large_waits_for_the_ack(desk, beside, with_long_memory):
    body = {"envelope": {"from": "a", "target_agent": "b", "task_summary": f"Read {with_long_memory}."}, "wait_s": 30}
    sender = beside("POST", "/v1/handoffs", body)
    work = desk.take("b", wait_s=20)
    desk.settle("ack", work)
    assert sender.result(200).json["state"] == "acked"


def test_something_large_is_handed_on_with_the_completion(desk, with_long_memory):
    desk.send("worker")
    work = desk.take("worker")
    then = {"to": "next-one", "envelope": {"target_agent": "next-one", "task_summary": f"Read {with_long_memory}."}}
    done = desk.settle("complete", work, result="done", then=then)
    assert done["state"] == "completed" and done["then"]["state"] == "queued"
    [got] = desk.receive("next-one", wait_s=5, format="envelope")
    assert with_long_memory in [ref["id"] for ref in got["envelope"]["memory"]["refs"]]


def test_one_large_settling_among_others_in_a_receive(desk, with_long_memory):
    for _ in range(2):
        desk.send("worker")
    first, second = desk.take("worker"), desk.take("worker")
    then = {"to": "b", "envelope": {"target_agent": "b", "task_summary": f"Read {with_long_memory}.", "surprise": 1}}
    answer = desk.ok("POST", "/v1/agents/worker/receive", {"settle": [
        {"id": first["id"], "verb": "complete", "lease": first["lease"], "result": "one"},
        {"id": second["id"], "verb": "complete", "lease": second["lease"], "result": "two", "then": then},
    ]})
    assert [desk.state(one) for one in (first, second)] == ["completed", "completed"]
    assert len([w for w in answer.get("warnings", []) if "surprise" in w["field"]]) == 1


@pytest.mark.parametrize("query", ["", "query=needle&"])
def test_pages_of_long_memories_end_early_and_lose_nothing(desk, query):
    stored = [desk.store(f"needle {number} " + "x" * 250_000)["id"] for number in range(70)]
    ids, token, sizes = [], "", []
    while token is not None:
        page = desk.ok("GET", f"/v1/memories?{query}page_size=50{token and '&page_token=' + token}")
        ids += [memory["id"] for memory in page["memories"]]
        sizes.append(sum(len(memory["content"]) for memory in page["memories"]))
        token = page["next_page_token"]
    assert sorted(ids) == sorted(stored) and max(sizes) <= 8 << 20
    assert len(sizes) > 2  # fewer than 50 on the first


def test_pages_of_long_versions_end_early_and_lose_nothing(desk):
    memory = desk.store("y" * 250_000)["id"]
    for number in range(39):
        desk.patch(memory, content=f"{number} " + "x" * 250_000)
    first = desk.ok("GET", f"/v1/memories/{memory}/versions?page_size=100")
    rest = desk.ok("GET", f"/v1/memories/{memory}/versions?page_size=100&page_token={first['next_page_token']}")
    assert len(first["versions"]) + len(rest["versions"]) == 40 and rest["next_page_token"] is None


def resident_mb(server):
    with open(f"/proc/{server.process.pid}/statm") as file:
        return int(file.read().split()[1]) * 4096 / 1e6


def is_sanitized(server):
    """The address sanitizer keeps what was freed for a while."""
    with open(f"/proc/{server.process.pid}/maps") as file:
        return "libasan" in file.read()


def test_clients_that_do_not_read_take_a_bounded_part_of_the_memory(start):
    server = start("--max-reply-total", "32m").wait_until_ready()
    desk = Api(server.address)
    for number in range(32):
        desk.store(f"{number} " + "x" * 250_000)
    before = resident_mb(server)
    request = b"GET /v1/memories?page_size=50 HTTP/1.1\r\nHost: localhost\r\n\r\n"
    idle = [socket.create_connection(server.address) for _ in range(30)]  # they ask for 8 MB each, and read nothing
    for connection in idle:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(request)
    wait_until(lambda: Api(server.address).call("GET", "/v1/memories?page_size=50").status == 503, "a large answer is refused")
    problem = check_problem(desk.call("GET", "/v1/memories?page_size=50"), 503, "overloaded")
    assert "have not read" in problem["detail"] and problem["retryable"] is True
    assert desk.store("small")["version"] == 1  # small answers always go
    assert is_sanitized(server) or resident_mb(server) - before < 200  # without the limit more than 500
    for connection in idle:
        connection.close()
    wait_until(lambda: desk.call("GET", "/v1/memories?page_size=50").status == 200, "there is room again")


def test_strangers_that_do_not_read_take_no_room_from_holders_of_keys(tmp_path):
    desk = Keyed(tmp_path / "data", "--max-reply-total", "2m")
    try:
        for number in range(4):
            assert desk.ask("POST", "/v1/memories", {"content": f"{number} " + "x" * 250_000}, desk.root).status == 201
        strangers = [socket.create_connection(desk.address) for _ in range(40)]  # they ask for 265 KB each, and read nothing
        for stranger in strangers:
            stranger.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            stranger.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20)
        wait_until(lambda: desk.ask("GET", "/v1/status", key=desk.root).json["http"]["connections"] == 41, "they have come")
        assert len(desk.ask("GET", "/v1/memories", key=desk.root).data) > 1_000_000
        for stranger in strangers:
            stranger.close()
    finally:
        desk.server.discard()


def test_a_filter_that_fits_something_far_behind_finds_it_on_the_first_page(desk):
    desk.store("the first of all", headers={"Spine-Agent": "early"})
    for number in range(1200):
        desk.store(f"later {number}", headers={"Spine-Agent": "late"})
    first = desk.ok("GET", "/v1/audit?actor=early&order=newest")
    assert [entry["actor"] for entry in first["entries"]] == ["early"] and first["next_page_token"] is None


def test_a_large_page_is_what_the_small_ones_are_together(desk):
    for number in range(230):
        desk.pack(task=f"t{number}")
    small, token = [], ""
    while token is not None:
        page = desk.ok("GET", f"/v1/tasks?page_size=50{token and '&page_token=' + token}")
        small += page["tasks"]
        token = page["next_page_token"]
    assert desk.ok("GET", "/v1/tasks?page_size=300")["tasks"] == small
    assert len(small) == 230


def test_a_list_of_open_tasks_goes_on_behind_those_that_do_not_fit(desk):
    """Those that do not fit are more than a page."""
    old = [desk.deliver(desk.pack(task=f"old-{number}"), 202).json["id"] for number in range(3)]
    wait_until(lambda: desk.ok("GET", "/v1/tasks?state=waiting&older_than_s=1")["tasks"], "the old ones are a second old")
    for number in range(40):
        desk.deliver(desk.pack(task=f"new-{number}"), 202)
    found, token = [], ""
    while token is not None:
        page = desk.ok("GET", f"/v1/tasks?state=waiting&older_than_s=1&page_size=5{token and '&page_token=' + token}")
        found += [task["handoff"] for task in page["tasks"]]
        token = page["next_page_token"]
    assert found[-3:] == old[::-1] and len(set(found)) == len(found)  # by now some of the new ones may be as old


def test_small_requests_do_not_wait_while_large_json_is_parsed(desk, beside):
    wide = b'{"ids": [' + b",".join([b'[1,{"a":"b"}]'] * 550_000) + b"]}"
    large = [beside("POST", "/v1/memories/fetch", wide) for _ in range(8)]
    slowest = slowest_meanwhile(desk, large)
    assert {one.result().status for one in large} == {422}
    assert slowest < max(one.seconds for one in large) / 3


def test_another_client_gets_its_turn_before_all_of_one_client_are_done(desk, beside):
    body = json.dumps({"text": letters(2_000_000)}).encode()
    greedy = [beside("POST", "/v1/tokens", body, {"Spine-Agent": "greedy"}) for _ in range(8)]
    wait_until(lambda: not desk.is_alone(), "they are under way")
    other = beside("POST", "/v1/tokens", json.dumps({"text": letters(100_000)}).encode(), {"Spine-Agent": "modest"})
    assert other.result(200).json["tokens"] > 0
    assert [one.result(200).status for one in greedy] == [200] * 8
    assert other.ended_at < sorted(one.ended_at for one in greedy)[2]
