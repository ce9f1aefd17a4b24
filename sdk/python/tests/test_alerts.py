"""Alerts as a client sees them. Each test holds for both clients."""

import time

import pytest
from conftest import serving

from memory_spine import NotFound, ValidationError


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server of their own: one that has met hundreds of agents counts further ones together."""
    with serving(tmp_path_factory.mktemp("alerts")) as running:
        yield running


def fire(spine):
    """The alert of a handoff that nobody could take."""
    delivery = spine.send(spine.agent_handoff("bad", "do the work"), max_attempts=1)
    spine.agent("bad").receive()[0].nack("broken")
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        found = [alert for alert in spine.alerts() if alert.name == "handoff_failed"]
        if found:
            return delivery, found[0]
        time.sleep(0.05)
    raise AssertionError("no alert fires")


def test_the_rules_in_force_are_told(spine):
    rules = {(rule.name, rule.severity): rule for rule in spine.alert_rules()}
    assert len(rules) == 17
    latency = rules["latency_high", "warning"]
    assert (latency.unit, latency.comparison, latency.threshold, latency.window_s) == ("ms", "above", 15000, 300)
    assert rules["failure_rate_high", "critical"].threshold == 0.02
    assert rules["breaker_open", "critical"].pages and rules["breaker_open", "critical"].window_s is None
    assert rules["hop_depth_high", "warning"].threshold is None


def test_an_alert_is_seen_acknowledged_and_silenced(spine):
    _, alert = fire(spine)
    assert (alert.name, alert.severity, alert.state, alert.agent) == ("handoff_failed", "info", "firing", "bad")
    assert alert.resolved_at is None and alert.since.tzinfo is not None
    assert spine.ack_alert(alert.id, by="ada").acknowledged_by == "ada"
    silenced = spine.silence_alert(alert.id, 60, by="ada", why="being mended")
    assert silenced.silenced_until > alert.since
    assert spine.silence_alert(alert.id, 0, by="ada").silenced_until is None
    assert alert.id in [one.id for one in spine.alerts(state="all")]
    assert list(spine.alerts(state="resolved")) == []


def test_what_is_wrong_is_said(spine):
    with pytest.raises(NotFound):
        spine.ack_alert("al-999999", by="ada")
    with pytest.raises(ValidationError):
        list(spine.alerts(state="burning"))
    with pytest.raises(TypeError):
        spine.ack_alert(3)
