"""spine doctor: looks at everything, and says what to do."""

import json
import os
from datetime import datetime, timedelta, timezone

import pytest
from api import Api, wait_until

from cli import Cli, Fake, offline  # noqa: F401
from cli import FAILED, OK, USAGE
from cli_delivery import nothing_is_left_running, sent, taken  # noqa: F401
from database import connect as open_database
from keys import Keyed
from server import Server
from stores import needs_embedded_store
import stores

ABOUT = ["server", "versions", "clock", "store", "disk", "queues", "breakers", "parked", "alerts"]


def found(result, about):
    """The findings about one thing that are not ok."""
    return [one for one in result.json["findings"] if one["about"] == about and one["level"] != "ok"]


@pytest.fixture
def well(tmp_path):
    server = Server(tmp_path / "data").wait_until_ready()
    spine = Cli(tmp_path, SPINE_URL=server.url)
    spine.server = server
    yield spine
    assert server.terminate() == 0


def test_a_server_that_is_well_has_nothing_to_do(well):
    document = well.ok("doctor", "--json").json
    assert document["ok"] is True
    assert [one["about"] for one in document["findings"]] == ABOUT
    unseen = {"disk"} if stores.SERVER else set()  # it is PostgreSQL's
    assert all(one["do"] is None for one in document["findings"])
    assert {one["about"] for one in document["findings"] if one["level"] != "ok"} == unseen, document


@needs_embedded_store("spine check reads its files")
def test_all_of_the_store_is_read_where_that_is_asked_for(well):
    text = well.ok("doctor", "--check")
    assert text.out.endswith("\nall well\n") and f"all of {well.server.data} was read and verified" in text.out


def test_what_is_parked_in_any_space_and_an_open_breaker_are_to_be_done(well):
    for number in range(3):
        well.ok("send", "--to", "coder", "Go.", "--attempts", "1", "--space", "payments")
        lease = well.ok("receive", "coder", "--json", "--space", "payments").json["handoffs"][0]["lease"]
        well.ok("nack", lease, "broken", "--space", "payments")
    result = well("doctor", "--json")
    assert result.code == FAILED and result.json["ok"] is False
    (parked,) = found(result, "parked")
    assert parked["says"] == "3 handoffs in the space payments wait for a person's decision"
    assert "spine parked redrive --all --space payments" in parked["do"]
    there = well("doctor", "--json", "--space", "payments")
    (breaker,) = found(there, "breakers")
    assert breaker["level"] == "critical" and breaker["says"] == "that of coder is open after 3 failures in a row"
    assert 'spine agent "coder" --reset-breaker' in breaker["do"]
    wait_until(
        lambda: "breaker_open" in str(found(well("doctor", "--json", "--space", "payments"), "alerts")),
        "the alert about the breaker is found",
    )


@needs_embedded_store("spine check reads its files")
def test_a_damaged_store_is_found_when_it_is_read(well):
    sent(well, "coder")
    with open_database(well.server.data / "spine.db") as db:
        for (trigger,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'envelope'").fetchall():
            db.execute(f"DROP TRIGGER {trigger}")
        db.execute("UPDATE envelope SET body = replace(body, 'Go.', 'No.')")
    db.close()
    assert well.ok("doctor").code == OK
    result = well("doctor", "--check", "--json")
    assert result.code == FAILED and "has 1 problem" in found(result, "store")[0]["says"]


def test_a_server_that_is_not_there_is_a_finding(offline):
    result = offline("doctor", "--json")
    assert result.code == FAILED
    (only,) = result.json["findings"]
    assert (only["about"], only["level"]) == ("server", "critical") and "spine serve" in only["do"]
    assert offline("doctor", "--nonsense").code == USAGE and offline("doctor", "x").code == USAGE
    assert offline("doctor", "--url", "nonsense:").code == USAGE


# --- What a test cannot wait for -----------------------------------------------------------------------------


def ago(**time):
    return (datetime.now(timezone.utc) - timedelta(**time)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def sick(tmp_path, **changes):
    """The doctor's findings about a server whose answers are these."""
    agent = {"name": "coder", "last_seen_at": None, "queue": {"queued": 0, "parked": 0}, "breaker": {"state": "closed"}}
    answers = {
        "/v1/status": {"version": "0.1.0", "clients": [], "store": {"data": str(tmp_path), "bytes": 10}},
        "/readyz": {"status": "ready"},
        "/v1/stats": {"now": ago()},
        "/v1/spaces": {"spaces": [{"name": "default", "parked": 0, "created_at": ago(hours=1)}]},
        "/v1/agents": {"agents": [agent]},
        "/v1/alerts": {"alerts": []},
        "/v1/cluster": {"nodes": [{"id": "server", "state": "live"}], "shards": [], "standbys": []},
        "/v1/handoffs": {"handoffs": []},
    }
    for path, change in changes.items():
        name = "/" + path.replace("_", "/")
        answers[name] = change(answers[name]) if callable(change) else change
    version = Cli(tmp_path).ok("version").out.split()[1]
    if "v1_status" not in changes:
        answers["/v1/status"]["version"] = version

    def reply(handler):
        handler.reply(200, answers[handler.path.split("?")[0]])

    with Fake(*[reply] * 50) as fake:
        return Cli(tmp_path, SPINE_URL=fake.url)("doctor", "--json")


def test_work_that_nobody_takes_is_told_by_agent(tmp_path):
    agents = {
        "agents": [
            {"name": name, "last_seen_at": seen, "queue": {"queued": 12}, "breaker": {"state": "closed"}}
            for name, seen in (("never", None), ("gone", ago(hours=2)))
        ]
    }
    later = {"changed_at": ago(days=1), "not_before": ago(days=-1)}
    queued = {"handoffs": [later, {"changed_at": ago(minutes=9)}]}
    never, gone = found(sick(tmp_path, v1_agents=agents, v1_handoffs=queued), "queues")
    assert never["says"] == "12 wait for never, the oldest for 9m, and nobody of that name was ever seen"
    assert gone["says"] == "12 wait for gone, the oldest for 9m; it was last seen 2h ago"
    assert never["do"] and gone["do"]
    fresh = {"handoffs": [later, {"changed_at": ago(minutes=4)}]}
    assert found(sick(tmp_path, v1_agents=agents, v1_handoffs=fresh), "queues") == []


def test_clocks_that_are_apart_are_told(tmp_path):
    (behind,) = found(sick(tmp_path, v1_stats={"now": ago(seconds=60)}), "clock")
    assert "behind this one" in behind["says"] and "NTP" in behind["do"]
    (before,) = found(sick(tmp_path, v1_stats={"now": ago(seconds=-60)}), "clock")
    assert "before this one" in before["says"]
    assert found(sick(tmp_path, v1_stats={"now": ago(seconds=3)}), "clock") == []


def test_other_versions_are_told(tmp_path):
    status = {"version": "9.9.9", "store": {"data": str(tmp_path), "bytes": 1},
              "clients": [{"name": "memory-spine-python", "version": "9.9.8", "last_seen_at": ago(minutes=3)}]}
    own, python = found(sick(tmp_path, v1_status=status), "versions")
    assert "the server 9.9.9" in own["says"]
    assert "memory-spine-python of version 9.9.8" in python["says"] and "3m ago" in python["says"]


def test_growth_and_a_disk_that_will_be_full_are_told(tmp_path):
    disk = os.statvfs(tmp_path)
    free = disk.f_bavail * disk.f_frsize
    spaces = {"spaces": [{"name": "default", "parked": 0, "created_at": ago(days=10)}]}

    def of(size):
        return lambda status: {**status, "version": Cli(tmp_path).ok("version").out.split()[1],
                               "store": {"data": str(tmp_path), "bytes": size}}

    (soon,) = found(sick(tmp_path, v1_status=of(int(free * 0.6)), v1_spaces=spaces), "disk")
    assert "it is full in 16 days" in soon["says"]
    (large,) = found(sick(tmp_path, v1_status=of(free * 2), v1_spaces=spaces), "disk")
    assert "no backup fits beside it" in large["says"]
    slow = sick(tmp_path, v1_status=of(55 << 20), v1_spaces=spaces)
    assert found(slow, "disk") == []
    assert any("5.5 MiB a day on average" in one["says"] for one in slow.json["findings"])
    known = sick(tmp_path, v1_spaces=spaces, v1_status=lambda status: {
        **status, "store": {"data": str(tmp_path), "bytes": 9, "growth": {"bytes": 6 << 20, "since": ago(days=2)}}})
    assert any("3.0 MiB a day on average" in one["says"] for one in known.json["findings"])


def cluster(*nodes, states=("open", "idle"), standbys=()):
    usual = {"state": "live", "clock_offset_ms": 20, "same_url_as": None}
    return {"nodes": [{"id": f"node-{n}", "url": f"http://10.0.0.{n}:8788", **usual, **one} for n, one in enumerate(nodes)],
            "shards": [{"shard": n, "state": state} for n, state in enumerate(states)], "standbys": standbys}


def test_what_is_wrong_with_nodes_is_told(tmp_path):
    well = sick(tmp_path, v1_cluster=cluster({}, {}))
    assert well.code == OK and found(well, "cluster") == []
    assert "2 nodes live, and every space has an owner" in well.out and "where it dies" not in well.out
    assert "where it dies nobody takes over" in sick(tmp_path, v1_cluster=cluster({})).out
    (shards,) = found(sick(tmp_path, v1_cluster=cluster({}, states=("none", "open", "none"))), "cluster")
    assert shards["level"] == "critical" and shards["says"].startswith("2 shards have spaces and no owner")
    (clock,) = found(sick(tmp_path, v1_cluster=cluster({}, {"clock_offset_ms": -700})), "cluster")
    assert clock["says"] == "the clock of node-1 and that of the database are 700 ms apart" and "NTP" in clock["do"]
    (twins,) = found(sick(tmp_path, v1_cluster=cluster({"same_url_as": "node-1"}, {"same_url_as": "node-0"})), "cluster")
    assert twins["level"] == "critical" and "node-0 and node-1 are both told to be at http://10.0.0.0:8788" in twins["says"]
    (gone,) = found(sick(tmp_path, v1_cluster=cluster({}, {"state": "gone"})), "cluster")
    assert gone["level"] == "note" and gone["says"] == "node-1 at http://10.0.0.1:8788 is gone"


def test_what_a_node_saw_long_ago_is_not_told_as_if_it_were_so(tmp_path):
    old = {**cluster({"state": "unknown"}, {"state": "unknown"}, states=("unknown",), standbys=None), "seen_ms_ago": 12900}
    (stale,) = found(sick(tmp_path, v1_cluster=old), "cluster")
    assert stale["level"] == "warning" and "has not reached the database for 12 s" in stale["says"]
    (never,) = found(sick(tmp_path, v1_cluster={**old, "seen_ms_ago": None}), "cluster")
    assert "has not reached the database yet" in never["says"]
    one = {**cluster({}, {"state": "unknown"}, states=("open", "unknown")), "seen_ms_ago": 900}
    (unknown,) = found(sick(tmp_path, v1_cluster=one), "cluster")
    assert unknown["level"] == "note" and unknown["says"].endswith("node-1 at http://10.0.0.1:8788 is unknown"[-10:])
    assert "every space has an owner" not in sick(tmp_path, v1_cluster=one).out


def test_a_standby_that_is_far_behind_or_not_known_is_told(tmp_path):
    def of(*standbys):
        told = [{"name": "db2", "state": "streaming", "sync_state": "sync", **one} for one in standbys]
        return sick(tmp_path, v1_cluster=cluster({}, {}, standbys=told))

    near = of({"lag_ms": 500, "lag_bytes": 9000}, {"lag_ms": None, "lag_bytes": None})
    assert near.code == OK and "2, none of them far behind" in near.out
    for lag in ({"lag_ms": 90000, "lag_bytes": 1 << 20}, {"lag_ms": None, "lag_bytes": 1 << 30}):
        (far,) = found(of(lag), "standbys")
        assert far["level"] == "warning" and "db2 (streaming, sync) is " in far["says"] and far["do"]
    for none, says in (([], "PostgreSQL has none"), (None, "GRANT pg_monitor")):
        (told,) = found(sick(tmp_path, v1_cluster=cluster({}, {}, standbys=none)), "standbys")
        assert told["level"] == "note" and says in told["says"]


@pytest.mark.parametrize("minutes, level", [(30, "warning"), (3000, "note")])
def test_a_node_that_loses_its_lease_again_and_again_is_told(tmp_path, minutes, level):
    figures = b"# TYPE spine_cluster_leases_lost_total counter\nspine_cluster_leases_lost_total 4\n"
    (flaps,) = found(sick(tmp_path, v1_cluster=cluster({}, {}), metrics=figures,
                          v1_status=lambda status: {**status, "version": Cli(tmp_path).ok("version").out.split()[1],
                                                    "started_at": ago(minutes=minutes)}), "cluster")
    assert flaps["level"] == level and "has lost its lease 4 times since it was started" in flaps["says"]


def test_the_disk_of_the_notes_is_not_that_of_the_data(tmp_path):
    huge = {"data": str(tmp_path), "bytes": 1 << 50, "engine": "postgres"}
    version = Cli(tmp_path).ok("version").out.split()[1]
    result = sick(tmp_path, v1_status={"version": version, "clients": [], "store": huge})
    (disk,) = found(result, "disk")
    assert result.code == OK and disk["level"] == "note" and "on the disk of PostgreSQL's machine" in disk["says"]


def test_a_server_that_answers_and_is_not_ready_is_not_said_to_be_away(tmp_path):
    refusal = {"status": 503, "code": "no_owner", "detail": "the database does not answer just now", "retryable": True}

    def reply(reason):
        def serve(handler):
            if handler.path == "/readyz" and reason:
                handler.reply(503, {"status": "not ready", "reason": reason})
            elif handler.path == "/readyz":
                handler.reply(200, {"status": "ready"})
            else:
                handler.reply(503, refusal, Retry_After="1")
        return serve

    for reason, todo in (("no_database", "bring PostgreSQL back"), ("no_lease", "in its log"), ("too_old", "the version"),
                         (None, "ask again")):
        with Fake(*[reply(reason)] * 20) as fake:
            result = Cli(tmp_path, SPINE_URL=fake.url)("doctor", "--json")
            (only,) = result.json["findings"]
            assert result.code == FAILED and only["level"] == "critical" and todo in only["do"], only
            assert (f"is not ready: {reason}" if reason else "does not serve this space") in only["says"]
            assert "start it" not in only["do"] and "--url" not in only["do"]
            assert len(fake.requests) == 3, "it is told at once"


def test_an_alert_that_only_informs_is_nothing_to_do(tmp_path):
    alert = {"id": "al-1", "name": "handoff_failed", "severity": "info", "summary": "one failed"}
    informed = sick(tmp_path, v1_alerts={"alerts": [alert]})
    assert informed.code == OK and found(informed, "alerts")[0]["level"] == "note"
    warned = sick(tmp_path, v1_alerts={"alerts": [{**alert, "severity": "warning"}]})
    assert warned.code == FAILED and "al-1" in found(warned, "alerts")[0]["do"]


def test_what_came_from_outside_does_nothing_to_the_terminal(tmp_path):
    alert = {"id": "al-1", "name": "x", "severity": "warning", "summary": "evil\x1b[2J\u202e"}
    assert "\x1b" not in json.dumps(sick(tmp_path, v1_alerts={"alerts": [alert]}).json, ensure_ascii=False)


def test_the_server_knows_which_clients_have_called(well):
    api = Api(well.server.address, "default")
    for name in ("memory-spine-python/1.2.3", "curl/8", "memory-spine-evil\"/1", "memory-spine", "memory-spine/"):
        api.call("GET", "/healthz", None, {"User-Agent": name})
    clients = well.ok("status", "--json").json["clients"]
    assert sorted(one["name"] for one in clients) == ["memory-spine", "memory-spine-python"]
    assert [one["version"] for one in clients if one["name"] == "memory-spine-python"] == ["1.2.3"]
    for number in range(40):
        api.call("GET", "/healthz", None, {"User-Agent": f"memory-spine-x/{number}"})
    assert len(well.ok("status", "--json").json["clients"]) == 16
    api.close()


# --- With keys ---


@pytest.fixture
def keyed(tmp_path):
    running = Keyed(tmp_path / "keyed")
    yield running
    assert running.server.terminate() == 0


def with_key(tmp_path, keyed, key):
    return Cli(tmp_path, SPINE_URL=keyed.server.url, SPINE_KEY=key)


def test_with_a_key_of_one_space_it_says_what_that_key_sees_and_no_more(tmp_path, keyed):
    keyed.ask("POST", "/v1/handoffs", {"envelope": {"target_agent": "w", "task_summary": "x"}}, keyed.root, {"Spine-Space": "zqother"})
    for more in ({"scopes": ["admin"]}, {"scopes": ["read"]}, {"scopes": ["read", "receive"], "agent": "w"}):
        result = with_key(tmp_path, keyed, keyed.key(space="home", **more)).ok("doctor", "--json")
        says = {one["about"]: one for one in result.json["findings"]}
        assert list(says) == ["server", "key", "versions", "clock", "store", "queues", "breakers", "parked", "alerts"]
        assert says["key"]["says"].endswith(" is of the space home") and says["store"]["level"] == "note"
        assert says["versions"]["level"] == "ok" and "told to a key of all spaces" in says["versions"]["says"]
        assert says["parked"]["says"] == "nothing in the space home" and says["alerts"]["says"] == "none is firing in the space home"
        assert "zqother" not in result.out and "default" not in result.out
    everything = with_key(tmp_path, keyed, keyed.root).ok("doctor", "--json").json["findings"]
    assert [one["about"] for one in everything] == ["server", "key", *ABOUT[1:]]
    assert everything[1]["says"] == "key-1 is of all spaces"


def test_what_is_parked_in_the_space_of_the_key_is_to_be_done(tmp_path, keyed):
    spine = with_key(tmp_path, keyed, keyed.key(space="home", scopes=["admin"]))
    spine.ok("send", "--to", "coder", "Go.", "--attempts", "1")
    spine.ok("nack", spine.ok("receive", "coder", "--json").json["handoffs"][0]["lease"], "broken")
    result = spine("doctor", "--json")
    (parked,) = found(result, "parked")
    assert result.code == FAILED and parked["says"] == "1 handoff in the space home waits for a person's decision"
    assert parked["do"].endswith("spine parked redrive --all"), "without the space, which is the key's"


def test_a_key_that_ends_and_a_space_that_is_not_its_own_are_told(tmp_path, keyed):
    spine = with_key(tmp_path, keyed, keyed.key(space="home", scopes=["read"], ttl_s=600))
    (key,) = found(spine.ok("doctor", "--json"), "key")
    assert key["level"] == "note" and ", and ends at 20" in key["says"]
    result = spine("doctor", "--json", "--space", "other")
    (refused,) = result.json["findings"]
    assert result.code == FAILED and "does not let this key see that space" in refused["says"] and "leave --space" in refused["do"]
    (lacks,) = with_key(tmp_path, keyed, keyed.key(space="home", scopes=["write"]))("doctor", "--json").json["findings"]
    assert "lacks the scope read" in lacks["says"] and "a key with the scope read" in lacks["do"]
