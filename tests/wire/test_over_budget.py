"""An envelope is packed for one agent's budget: who sends it to another that takes fewer tokens is told."""

import pytest

TEXT = "the retry policy of the gateway " * 60


@pytest.fixture
def agents(desk):
    """Two that take few tokens, one that counts otherwise, one that takes enough."""
    for name, settings in {
        "small": {"max_tokens": 300}, "smaller": {"max_tokens": 200}, "other": {"max_tokens": 200, "tokenizer": "cl100k_base"},
        "large": {"max_tokens": 5000},
    }.items():
        desk.ok("PUT", f"/v1/agents/{name}", settings)


@pytest.fixture
def envelope(desk, agents):
    return desk.pack("big", TEXT)


def codes(answer):
    """Of its warnings. That nobody has ever used a name is told, too."""
    return [warning["code"] for warning in answer.get("warnings", [])]


def test_who_sends_more_than_an_agent_takes_is_told_and_it_is_sent(desk, envelope):
    (warning,) = desk.deliver(envelope, 202, to="small").json["warnings"]
    count = desk.ok("GET", f"/v1/envelopes/{envelope}")["budget"]["token_count"]
    assert (warning["code"], warning["field"]) == ("over_budget", "to")
    assert warning["detail"].startswith(f"small takes 300 tokens; the envelope has {count}, packed for big.")
    assert desk.take("small")["envelope_id"] == envelope
    for name in ("big", "large", "other", "nobody"):
        assert "over_budget" not in codes(desk.deliver(envelope, 202, to=name).json)


def test_the_same_for_an_envelope_that_is_packed_with_the_call(desk, agents):
    body = {"envelope": {"target_agent": "big", "task_summary": TEXT}, "to": "small", "odd": 1}
    warnings = desk.ok("POST", "/v1/handoffs", body, status=202)["warnings"]
    assert [warning["code"] for warning in warnings] == ["unknown_field", "over_budget"]
    body = {"envelope": {"target_agent": "big", "task_summary": TEXT}}
    assert "over_budget" not in codes(desk.ok("POST", "/v1/handoffs", body, status=202))


def test_a_publish_names_those_who_take_too_few(desk, envelope):
    def publish(**fields):
        return desk.ok("POST", "/v1/channels/news/publish", {"envelope_id": envelope, **fields})

    # That nobody has ever received as them is told, too.
    answer = publish(receivers=["big", "small", "large", "smaller"])
    (warning,) = [one for one in answer["warnings"] if one["code"] != "agent_never_seen"]
    assert (warning["code"], warning["field"]) == ("over_budget", "receivers")
    assert warning["detail"].startswith("small takes 300 tokens, smaller takes 200 tokens; the envelope has ")
    assert "warnings" not in publish(receivers=["large"])
    for i in range(8):
        desk.ok("PUT", f"/v1/agents/tiny-{i}", {"max_tokens": 100})
        assert desk.call("PUT", f"/v1/channels/tiny/subscribers/tiny-{i}").status in (200, 201)
    answer = desk.ok("POST", "/v1/channels/tiny/publish", {"envelope_id": envelope})
    (warning,) = answer["warnings"]
    assert warning["field"] == "channel" and ", and 3 more take too few; the envelope has " in warning["detail"]


def test_a_publish_warns_only_of_those_it_is_sent_to_and_of_each_once(desk, envelope):
    path = "/v1/channels/late/publish"
    assert desk.call("PUT", "/v1/channels/late/subscribers/large").status in (200, 201)
    assert "warnings" not in desk.ok("POST", path, {"envelope_id": envelope})
    assert desk.call("PUT", "/v1/channels/late/subscribers/small").status in (200, 201)
    again = desk.ok("POST", path, {"envelope_id": envelope})
    assert [handoff["to"] for handoff in again["handoffs"]] == ["large"] and "warnings" not in again
    (warning,) = desk.ok("POST", path, {"envelope_id": envelope, "receivers": ["small", "small"]})["warnings"]
    assert warning["detail"].count("small takes") == 1


def test_a_reroute_is_warned_of_too(desk, envelope):
    desk.deliver(envelope, 202)
    taken = desk.take("big")
    desk.settle("reject", taken, reason="not mine")
    answer = desk.ok("POST", f"/v1/parked/{taken['id']}/reroute", {"to": "small", "why": "somebody must"})
    assert [warning["code"] for warning in answer["warnings"]] == ["over_budget"]
    assert desk.take("small")["id"] == taken["id"]
