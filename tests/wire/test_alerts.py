"""Alerts: each fires once and is over by itself, seen in the API, the log, the events and the webhook; a person acknowledges and silences
them; a restart forgets none."""

import http.server
import json
import queue
import threading
import time

import pytest
from api import wait_until
from database import connect as open_database
from database import unprotected
from delivery import Desk
from trigger import ABORT, trigger

SETTINGS = ("--alert-min-samples", "5", "--log-format", "json")


class Receiver:
    """What Alertmanager would post to. Answers as `answers` says, then with 200."""

    def __init__(self, port=0):
        self.is_closed = False
        self.posts = queue.Queue()
        self.answers = queue.Queue()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status = 200 if receiver.answers.empty() else receiver.answers.get()
                receiver.posts.put((status, self.headers["Content-Type"], body))
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/alerts"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def wait_for(self, name, status):
        """The next alert of that name and status that it was told of."""
        while True:
            _, _, body = self.posts.get(timeout=30)
            for alert in body["alerts"]:
                if (alert["labels"]["alertname"], alert["status"]) == (name, status):
                    return alert

    def close(self):
        if not self.is_closed:
            self.server.shutdown()
            self.server.server_close()
        self.is_closed = True


@pytest.fixture
def receiver():
    one = Receiver()
    yield one
    one.close()


class Watched:
    """A server with a webhook, and where its alerts can be seen."""

    def __init__(self, server, receiver=None):
        self.server = server
        self.receiver = receiver
        self.desk = Desk(server.address, "default")

    def alerts(self, state="firing", name=None):
        found = self.desk.ok("GET", f"/v1/alerts?state={state}")["alerts"]
        return [one for one in found if name is None or one["name"] == name]

    def wait_firing(self, name):
        return wait_until(lambda: self.alerts("firing", name), f"{name} fires")[0]

    def wait_resolved(self, name):
        wait_until(lambda: not self.alerts("firing", name), f"{name} is over")
        return self.alerts("resolved", name)[0]

    def log(self, message, name):
        lines = [json.loads(line) for line in self.server.log.read_text().splitlines() if line.startswith("{")]
        return [line for line in lines if line["msg"] == message and line.get("alert") == name]

    def events(self, kind, alert):
        answer = self.desk.ok("GET", f"/v1/events?after=0&limit=1000&types={kind}", headers={"Accept": "application/json"})
        return [event for event in answer["events"] if event["subject"] == alert["id"]]

    def check_everywhere(self, alert, severity):
        """It is in the API; and in the log, the events and the webhook, once each."""
        assert (alert["severity"], alert["state"], alert["resolved_at"]) == (severity, "firing", None)
        assert alert["since"] and alert["summary"] and isinstance(alert["value"], (int, float)) and isinstance(alert["threshold"], (int, float))
        wait_until(lambda: self.log("alert fired", alert["name"]), "the log has it")
        assert len(self.log("alert fired", alert["name"])) == 1
        assert len(self.events("alert.fired", alert)) == 1
        told = self.receiver.wait_for(alert["name"], "firing")
        assert told["labels"]["severity"] == severity
        assert told["labels"]["space"] == "default"
        assert told["labels"].get("agent") == alert["agent"]
        assert told["labels"]["page"] == ("true" if alert["pages"] else "false")
        assert told["annotations"]["summary"] == alert["summary"]
        assert told["endsAt"] == "0001-01-01T00:00:00Z"

    def check_over_everywhere(self, before):
        alert = self.wait_resolved(before["name"])
        assert (alert["id"], alert["since"], alert["state"]) == (before["id"], before["since"], "resolved")
        assert alert["resolved_at"] > alert["since"]
        wait_until(lambda: self.log("alert resolved", alert["name"]), "the log has it")
        assert len(self.log("alert resolved", alert["name"])) == 1
        assert len(self.events("alert.resolved", alert)) == 1
        assert self.receiver.wait_for(alert["name"], "resolved")["endsAt"] == alert["resolved_at"]


@pytest.fixture
def watched(start, receiver):
    """watched(*options): a server of the test's own."""
    made = []

    def make(*options, **fields):
        server = start(*SETTINGS, "--alert-webhook", receiver.url, *options, **fields).wait_until_ready()
        made.append(Watched(server, receiver))
        return made[-1]

    yield make
    for one in made:
        one.desk.close()


def exhaust(desk, agent="bad", count=1):
    for _ in range(count):
        desk.send(agent, max_attempts=1)
        desk.settle("nack", desk.take(agent), reason="no")


def deliver(desk, count, agent="good"):
    for _ in range(count):
        desk.send(agent)
        desk.settle("ack", desk.take(agent))


# --- The rows of the table ---


def test_one_failed_handoff(watched):
    w = watched("--alert-window", "1m")
    exhaust(w.desk)
    alert = w.wait_firing("handoff_failed")
    assert (alert["agent"], alert["value"], alert["threshold"], alert["pages"]) == ("bad", 1, 1, False)
    w.check_everywhere(alert, "info")
    exhaust(w.desk, "other")
    wait_until(lambda: len(w.alerts("firing", "handoff_failed")) == 2, "the other agent has one of its own")


def test_three_failures_in_a_row_and_the_breaker(watched):
    w = watched()
    exhaust(w.desk, count=2)
    w.wait_firing("handoff_failed")
    assert not w.alerts("all", "consecutive_failures")
    exhaust(w.desk)
    row, breaker = w.wait_firing("consecutive_failures"), w.wait_firing("breaker_open")
    assert (row["value"], row["threshold"], row["agent"], row["pages"]) == (3, 3, "bad", False)
    assert (breaker["agent"], breaker["pages"]) == ("bad", True)
    assert "Work for it is held, and goes on by itself when it is back" in breaker["summary"]
    # The webhook may hear of both at once, in any order.
    told = {}
    while {"consecutive_failures", "breaker_open"} - told.keys():
        _, kind, body = w.receiver.posts.get(timeout=30)
        assert kind == "application/json"
        assert (body["version"], body["status"], body["receiver"]) == ("4", "firing", "memory-spine")
        assert body["externalURL"] == w.server.url
        assert {"groupKey", "truncatedAlerts", "groupLabels", "commonLabels", "commonAnnotations"} <= body.keys()
        told.update({alert["labels"]["alertname"]: alert for alert in body["alerts"]})
    assert told["breaker_open"]["labels"] == {
        "alertname": "breaker_open", "severity": "critical", "page": "true", "space": "default", "agent": "bad",
    }
    for alert, severity in ((row, "warning"), (breaker, "critical")):
        assert alert["severity"] == severity
        assert len(w.log("alert fired", alert["name"])) == len(w.events("alert.fired", alert)) == 1
    w.desk.ok("POST", "/v1/agents/bad/reset")
    w.check_over_everywhere(w.wait_resolved("breaker_open"))
    assert w.wait_resolved("consecutive_failures")["id"] == row["id"]


def test_an_ack_closes_the_breaker_and_its_alert(watched):
    w = watched()
    parked = [w.desk.send("bad", max_attempts=1) for _ in range(3)]
    for _ in parked:
        w.desk.settle("nack", w.desk.take("bad"), reason="no")
    alert = w.wait_firing("breaker_open")
    w.check_everywhere(alert, "critical")
    w.desk.ok("POST", f"/v1/parked/{parked[0]['id']}/redrive", {"why": "it is repaired", "by": "ops"})
    w.desk.settle("ack", w.desk.take("bad"))
    w.check_over_everywhere(alert)


def test_the_alert_of_a_breaker_goes_on_while_it_is_half_open_however_quiet_it_is(watched, tmp_path):
    """Its minute has passed, nobody sends anything, and the window is over: that ends nothing. A person, or an ack, does."""
    data = tmp_path / "idle"
    w = watched("--alert-window", "1m", data=data)
    exhaust(w.desk, count=3)
    alert = w.wait_firing("breaker_open")
    assert w.server.terminate() == 0
    database = open_database(data / "spine.db")
    # All of it lies behind the window: no figure changes any more.
    with unprotected(database, "event"):
        database.execute("UPDATE event SET at = at - 600000")
    database.execute("UPDATE target SET open_until = open_until - 600000 WHERE open_until != 0")
    database.commit()
    database.close()
    w = watched("--alert-window", "1m", data=data)
    assert w.desk.ok("GET", "/v1/agents/bad")["breaker"]["state"] == "half_open"
    exhaust(w.desk, "witness")
    wait_until(lambda: "witness" in [one["agent"] for one in w.alerts("firing", "handoff_failed")], "all was looked at")
    (still,) = w.alerts("firing", "breaker_open")
    assert still["id"] == alert["id"] and "half-open" in still["summary"]
    w.desk.ok("POST", "/v1/agents/bad/reset")
    w.check_over_everywhere(alert)


def test_parked_work_is_told_within_seconds_with_the_figures_of_now_and_where_it_is_mended(watched):
    w = watched()
    parked = []
    for number in range(3):
        parked.append(w.desk.send("bad"))
        w.desk.settle("reject", w.desk.take("bad"), reason="no")
        alert = wait_until(lambda: [one for one in w.alerts("firing", "handoffs_parked") if one["value"] == number + 1], "it says so", 5)[0]
    assert (alert["agent"], alert["severity"], alert["url"]) == ("bad", "warning", "/#/default/parked?agent=bad")
    assert alert["summary"] == "3 handoffs of bad are parked: a person must decide"
    told = w.receiver.wait_for("handoffs_parked", "firing")
    assert told["annotations"]["url"] == told["generatorURL"] == f"{w.server.url}/#/default/parked?agent=bad"
    assert len(w.events("alert.fired", alert)) == 1
    w.desk.ok("POST", "/v1/parked/discard", {"ids": [parked[0]["id"]], "why": "over"})
    assert w.alerts("firing", "handoffs_parked")[0]["summary"].startswith("2 handoffs")
    w.desk.ok("POST", "/v1/parked/discard", {"all": True, "why": "over"})
    w.check_over_everywhere(alert)


def test_a_queue_that_nobody_takes_from_is_told_after_five_minutes(watched, tmp_path):
    """The minutes pass without a server: simulated by a handoff that is older than them."""
    data = tmp_path / "stuck"
    w = watched(data=data)
    w.desk.send("nobody", ack_timeout_s=86400)
    assert w.server.terminate() == 0
    database = open_database(data / "spine.db")
    database.execute("UPDATE handoff SET changed_at = changed_at - 600000")
    database.commit()
    database.close()
    w = watched(data=data)
    alert = w.wait_firing("queue_stuck")
    assert (alert["agent"], alert["severity"], alert["url"]) == ("nobody", "warning", "/#/default/queues?agent=nobody")
    assert alert["summary"] == "1 handoff waits for nobody, and nobody has taken one for 10 minutes"
    assert alert["value"] >= 600000 and alert["threshold"] == 300000
    w.desk.settle("ack", w.desk.take("nobody"))
    w.check_over_everywhere(alert)


def test_completeness(watched):
    w = watched()
    memory = w.desk.ok("POST", "/v1/memories", {"content": "kept"}, status=201)["id"]
    for _ in range(6):
        w.desk.pack("coder", refs=[memory, "ms-999"])
    low, critical = w.wait_firing("completeness_low"), w.wait_firing("completeness_critical")
    assert (low["agent"], low["value"], low["threshold"], low["severity"]) == ("coder", 0.5, 0.95, "warning")
    assert (critical["agent"], critical["value"], critical["threshold"], critical["pages"]) == (None, 0.5, 0.8, True)
    w.check_everywhere(critical, "critical")
    for _ in range(200):
        w.desk.pack("coder", refs=[memory])
    w.check_over_everywhere(critical)
    w.wait_resolved("completeness_low")


def test_the_failure_rate_rises_within_one_alert(watched):
    w = watched("--alert-failure-rate", "1%", "--alert-failure-rate-critical", "30%")
    deliver(w.desk, 19)
    exhaust(w.desk)
    alert = w.wait_firing("failure_rate_high")
    assert (alert["agent"], alert["value"], alert["threshold"]) == (None, 0.05, 0.01)
    w.check_everywhere(alert, "warning")
    for number in range(12):
        exhaust(w.desk, f"bad-{number}")
    risen = wait_until(lambda: [one for one in w.alerts("firing", "failure_rate_high") if one["severity"] == "critical"], "it is critical")[0]
    assert (risen["id"], risen["since"], risen["threshold"]) == (alert["id"], alert["since"], 0.3)
    assert w.receiver.wait_for("failure_rate_high", "firing")["labels"]["severity"] == "critical"
    assert len(w.log("alert is more severe now", "failure_rate_high")) == 1


def test_latency(watched):
    w = watched("--alert-latency", "50ms")
    for _ in range(6):
        w.desk.send("slow")
    w.desk.receive("nobody", wait_s=0.06)  # time passes
    for _ in range(6):
        w.desk.settle("ack", w.desk.take("slow"))
    alert = w.wait_firing("latency_high")
    assert (alert["agent"], alert["threshold"]) == ("slow", 50)
    assert alert["value"] > 50
    w.check_everywhere(alert, "warning")


def test_utilization(watched):
    w = watched()
    for _ in range(6):
        w.desk.pack("default")
        w.desk.pack("small", constraints={"max_tokens": 8000})
    alert = w.wait_firing("utilization_low")
    assert (alert["agent"], alert["value"], alert["threshold"]) == ("small", 1, 0.9)
    w.check_everywhere(alert, "info")
    # The default is a budget that nobody chose.
    assert [one["agent"] for one in w.alerts("all", "utilization_low")] == ["small"]
    # An envelope that fits exactly uses all of its budget.
    budget = 4000
    for _ in range(8):
        envelope = w.desk.ok("POST", "/v1/envelopes", {
            "from": "sender", "target_agent": "tight", "task_summary": "do the work", "include_recent": 0, "constraints": {"max_tokens": budget},
        }, status=201)
        budget = envelope["budget"]["token_count"]
    for _ in range(20):
        w.desk.pack("tight", constraints={"max_tokens": budget})
    pinned = w.wait_firing("utilization_pinned")
    assert (pinned["agent"], pinned["threshold"]) == ("tight", 0.5)
    w.check_everywhere(pinned, "warning")
    for _ in range(20):
        w.desk.pack("small", constraints={"max_tokens": 2 * budget})
    w.check_over_everywhere(alert)


def test_hop_depth(watched, tmp_path):
    """What is usual is known from the history: ten envelopes at the first hop, an hour ago."""
    data = tmp_path / "hops"
    w = watched(data=data)
    w.desk.pack()
    assert w.server.terminate() == 0
    database = open_database(data / "spine.db")
    with unprotected(database, "event"):
        database.execute("DELETE FROM event")
    hour_ago = int(time.time() * 1000) - 3600000
    database.executemany("INSERT INTO event (id, space, at, kind, handoff, envelope, memory, attempt, value_1, value_2, agent, "
                         "number) VALUES (?, 1, ?, 28, 0, 1, 0, 1, 1, 0.5, 'coder', ?)",
                         [(number + 1, hour_ago + number, number + 1) for number in range(10)])
    database.commit()
    database.close()
    w = watched(data=data)
    parent = w.desk.pack("a")
    for hop in range(2, 9):
        parent = w.desk.pack("ab"[hop % 2] * hop, parent=parent, state=f"step {hop}")
    alert = w.wait_firing("hop_depth_high")
    assert (alert["agent"], alert["threshold"]) == (None, 2)
    assert alert["value"] > 2
    assert {rule["name"]: rule["threshold"] for rule in w.desk.ok("GET", "/v1/alerts")["rules"]}["hop_depth_high"] == 2
    w.check_everywhere(alert, "warning")


# --- The rules ---


def test_the_rules_in_force_are_told_for_every_row_of_the_table(start):
    server = start("--alert-latency", "3s", "--alert-failure-rate-critical", "7%", "--alert-completeness", "90%",
                   "--alert-window", "1m", "--alert-min-samples", "9", "--alert-pinned", "40%",
                   "--alert-low", "70%").wait_until_ready()
    desk = Desk(server.address, "default")
    rules = desk.ok("GET", "/v1/alerts")["rules"]
    members = ("name", "severity", "of", "unit", "comparison", "threshold")
    assert [tuple(rule[name] for name in members) for rule in rules] == [
        ("handoff_failed", "info", "agent", "handoffs", "at_least", 1),
        ("consecutive_failures", "warning", "agent", "handoffs", "at_least", 3),
        ("completeness_low", "warning", "agent", "share", "below", 0.9),
        ("failure_rate_high", "warning", "space", "share", "above", 0.005),
        ("failure_rate_high", "critical", "space", "share", "above", 0.07),
        ("breaker_open", "critical", "agent", "handoffs", "at_least", 3),
        ("completeness_critical", "critical", "space", "share", "below", 0.8),
        ("latency_high", "warning", "agent", "ms", "above", 3000),
        ("utilization_pinned", "warning", "agent", "share", "above", 0.4),
        ("utilization_low", "info", "agent", "share", "above", 0.7),
        ("hop_depth_high", "warning", "space", "hops", "above", None),
        ("handoffs_parked", "warning", "agent", "handoffs", "at_least", 1),
        ("queue_stuck", "warning", "agent", "ms", "at_least", 300000),
        ("envelope_refused", "warning", "agent", "envelopes", "at_least", 1),
        ("constraint_waived", "info", "space", "constraints", "at_least", 1),
        ("store_damaged", "critical", "space", "places", "at_least", 1),
        ("quota_near", "warning", "space", "share", "at_least", 0.9),
    ]
    now = {"consecutive_failures", "breaker_open", "handoffs_parked", "queue_stuck", "store_damaged", "quota_near"}
    assert all(rule["window_s"] == (None if rule["name"] in now else 60) for rule in rules)
    assert all(rule["min_samples"] == (1 if rule["name"] in now | {"handoff_failed", "envelope_refused", "constraint_waived"} else 9) for rule in rules)
    assert all(rule["hold_s"] == 0 and rule["measures"] for rule in rules)
    assert {rule["name"] for rule in rules if rule["pages"]} == {"breaker_open", "completeness_critical", "store_damaged"}
    # A space that is not there yet, and a page behind the first, have them, too.
    other = Desk(server.address, "other")
    assert other.ok("GET", "/v1/alerts?state=all&page_size=1")["rules"] == rules
    desk.close()
    other.close()


def test_an_alert_fires_at_the_threshold_that_its_rule_told(watched):
    w = watched("--alert-latency", "50ms")
    told = {rule["name"]: rule["threshold"] for rule in w.desk.ok("GET", "/v1/alerts")["rules"]}
    for _ in range(6):
        w.desk.send("slow")
    w.desk.receive("nobody", wait_s=0.06)  # time passes
    for _ in range(6):
        w.desk.settle("ack", w.desk.take("slow"))
    assert w.wait_firing("latency_high")["threshold"] == told["latency_high"]


# --- Quiet ---


def test_a_healthy_server_raises_none(start):
    server = start().wait_until_ready()
    desk = Desk(server.address, "default")
    deliver(desk, 10)
    # Something that fires is the sign that everything was looked at.
    other = Desk(server.address, "other")
    exhaust(other)
    wait_until(lambda: other.ok("GET", "/v1/alerts")["alerts"], "the other space has one")
    assert desk.ok("GET", "/v1/alerts?state=all")["alerts"] == []
    desk.close()
    other.close()


# --- People ---


def test_a_person_acknowledges(watched):
    w = watched()
    exhaust(w.desk)
    alert = w.wait_firing("handoff_failed")
    w.desk.refused(422, "missing_field", "POST", f"/v1/alerts/{alert['id']}/ack", {}, field="by")
    first = w.desk.ok("POST", f"/v1/alerts/{alert['id']}/ack", {"by": "ada"})
    assert first["acknowledged_by"] == "ada" and first["acknowledged_at"]
    again = w.desk.ok("POST", f"/v1/alerts/{alert['id']}/ack", {"by": "grace"})
    assert (again["acknowledged_by"], again["acknowledged_at"]) == ("ada", first["acknowledged_at"])
    (listed,) = w.alerts("firing", "handoff_failed")
    assert (listed["acknowledged_by"], listed["state"]) == ("ada", "firing")
    assert [event["data"]["actor"] for event in w.events("alert.acked", alert)] == ["ada", "grace"]


def test_a_silenced_alert_is_not_told_to_the_webhook_again(watched):
    w = watched()
    exhaust(w.desk, count=3)
    alert = w.wait_firing("breaker_open")
    w.receiver.wait_for("breaker_open", "firing")
    silenced = w.desk.ok("POST", f"/v1/alerts/{alert['id']}/silence", {"for_s": 3600, "by": "ada", "why": "being repaired"})
    assert (silenced["silenced_by"], silenced["silenced_why"]) == ("ada", "being repaired")
    assert silenced["silenced_until"] > alert["since"]
    assert len(w.events("alert.silenced", alert)) == 1
    # It is over, and fires again: the person still does not want to hear of it.
    w.desk.ok("POST", "/v1/agents/bad/reset")
    w.wait_resolved("breaker_open")
    exhaust(w.desk, count=3)
    again = w.wait_firing("breaker_open")
    assert again["id"] != alert["id"]
    assert again["silenced_until"] == silenced["silenced_until"]
    exhaust(w.desk, "other", 3)  # the next that the webhook hears of
    while True:
        _, _, body = w.receiver.posts.get(timeout=30)
        names = [(one["labels"]["alertname"], one["labels"].get("agent")) for one in body["alerts"]]
        assert ("breaker_open", "bad") not in names
        if ("breaker_open", "other") in names:
            break
    # for_s 0 ends it.
    assert w.desk.ok("POST", f"/v1/alerts/{again['id']}/silence", {"for_s": 0, "by": "ada"})["silenced_until"] is None


def test_what_is_wrong_with_a_request_is_said(watched):
    w = watched()
    w.desk.refused(422, "invalid_field", "GET", "/v1/alerts?state=burning", field="state")
    w.desk.refused(404, "alert_not_found", "POST", "/v1/alerts/al-77/ack", {"by": "ada"}, field="id")
    w.desk.refused(404, "alert_not_found", "POST", "/v1/alerts/77/silence", {"by": "ada", "for_s": 5}, field="id")
    exhaust(w.desk)
    alert = w.wait_firing("handoff_failed")
    w.desk.refused(422, "missing_field", "POST", f"/v1/alerts/{alert['id']}/silence", {"by": "ada"}, field="for_s")
    w.desk.refused(422, "invalid_field", "POST", f"/v1/alerts/{alert['id']}/silence", {"by": "ada", "for_s": -1}, field="for_s")
    other = Desk(w.server.address, "other")
    other.send()
    other.refused(404, "alert_not_found", "POST", f"/v1/alerts/{alert['id']}/ack", {"by": "ada"}, field="id")
    assert other.ok("GET", "/v1/alerts?state=all")["alerts"] == []
    other.close()


def test_past_alerts_come_in_pages_the_newest_first(watched):
    w = watched()
    for _ in range(3):
        exhaust(w.desk, count=3)
        w.wait_firing("breaker_open")
        w.desk.ok("POST", "/v1/agents/bad/reset")
        w.wait_resolved("breaker_open")
    everything = [one["id"] for one in w.alerts("all")]
    assert everything == sorted(everything, key=lambda one: -int(one[3:]))
    found, token = [], ""
    while token is not None:
        page = w.desk.ok("GET", "/v1/alerts?state=all&page_size=2" + (f"&page_token={token}" if token else ""))
        found += [one["id"] for one in page["alerts"]]
        token = page["next_page_token"]
    assert found == everything


# --- Restarts and receivers that fail ---


def test_a_restart_forgets_no_alert_and_fires_none_twice(watched, tmp_path):
    data = tmp_path / "kept"
    w = watched(data=data)
    exhaust(w.desk, count=3)
    before = w.wait_firing("breaker_open")
    w.receiver.wait_for("breaker_open", "firing")
    w.desk.ok("POST", f"/v1/alerts/{before['id']}/ack", {"by": "ada"})
    assert w.server.terminate() == 0
    w = watched(data=data)
    after = w.alerts("firing", "breaker_open")[0]
    assert (after["id"], after["since"], after["acknowledged_by"]) == (before["id"], before["since"], "ada")
    w.desk.ok("POST", "/v1/agents/bad/reset")
    resolved = w.wait_resolved("breaker_open")
    assert resolved["id"] == before["id"]
    assert len(w.events("alert.fired", before)) == 1
    w.receiver.wait_for("breaker_open", "resolved")
    assert len(w.alerts("all", "breaker_open")) == 1


def test_what_ended_while_the_server_was_down_is_over(watched, tmp_path):
    """The window passes without a server, and the agent has accepted something: simulated by history that is older than
    it, and by a count."""
    data = tmp_path / "down"
    w = watched(data=data)
    exhaust(w.desk)
    alert = w.wait_firing("handoff_failed")
    assert w.server.terminate() == 0
    database = open_database(data / "spine.db")
    with unprotected(database, "event"):
        database.execute("UPDATE event SET at = at - 3600000")
    database.execute("UPDATE target SET failures = 0")
    database.commit()
    database.close()
    w = watched(data=data)
    assert w.wait_resolved("handoff_failed")["id"] == alert["id"]


def test_a_webhook_that_fails_is_told_again(watched):
    w = watched()
    for _ in range(2):
        w.receiver.answers.put(503)
    exhaust(w.desk)
    statuses = [w.receiver.posts.get(timeout=30)[0] for _ in range(3)]
    assert statuses == [503, 503, 200]


def test_a_webhook_that_was_down_is_told_by_the_next_server(watched, receiver, tmp_path):
    data = tmp_path / "late"
    receiver.close()
    w = watched(data=data)
    exhaust(w.desk)
    alert = w.wait_firing("handoff_failed")
    assert w.server.terminate() == 0
    again = Receiver(receiver.port)
    watched(data=data)
    assert again.wait_for("handoff_failed", "firing")["annotations"]["id"] == alert["id"]
    again.close()


def test_a_webhook_that_calls_it_wrong_is_not_asked_again(watched):
    w = watched()
    w.receiver.answers.put(400)
    exhaust(w.desk, "first")
    assert w.receiver.posts.get(timeout=30)[0] == 400
    w.wait_firing("handoff_failed")
    exhaust(w.desk, "second")
    _, _, body = w.receiver.posts.get(timeout=30)
    assert {alert["labels"]["agent"] for alert in body["alerts"]} == {"second"}


def test_alerts_that_the_store_cannot_mark_as_told_are_not_told_in_a_hurry(watched):
    w = watched()
    with trigger(w.server.data, "UPDATE ON alert WHEN new.untold = 0", ABORT):
        exhaust(w.desk)
        times = []
        for _ in range(3):
            w.receiver.posts.get(timeout=30)
            times.append(time.monotonic())
        assert times[1] - times[0] > 0.8 and times[2] - times[1] > 1.6
    database = open_database(w.server.data / "spine.db", isolation_level=None)
    wait_until(lambda: database.execute("SELECT max(untold) FROM alert").fetchone() == (0,), "it is marked")
    database.close()
    while not w.receiver.posts.empty():    # one more where the mark of the third was still refused
        w.receiver.posts.get()
    exhaust(w.desk, "second")
    _, _, body = w.receiver.posts.get(timeout=30)
    assert {alert["labels"]["agent"] for alert in body["alerts"]} == {"second"}


def test_a_webhook_elsewhere_needs_to_be_allowed(start):
    server = start("--alert-webhook", "http://example.com/alerts")
    assert server.process.wait(30) == 2
    assert "--alert-webhook" in server.log.read_text() and "example.com" in server.log.read_text()
    start("--alert-webhook", "http://example.com/alerts", "--webhook-hosts", "example.com").wait_until_ready()
