"""Several nodes over one PostgreSQL: any of them serves any request, and their going and coming is not noticed."""

import http.client
import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import server
import stores
from api import wait_until
from cluster import (
    NEEDS_POSTGRES, Node, Waiting, contents, figure, log_of, pack, receiver, send, space_of, store, wait_for_each_other,
    waiting_at,
)
from mcp import LEGACY, MODERN, Mcp, Stream

pytestmark = NEEDS_POSTGRES

RULES = Path(__file__).resolve().parents[2] / "deploy" / "prometheus" / "alerts.yml"
MANUAL = RULES.parents[2] / "docs" / "cluster.md"


@pytest.fixture
def three(join):
    nodes = [join() for _ in range(3)]
    wait_for_each_other(nodes)
    return nodes


def test_any_node_serves_any_request(three):
    spaces = [f"space-{number}" for number in range(12)]
    for number, space in enumerate(spaces):
        store(three[number % 3], space, f"said of {space}")
    owners = set()
    for space in spaces:
        answers = [node.insist("GET", "/v1/memories", space=space) for node in three]
        assert {answer.data for answer in answers} == {answers[0].data}
        assert [memory["content"] for memory in answers[0].json["memories"]] == [f"said of {space}"]
        assert [answer.headers["Spine-Node"] for answer in answers] == [node.id for node in three]
        assert len({answer.headers["Spine-Owner"] for answer in answers}) == 1
        owners.add(answers[0].headers["Spine-Owner"])
    assert owners <= {node.url for node in three} and len(owners) > 1


def test_a_handoff_sent_through_one_node_reaches_who_waits_at_another(three):
    space = space_of(three[2], three)
    waiting = receiver(three[1], space)
    wait_until(lambda: waiting_at(three[2]) == 1, "the owner knows who waits")
    sent = send(three[0], space)
    got = waiting.result().json["handoffs"]
    assert [handoff["id"] for handoff in got] == [sent["id"]]
    lease = {"lease": got[0]["lease"]}
    three[0].insist("POST", f"/v1/handoffs/{sent['id']}/ack", lease, space=space)
    three[1].insist("POST", f"/v1/handoffs/{sent['id']}/complete", lease, space=space)
    assert three[2].insist("GET", f"/v1/handoffs/{sent['id']}", space=space).json["state"] == "completed"


def test_who_waits_through_another_node_and_goes_is_not_given_anything(three):
    space = space_of(three[1], three)
    connection = http.client.HTTPConnection(*three[0].address, timeout=60)
    connection.request("POST", "/v1/agents/worker/receive", json.dumps({"wait_s": 60, "format": "none"}),
                       {"Spine-Space": space, "Content-Type": "application/json"})
    wait_until(lambda: waiting_at(three[1]) == 1, "it waits at the owner")
    connection.close()
    wait_until(lambda: waiting_at(three[1]) == 0, "the owner has seen it go")
    sent = send(three[0], space)
    assert three[0].insist("GET", f"/v1/handoffs/{sent['id']}", space=space).json["state"] == "queued"


def test_events_come_through_any_node(three):
    space = space_of(three[0], three)
    connection = http.client.HTTPConnection(*three[2].address, timeout=60)
    connection.request("GET", "/v1/events", headers={"Spine-Space": space})
    stream = connection.getresponse()
    assert stream.status == 200 and stream.headers["Spine-Owner"] == three[0].url
    store(three[1], space, "told at once")
    while not (line := stream.readline().decode()).startswith("data: "):
        assert line, "the stream has ended"
    assert json.loads(line.removeprefix("data: "))["type"] == "com.memoryspine.memory.stored"
    connection.close()


def test_stopping_a_node_moves_its_spaces_at_once(three):
    first, second, third = three
    space = space_of(first, three)
    store(first, space, "kept")
    waiting = receiver(second, space)
    wait_until(lambda: waiting_at(first) == 1, "it waits at the owner")
    assert first.server.terminate() == 0
    answer = waiting.result()
    assert answer.status == 200 and answer.json["handoffs"] == [], answer
    # Long before a lease could have ended.
    assert second.insist("GET", "/v1/memories", space=space, seconds=4).headers["Spine-Owner"] in (second.url, third.url)
    assert contents(third, space) == ["kept"]
    store(second, space, "more")
    assert contents(third, space) == ["kept", "more"]
    assert first.id not in {node["id"] for node in second.cluster()["nodes"]}


def test_a_sender_whose_handoff_is_committed_is_not_told_that_nothing_was_done(three):
    first, second, _ = three
    space = space_of(first, three)
    body = {"envelope_id": pack(second, space), "wait_s": 60}
    waiting = Waiting(second, "POST", "/v1/handoffs", body, space)
    wait_until(lambda: waiting_at(first) == 1, "the sender waits at the owner")
    assert first.server.terminate() == 0
    told = waiting.result()
    assert (told.status, told.json["code"]) == (503, "no_owner"), told
    assert told.json["detail"] == ("the space moves to another node; the handoff is kept: deliver it again in a moment, "
                                   "with the same Idempotency-Key, and it goes on")
    kept = second.insist("GET", f"/v1/handoffs/{told.json['handoff']}", space=space).json
    assert (kept["state"], kept["envelope_id"]) == ("queued", body["envelope_id"])


def test_a_node_that_was_killed_is_replaced_when_its_lease_is_over(three):
    first, second, third = three
    space = space_of(second, three)
    store(first, space, "kept")
    second.server.kill()
    assert contents(first, space) == ["kept"]
    store(third, space, "more")
    assert contents(first, space) == ["kept", "more"]
    assert first.owner(space) in (first.url, third.url)


def test_what_a_node_had_been_passed_when_it_died_may_be_done(three):
    first, second, _ = three
    space = space_of(first, three)

    def sending(headers):
        body = {"envelope_id": pack(second, space), "wait_s": 60}
        return Waiting(second, "POST", "/v1/handoffs", body, space, headers=headers)

    calls = [sending({}), sending({"Idempotency-Key": "its-key"})]

    def arrived():
        return len(first.insist("GET", "/v1/handoffs", space=space).json["handoffs"]) == 2

    wait_until(arrived, "both are at the owner")
    first.server.kill()
    unknown, known = [call.result() for call in calls]
    assert (unknown.status, unknown.json["code"], unknown.json["retryable"]) == (500, "outcome_unknown", False), unknown
    assert (known.status, known.json["code"], known.json["retryable"]) == (503, "no_owner", True), known
    for answer in (unknown, known):
        assert answer.json["detail"].startswith("the node that owns the space went away before it answered"), answer
    assert len(second.insist("GET", "/v1/handoffs", space=space).json["handoffs"]) == 2


def test_a_node_that_slept_longer_than_its_lease_answers_nothing_from_memory(three):
    first, second, third = three
    space = space_of(second, three)
    store(first, space, "old")
    os.kill(second.server.process.pid, signal.SIGSTOP)
    store(first, space, "new")
    os.kill(second.server.process.pid, signal.SIGCONT)
    for _ in range(20):
        answer = second.ask("GET", "/v1/memories", space=space)
        if answer.status == 200:
            assert sorted(memory["content"] for memory in answer.json["memories"]) == ["new", "old"]
        else:
            assert answer.status == 503 and answer.json["code"] == "no_owner", answer
            assert answer.headers["Retry-After"] == "1"
    assert contents(second, space) == ["new", "old"]
    assert contents(third, space) == ["new", "old"]
    wait_for_each_other(three)
    lost = [line for line in log_of(second) if line["msg"] == "a shard is lost"]
    assert lost and all(line["why"] for line in lost), lost


def test_a_node_that_joins_takes_its_part(join):
    first = join()
    spaces = [f"space-{number}" for number in range(24)]
    for space in spaces:
        store(first, space, "kept")
    second = join()
    wait_for_each_other([first, second])

    def has_some():
        shards = first.cluster()["shards"]
        return all(shard["state"] != "moving" for shard in shards) and any(shard["owner"] == second.id for shard in shards)

    wait_until(has_some, "the second node has its part")
    owners = {first.owner(space) for space in spaces}
    assert owners == {first.url, second.url}
    assert all(contents(second, space) == ["kept"] for space in spaces)


def test_who_is_no_node_cannot_say_that_it_passes_something_on(three):
    for value in ("x", "node-1 1 - 00", f"{three[0].id} 1700000000000 - {'0' * 64}"):
        answer = three[1].ask("GET", "/v1/memories", space="x", reads=True)
        assert answer.status == 200
        connection = http.client.HTTPConnection(*three[1].address, timeout=60)
        connection.request("GET", "/v1/memories", headers={"Spine-Space": "x", "Spine-Passed": value})
        refused = connection.getresponse()
        problem = json.loads(refused.read())
        assert (refused.status, problem["code"]) == (403, "forbidden"), problem
        connection.close()


def test_the_cluster_is_told(three):
    space = space_of(three[0], three)
    store(three[1], space, "kept")
    wait_until(lambda: any(shard["owner"] == three[0].id for shard in three[1].cluster()["shards"]), "seen by the second")
    told = three[1].cluster()
    assert told["node"] == three[1].id
    assert {node["url"] for node in told["nodes"]} == {node.url for node in three}
    assert [shard["shard"] for shard in told["shards"]] == list(range(64))
    for node in told["nodes"]:
        assert node["shards"] == sum(shard["owner"] == node["id"] for shard in told["shards"])
        assert 0 < node["lease_left_ms"] <= 5000
    assert {shard["state"] for shard in told["shards"] if shard["owner"] is None} == {"idle"}


def test_the_spaces_of_all_nodes_are_listed_by_each(three):
    spaces = [f"space-{number}" for number in range(10)]
    for number, space in enumerate(spaces):
        store(three[number % 3], space, "kept")
    send(three[0], spaces[3])
    for node in three:
        listed, token = [], ""
        while token is not None:
            path = "/v1/spaces?page_size=3" + (f"&page_token={token}" if token else "")
            answer = wait_until(lambda path=path: node.insist("GET", path), "a page").json
            assert len(answer["spaces"]) <= 3
            listed += answer["spaces"]
            token = answer["next_page_token"]
        assert sorted(space["name"] for space in listed) == spaces
        assert {space["name"]: space["handoffs_open"] for space in listed if space["handoffs_open"]} == {spaces[3]: 1}
        assert all(space["memories"] == 1 for space in listed)


def test_the_figures_of_all_parts_stand_in_one_text(three):
    node = three[0]
    spaces, text = [], ""
    # Two spaces may be of one shard.
    while len(spaces) < 20 and len(set(re.findall(r'shard="(\d+)"', text))) < 2:
        spaces.append(space_of(node, three, but=spaces))
        send(node, spaces[-1])
        text = node.ask("GET", "/metrics").data.decode()
    families = re.findall(r"^# TYPE (\S+)", text, re.MULTILINE)
    assert len(families) == len(set(families))
    samples = [line.rsplit(" ", 1)[0] for line in text.splitlines() if not line.startswith("#")]
    assert len(samples) == len(set(samples))
    sent = re.findall(r'^spine_handoffs_total\{shard="(\d+)",space="([^"]+)",agent="worker"\} 1$', text, re.MULTILINE)
    assert sorted(space for _, space in sent) == sorted(spaces), text
    assert len({shard for shard, _ in sent}) > 1
    assert len(re.findall(r"^process_start_time_seconds ", text, re.MULTILINE)) == 1


def test_the_figures_of_the_cluster_are_told_however_many_shards_a_node_has_open(three):
    node, spaces = three[0], []

    def told():
        text = node.ask("GET", "/metrics").data.decode()
        samples = dict(line.rsplit(" ", 1) for line in text.splitlines() if line.startswith("spine_cluster_"))
        named = {name for file in (RULES, MANUAL) for name in re.findall(r"spine_cluster_[a-z_]*[a-z]", file.read_text())}
        # Those are there where there is a standby: test_cluster_nodes.py.
        named -= {"spine_cluster_standby_lag_seconds", "spine_cluster_standby_lag_bytes"}
        assert len(named) >= 5 and named <= {name.split("{")[0] for name in samples}, samples
        assert 0 < float(samples["spine_cluster_lease_seconds"]) <= 5
        assert samples['spine_cluster_nodes{state="live"}'] == "3"
        return set(re.findall(r"^(spine_store_commits_total\S*) ", text, re.MULTILINE))

    seen = told()
    # None, one, two: a series that was there stays what it is.
    while len(seen) < 2:
        spaces.append(space_of(node, three, but=spaces))
        store(node, spaces[-1], "kept")
        before, seen = seen, wait_until(lambda: told() or None, "the shard is open")
        assert before <= seen and all('{shard="' in name for name in seen), (before, seen)


def test_figures_of_all_spaces_are_of_one_shard_and_say_so(three):
    space, elsewhere = space_of(three[0], three), space_of(three[1], three)
    for name in (space, elsewhere):
        send(three[2], name)

    def figures(node):
        told = node.insist("GET", "/v1/stats?space=all", space=space).json
        return told["overall"]["handoffs"] and told

    for node in three:
        told = wait_until(lambda node=node: figures(node), "what was sent is counted")
        assert [warning["code"] for warning in told["warnings"]] == ["one_shard"]
        assert told["overall"]["handoffs"] == 1
        assert [(target["space"], target["agent"]) for target in told["targets"]] == [(space, "worker")]
        assert "warnings" not in node.insist("GET", "/v1/stats", space=space).json
    assert "has the spaces of one shard here" in three[0].spine("top", "--once", "--all", "--space", space)


def test_a_database_that_is_away_is_told_quickly_and_comes_back(join, postgres, database):
    node = join()
    store(node, "here", "kept")
    name = database.name
    postgres.run(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    postgres.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
    # Long before its lease is over: a load balancer need not go on with it.
    told = wait_until(lambda: (got := node.ask("GET", "/readyz")).status == 503 and got, "it is not ready")
    assert told.json["reason"] == "no_database", told
    wait_until(lambda: node.ask("GET", "/readyz").json["reason"] == "no_lease", "its lease is over")
    lost = "spine_cluster_leases_lost_total"
    wait_until(lambda: figure(node, lost) == 1, "its lease is lost")
    answer = node.ask("GET", "/v1/memories", space="here")
    assert answer.status == 503 and answer.json["code"] == "no_owner" and answer.headers["Retry-After"] == "1", answer
    assert answer.json["detail"].startswith("this node does not reach the database just now"), answer
    assert node.ask("GET", "/healthz").status == 200
    postgres.run(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    assert contents(node, "here") == ["kept"]
    assert node.ask("GET", "/readyz").status == 200
    assert figure(node, lost) == 1, "it was lost once, however long the database was away"
    lines = log_of(node)
    assert any(line["msg"] == "the database answers again" for line in lines)
    (away,) = [line for line in lines if line["msg"].startswith("the database does not answer")]
    assert "is not currently accepting connections" in away["error"], away
    assert not [line for line in lines if set("\n\t") & set(line.get("error", ""))], "one line each"
    (gone,) = [line for line in lines if line["msg"] == "a shard is lost"]
    assert gone["why"] == "the lease is over: the database was not reached", gone
    assert node.server.terminate() == 0


def test_a_database_that_stands_still_keeps_nobody_waiting_past_the_lease(join, postgres):
    """Its connections stay, and nothing answers: a read that is not kept in memory ends with 503, and so does the next."""
    node = join()
    store(node, "here", "kept")
    with postgres.frozen():
        until = time.monotonic() + 8  # the lease of five seconds ends meanwhile
        told = wait_until(lambda: (got := node.ask("GET", "/readyz")).status == 503 and got, "it is not ready")
        # Before the lease is over: a load balancer that asks need not go on with it.
        assert told.json["reason"] == "no_database", told
        (line,) = [line for line in log_of(node) if line["msg"].startswith("the database does not answer")]
        assert line["error"] == "no answer for 1500 ms", line
        while time.monotonic() < until:
            began = time.monotonic()
            answer = node.ask("GET", "/v1/memories?page_size=7", space="here")
            assert answer.status == 503 and answer.headers["Retry-After"] == "1", answer
            assert time.monotonic() - began < 6
        assert node.ask("GET", "/readyz").status == 503
    assert contents(node, "here") == ["kept"]
    assert node.server.terminate() == 0


def test_what_is_put_right_by_the_next_look_is_no_warning(join, database):
    """Where nodes come back together one finds the lease of another over, takes what that has, and is refused: it lives."""
    nodes = first, second = join(), join()
    for number in range(24):
        store(first, f"space-{number}", "kept")

    def is_refused():
        wait_for_each_other(nodes)
        database.run(f"UPDATE spine.node SET lease_until = 0 WHERE id = '{second.id}'; NOTIFY spine")
        return [line for line in log_of(first) if line["msg"].startswith("a shard cannot be opened")]

    wait_until(is_refused, "the second has renewed its lease, and the first has seen it over")
    wait_for_each_other(nodes)
    assert {line["level"] for line in is_refused()} == {"info"}


def test_the_files_that_libpq_reads_can_be_read_behind_the_fences(tmp_path, postgres, database):
    """Where the database is stands in the user's home: without it there is no second connection."""
    where = urlsplit(database.url)
    (tmp_path / "home").mkdir()
    (tmp_path / "home/.pg_service.conf").write_text(
        f"[ours]\nhost={where.hostname}\nport={where.port}\nuser={where.username}\ndbname={database.name}\n")
    node = Node(tmp_path / "node", "postgres:///?service=ours", HOME=str(tmp_path / "home"))
    store(node, "here", "kept")
    postgres.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database.name}'")
    store(node, "here", "kept, too")
    assert contents(node, "here") == ["kept", "kept, too"]
    assert node.server.terminate() == 0


@pytest.mark.parametrize("version", [LEGACY, MODERN])
def test_mcp_goes_through_any_node(three, version):
    space = space_of(three[0], three)
    store(three[0], space, "the gateway answers 429")
    begun = Mcp(three[1].address, space, "worker", version)
    if version == LEGACY:
        begun.initialize()
    for node in three:
        client = Mcp(node.address, space, "worker", version)
        client.session = begun.session
        found = client.tool("memory_search", query="gateway")
        assert "429" in json.dumps(found), found
    if version == MODERN:
        listening = Stream(begun, "subscriptions/listen",
                           {"notifications": {"resourceSubscriptions": ["spine://inbox/worker"]}})
        assert listening.next()["method"] == "notifications/subscriptions/acknowledged"
        send(three[2], space)
        assert listening.next()["method"] == "notifications/resources/updated"
        assert three[0].server.terminate() == 0
        wait_until(lambda: listening.is_over, "the stream ends with its owner")


def test_streams_end_when_their_space_moves_and_go_on_at_the_new_owner(three):
    first, second, third = three
    space = space_of(first, three)
    send(first, space)

    def handoffs():
        connection = http.client.HTTPConnection(*second.address, timeout=60)
        connection.request("GET", "/v1/agents/worker/stream", headers={"Spine-Space": space})
        return connection.getresponse()

    stream = handoffs()
    assert stream.status == 200
    while not (line := stream.readline().decode()).startswith("data: "):
        assert line, "the stream has ended"
    taken = json.loads(line.removeprefix("data: "))
    assert first.server.terminate() == 0
    stream.read()
    lease = {"lease": taken["lease"]}
    second.insist("POST", f"/v1/handoffs/{taken['id']}/ack", lease, space=space)
    second.insist("POST", f"/v1/handoffs/{taken['id']}/complete", lease, space=space)
    again = wait_until(lambda: (answer := handoffs()).status == 200 and answer, "the stream is open again")
    sent = send(third, space)
    while not (line := again.readline().decode()).startswith("data: "):
        assert line, "the stream has ended"
    assert json.loads(line.removeprefix("data: "))["id"] == sent["id"]
    again.close()


def test_nothing_is_passed_on_to_an_owner_that_is_too_old_for_it(three, database):
    first, second, third = three
    space, elsewhere = space_of(first, three), space_of(third, three)
    store(second, space, "kept")

    def say(number):
        database.run(f"UPDATE spine.node SET protocol = {number}, version = '0.9' WHERE id = '{first.id}'")

    # Older than the first number that there was: too old for everything.
    say(0)
    refused = wait_until(lambda: (got := second.ask("GET", "/v1/memories", space=space)).status != 200 and got, "refused")
    assert refused.status == 503 and refused.json["code"] == "no_owner" and refused.json["retryable"], refused
    assert "runs version 0.9, and is too old for this request" in refused.json["detail"], refused
    assert refused.headers["Retry-After"] == "1"
    refused = second.ask("POST", "/v1/memories", {"content": "lost"}, space=space)
    assert refused.status == 503 and "version 0.9" in refused.json["detail"], refused
    # It serves what comes to itself, and the others go on with what is theirs.
    assert contents(first, space) == ["kept"]
    store(second, elsewhere, "kept")
    say(1)
    assert contents(second, space) == ["kept"]


def test_a_database_that_does_not_answer_is_named(join, database):
    node = join()
    store(node, "here", "kept")
    other = stores.Postgres(database.url)
    other.run("BEGIN")
    other.run("LOCK TABLE spine.memory IN ACCESS EXCLUSIVE MODE")
    answer = node.ask("POST", "/v1/memories", {"content": "meanwhile"}, space="here")
    assert (answer.status, answer.json["code"]) == (503, "store_busy"), answer
    assert answer.json["detail"] == "the database does not answer just now; nothing was stored"
    other.run("ROLLBACK")
    other.close()
    assert contents(node, "here") == ["kept"]
    (line,) = [line for line in log_of(node) if line["msg"].startswith("writes are refused")]
    assert line["msg"] == "writes are refused: the database does not answer just now"
    assert node.server.terminate() == 0


def test_a_space_that_was_taken_is_not_told_as_a_database_that_does_not_answer(join, database):
    node = join()

    def refused():
        store(node, "here", "kept")
        database.run("UPDATE spine.shard SET epoch = epoch + 1, owner = NULL WHERE owner IS NOT NULL")
        answer = node.ask("POST", "/v1/memories", {"content": "late"}, space="here")
        return answer.status == 503 and answer.json["code"] == "store_busy" and answer

    answer = wait_until(refused, "it has written before it has looked")
    assert answer.json["detail"] == "the space has another owner by now; nothing was stored", answer
    store(node, "here", "kept")
    told = {line["msg"] for line in log_of(node)}
    assert "writes are refused: these spaces have another owner by now" in told, told
    assert "writes are refused: the database does not answer just now" not in told, told


def test_what_an_older_node_needs_is_taken_away_when_none_lives_any_more(join, database):
    join()

    def migrate(*options):
        command = [server.binary(), "migrate", "--store", database.url, *options]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    database.run("INSERT INTO spine.node (id, url, version, protocol, started_at, lease_until, is_leaving, clock_offset) "
                 "VALUES ('node-old', 'http://old:1', '0.0.9', 1, 0, spine.now_ms() + 600000, false, 0)")
    refused = migrate("--finish")
    assert refused.returncode == 1 and "node-old at http://old:1 runs version 0.0.9" in refused.stderr, refused
    assert migrate().returncode == 0, "what only adds is done beside older ones"
    database.run("DELETE FROM spine.node WHERE id = 'node-old'")
    done = migrate("--finish", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["oldest"] == json.loads(done.stdout)["schema"], done
    database.run("UPDATE spine.version SET schema = 1000, oldest = 1000, oldest_name = '9.9'")
    refused = migrate()
    assert refused.returncode == 1 and "for servers of version 9.9 or later" in refused.stderr, refused


def test_a_node_that_was_killed_does_not_wait_for_its_own_lease(join, database):
    killed = join()
    store(killed, "here", "kept")
    killed.server.process.kill()
    killed.server.process.wait()
    again = Node(killed.server.data, database.url)
    try:
        assert [node["id"] for node in again.cluster()["nodes"]] == [again.id], "the one that is dead is not there any more"
        assert contents(again, "here") == ["kept"]
    finally:
        again.server.discard()
