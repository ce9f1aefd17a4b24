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


def test_who_sends_more_than_an_agent_takes_is_told_and_it_is_sent(desk, envelope):
    (warning,) = desk.deliver(envelope, 202, to="small").json["warnings"]
    count = desk.ok("GET", f"/v1/envelopes/{envelope}")["budget"]["token_count"]
    assert (warning["code"], warning["field"]) == ("over_budget", "to")
    assert warning["detail"].startswith(f"small takes 300 tokens; the envelope has {count}, packed for big.")
    assert desk.take("small")["envelope_id"] == envelope
    for name in ("big", "large", "other", "nobody"):
        assert "warnings" not in desk.deliver(envelope, 202, to=name).json


def test_the_same_for_an_envelope_that_is_packed_with_the_call(desk, agents):
    body = {"envelope": {"target_agent": "big", "task_summary": TEXT}, "to": "small", "odd": 1}
    warnings = desk.ok("POST", "/v1/handoffs", body, status=202)["warnings"]
    assert [warning["code"] for warning in warnings] == ["unknown_field", "over_budget"]
    body = {"envelope": {"target_agent": "big", "task_summary": TEXT}}
    assert "warnings" not in desk.ok("POST", "/v1/handoffs", body, status=202)


def test_a_publish_names_those_who_take_too_few(desk, envelope):
    def publish(**fields):
        return desk.ok("POST", "/v1/channels/news/publish", {"envelope_id": envelope, **fields})

    (warning,) = publish(receivers=["big", "small", "large", "smaller"])["warnings"]
    assert (warning["code"], warning["field"]) == ("over_budget", "receivers")
    assert warning["detail"].startswith("small takes 300 tokens, smaller takes 200 tokens; the envelope has ")
    assert "warnings" not in publish(receivers=["large"])
    for i in range(8):
        desk.ok("PUT", f"/v1/agents/tiny-{i}", {"max_tokens": 100})
        assert desk.call("PUT", f"/v1/channels/tiny/subscribers/tiny-{i}").status in (200, 201)
    answer = desk.ok("POST", "/v1/channels/tiny/publish", {"envelope_id": envelope})
    assert ", and 3 more take too few; the envelope has " in answer["warnings"][0]["detail"]
