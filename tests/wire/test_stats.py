"""GET /v1/stats: the figures, against ones computed from the handoffs and envelopes themselves."""

import json
import math
import time
from datetime import datetime
from pathlib import Path

import pytest
from api import Api, wait_until
from database import connect as open_database
from database import unprotected
from delivery import Desk
from jsonschema import Draft202012Validator

WINDOWS = {"1m": (60, 1), "5m": (300, 5), "1h": (3600, 60), "24h": (86400, 900)}


def stats(desk, query=""):
    return desk.ok("GET", "/v1/stats" + query)


def target(answer, agent):
    return next(one for one in answer["targets"] if one["agent"] == agent)


def moment(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000


def quantile(values, share):
    return sorted(values)[max(math.ceil(share * len(values)), 1) - 1]


def ack_all(desk, agent, count):
    for _ in range(count):
        desk.settle("ack", desk.take(agent))


def test_a_space_that_nothing_happened_in_has_zeros_and_nulls(desk):
    answer = stats(desk)
    assert (answer["window"], answer["space"], answer["targets"]) == ("5m", desk.space, [])
    overall = answer["overall"]
    assert [overall[name] for name in ("handoffs", "acked", "completed", "failed", "retries", "leases_lost", "waivers")] == [0] * 7
    assert overall["failure_rate"] is None
    assert overall["latency_ms"] == {"count": 0, "p50": None, "p95": None, "p99": None, "max": None}
    assert overall["completeness"] == {"count": 0, "mean": None, "min": None}
    assert overall["utilization"] == {"count": 0, "mean": None, "p50": None, "pinned": None, "low": None}
    assert overall["hops"] == {"count": 0, "mean": None, "max": None, "histogram": []}
    assert overall["queue"] == {"queued": 0, "leased": 0, "working": 0, "parked": 0}


def test_the_figures_are_those_of_the_handoffs(desk):
    sent = {agent: [desk.send(agent, max_attempts=1)["id"] for _ in range(count)] for agent, count in (("one", 7), ("two", 4))}
    ack_all(desk, "one", 5)
    for _ in range(2):
        desk.settle("complete", desk.take("two"))
    desk.settle("nack", desk.take("two"), reason="no")  # the only attempt
    answer = stats(desk)
    seen = {agent: [desk.look(handoff) for handoff in handoffs] for agent, handoffs in sent.items()}
    for figures, handoffs in ((answer["overall"], seen["one"] + seen["two"]), (target(answer, "one"), seen["one"]), (target(answer, "two"), seen["two"])):
        latencies = [moment(one["acked_at"]) - moment(one["created_at"]) for one in handoffs if one["acked_at"]]
        parked = sum(one["state"] == "parked" for one in handoffs)
        assert figures["handoffs"] == len(handoffs)
        assert figures["acked"] == figures["latency_ms"]["count"] == len(latencies)
        assert figures["completed"] == sum(one["state"] == "completed" for one in handoffs)
        assert figures["failed"] == parked
        assert figures["failure_rate"] == pytest.approx(parked / len(handoffs), abs=1e-6)
        for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
            assert figures["latency_ms"][name] == pytest.approx(quantile(latencies, share), rel=0.01, abs=0.01)
        assert figures["latency_ms"]["max"] == max(latencies)
        assert figures["queue"] == {
            "queued": sum(one["state"] == "queued" for one in handoffs), "leased": 0, "working": 0, "parked": parked,
        }


def test_the_figures_are_those_of_the_envelopes(desk):
    memory = desk.ok("POST", "/v1/memories", {"content": "something to remember"}, status=201)["id"]
    bodies = [
        {"refs": [memory]}, {"refs": [memory, "ms-999"]}, {"refs": ["ms-998", "ms-999"]},
        {"constraints": {"max_tokens": 400}}, {"constraints": {"a": "x", "b": "y"}},
    ]
    packed = []
    for body in bodies:
        answer = desk.ok("POST", "/v1/envelopes", {"from": "sender", "target_agent": "reader", "task_summary": "read", "include_recent": 0, **body}, status=201)
        packed.append(answer)
    child = {"from": "reader", "target_agent": "writer", "task_summary": "write", "parent": packed[-1]["id"], "include_recent": 0,
             "waive": [{"key": "a", "reason": "not needed"}, {"key": "b", "reason": "neither"}]}
    packed.append(desk.ok("POST", "/v1/envelopes", child, status=201))
    answer = stats(desk)
    for figures, envelopes in ((answer["overall"], packed), (target(answer, "reader"), packed[:-1])):
        scores = [one["completeness"]["score"] for one in envelopes]
        used = [one["budget"]["token_count"] / one["budget"]["max_tokens"] for one in envelopes]
        hops = [one["lineage"]["hop"] for one in envelopes]
        assert figures["completeness"]["count"] == len(envelopes)
        assert figures["completeness"]["mean"] == pytest.approx(sum(scores) / len(scores), abs=1e-5)
        assert figures["completeness"]["min"] == pytest.approx(min(scores), abs=1e-5)
        assert figures["utilization"]["mean"] == pytest.approx(sum(used) / len(used), abs=1e-5)
        assert figures["utilization"]["p50"] == pytest.approx(quantile(used, 0.5), rel=0.01)
        assert figures["utilization"]["low"] == pytest.approx(sum(one < 0.3 for one in used) / len(used), abs=1e-6)
        assert figures["hops"]["histogram"] == [[hop, hops.count(hop)] for hop in sorted(set(hops))]
        assert (figures["hops"]["mean"], figures["hops"]["max"]) == (pytest.approx(sum(hops) / len(hops), abs=1e-6), max(hops))
    assert answer["overall"]["waivers"] == target(answer, "writer")["waivers"] == 2


def test_retries_and_lost_leases_are_counted(desk):
    desk.send(max_attempts=3)
    desk.settle("nack", desk.take(), reason="busy", delay_s=0)
    desk.take(lease_s=0.05)
    desk.settle("ack", desk.take())
    figures = target(stats(desk), "worker")
    assert (figures["retries"], figures["leases_lost"], figures["failed"], figures["acked"]) == (2, 1, 0, 1)


def test_a_fallback_is_a_failure_of_the_one_before(desk):
    desk.send("first", max_attempts=1, fallbacks=["second"])
    desk.settle("nack", desk.take("first"), reason="no")
    desk.settle("ack", desk.take("second"))
    answer = stats(desk)
    assert (target(answer, "first")["failed"], target(answer, "first")["acked"]) == (1, 0)
    assert (target(answer, "second")["failed"], target(answer, "second")["acked"]) == (0, 1)
    assert (answer["overall"]["handoffs"], answer["overall"]["failed"]) == (1, 1)


def test_a_sender_that_stops_waiting_for_the_last_time_has_failed(desk):
    envelope = desk.pack()
    for attempt in (1, 2):
        assert desk.deliver(envelope, wait_s=0.02, max_attempts=2).status == 504
        assert stats(desk)["overall"]["failed"] == attempt - 1
    assert (stats(desk)["overall"]["handoffs"], stats(desk)["overall"]["retries"]) == (1, 1)


def test_a_rejected_handoff_has_not_used_up_its_attempts(desk):
    desk.send()
    desk.settle("reject", desk.take(), reason="not mine")
    figures = stats(desk)["overall"]
    assert (figures["failed"], figures["queue"]["parked"]) == (0, 1)


def test_a_breaker_that_opens_is_shown(desk):
    for _ in range(3):
        desk.send("bad", max_attempts=1)
        desk.settle("nack", desk.take("bad"), reason="no")
    assert target(stats(desk), "bad")["breaker"] == "open"
    desk.ok("POST", "/v1/agents/bad/reset")
    assert target(stats(desk), "bad")["breaker"] == "closed"


@pytest.mark.parametrize("window", WINDOWS)
def test_points_cover_the_window_and_add_up(desk, window):
    for _ in range(3):
        desk.send()
    ack_all(desk, "worker", 2)
    answer = stats(desk, f"?window={window}")
    seconds, step = WINDOWS[window]
    points = answer["series"]["points"]
    assert answer["window"] == window
    assert answer["series"]["step_s"] == step
    assert len(points) == seconds / step
    times = [moment(point["at"]) for point in points]
    assert all(after - before == step * 1000 for before, after in zip(times, times[1:]))
    assert times[-1] <= moment(answer["now"]) < times[-1] + step * 1000
    assert sum(point["handoffs"] for point in points) == 3
    assert sum(point["acked"] for point in points) == 2
    assert points[-1]["queued"] == 1
    assert points[0]["p50"] is None and points[0]["completeness"] is None


def test_spaces_do_not_see_each_other_but_all_sees_both(server, desk):
    other = Desk(server.address, desk.space + "-other")
    before = stats(desk, "?space=all")["overall"]["handoffs"]
    desk.send("mine")
    other.send("theirs")
    assert [one["agent"] for one in stats(desk)["targets"]] == ["mine"]
    both = stats(desk, "?space=all")
    assert both["space"] == "all"
    assert both["overall"]["handoffs"] == before + 2
    assert {(desk.space, "mine"), (other.space, "theirs")} <= {(one["space"], one["agent"]) for one in both["targets"]}
    other.close()


def test_what_is_not_a_window_or_a_space_is_refused(desk):
    desk.refused(422, "invalid_field", "GET", "/v1/stats?window=2m", field="window")
    desk.refused(422, "invalid_field", "GET", "/v1/stats?space=other", field="space")


def test_agents_without_a_series_of_their_own_are_told_together(start):
    desk = Desk(start().wait_until_ready().address, "default")
    for number in range(300):
        desk.pack(f"agent-{number:03}")
    answer = stats(desk)
    agents = [one["agent"] for one in answer["targets"]]
    assert len(agents) == 257 and agents == sorted(agents)
    assert target(answer, "_other")["completeness"]["count"] == 300 - 256
    assert answer["overall"]["completeness"]["count"] == 300
    desk.close()


def test_the_figures_survive_a_restart(start, tmp_path):
    data = tmp_path / "kept"
    server = start(data=data).wait_until_ready()
    desk = Desk(server.address, "default")
    for _ in range(5):
        desk.send(max_attempts=1)
    ack_all(desk, "worker", 3)
    desk.settle("nack", desk.take(), reason="no")
    before = stats(desk, "?window=1h")
    desk.close()
    assert server.terminate() == 0
    desk = Desk(start(data=data).wait_until_ready().address, "default")
    wait_until(lambda: stats(desk, "?window=1h")["overall"]["acked"] == 3, "the history is read")
    after = stats(desk, "?window=1h")
    assert (after["overall"], after["targets"]) == (before["overall"], before["targets"])
    desk.send()
    assert stats(desk, "?window=1h")["overall"]["handoffs"] == 6
    desk.close()


def test_a_long_history_does_not_delay_the_start(start, tmp_path):
    """A day of it is read beside the first requests, and what is older is not in the figures."""
    data = tmp_path / "long"
    server = start(data=data).wait_until_ready()
    desk = Desk(server.address, "default")
    desk.send()
    desk.close()
    assert server.terminate() == 0
    now = int(time.time() * 1000)
    database = open_database(data / "spine.db")
    insert = ("INSERT INTO event (id, space, at, kind, handoff, envelope, memory, attempt, value_1, value_2, agent, number) "
              "VALUES (?, 1, ?, 4, 0, 0, 0, 1, 12, 0, 'worker', ?)")
    # Instead of what is there: one event every two seconds, for two days.
    with unprotected(database, "event"):
        database.execute("DELETE FROM event")
    rows = [(number + 1, now - (86400 - number) * 2000, number + 1) for number in range(86400)]
    database.executemany(insert, rows)
    database.commit()
    database.close()
    desk = Desk(start(data=data).wait_until_ready().address, "default")
    assert desk.ok("GET", "/readyz")["status"] == "ready"
    desk.send()
    assert desk.state("ho-2") == "queued"
    in_window = sum(at >= (int(time.time() * 1000) // 900000 + 1) * 900000 - 86400000 for _, at, _ in rows)
    wait_until(lambda: stats(desk, "?window=24h")["overall"]["handoffs"] == 1, "the history is read")
    assert abs(stats(desk, "?window=24h")["overall"]["acked"] - in_window) <= 450  # a step may have ended meanwhile
    assert stats(desk, "?window=24h")["overall"]["latency_ms"]["p99"] == 12
    desk.close()


def test_hostile_names_stay_json(desk):
    for name in ('a"b\\c', "tab\u200b", "<script>", "日本"):
        desk.pack(name)
    data = desk.call("GET", "/v1/stats").data
    assert {one["agent"] for one in json.loads(data)["targets"]} == {'a"b\\c', "tab\u200b", "<script>", "日本"}


def test_it_is_answered_as_described(desk):
    schemas = json.loads((Path(__file__).resolve().parent.parent.parent / "schemas" / "openapi.json").read_text())
    validator = Draft202012Validator({"$ref": "#/components/schemas/Stats", "components": schemas["components"]})
    validator.validate(stats(desk))
    desk.send()
    ack_all(desk, "worker", 1)
    validator.validate(stats(desk))
    validator.validate(stats(desk, "?window=24h&space=all"))


def test_it_is_one_address_with_one_method(server):
    api = Api(server.address)
    api.refused(405, "method_not_allowed", "POST", "/v1/stats")
    api.close()
