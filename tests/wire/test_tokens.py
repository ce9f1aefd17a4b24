"""Tokens, health and status."""

import re

import pytest
import stores


@pytest.mark.parametrize("text, o200k, cl100k", [
    ("", 0, 0), ("hello world", 2, 2), ("Hello, world!", 4, 4), ("antidisestablishmentarianism", 6, 6),
    ("\U0001f600", 1, 2), ("<|endoftext|>", 7, 7), ("a\u0000b", 3, 3),
])
def test_tokens_are_counted_exactly(api, text, o200k, cl100k):
    answer = api.ok("POST", "/v1/tokens", {"text": text})
    assert list(answer) == ["tokens", "tokenizer", "estimate"]
    assert answer["tokenizer"] == "o200k_base" and answer["estimate"] is False
    assert api.ok("POST", "/v1/tokens", {"text": text, "tokenizer": "o200k_base"}) == answer
    other = api.ok("POST", "/v1/tokens", {"text": text, "tokenizer": "cl100k_base"})
    assert other["tokenizer"] == "cl100k_base"
    if text in ("", "hello world", "Hello, world!"):
        assert (answer["tokens"], other["tokens"]) == (o200k, cl100k)


def test_an_estimate_says_that_it_is_one(api):
    answer = api.ok("POST", "/v1/tokens", {"text": "x" * 400, "tokenizer": "estimate"})
    assert answer["estimate"] is True and answer["tokenizer"] == "estimate" and 50 <= answer["tokens"] <= 200


@pytest.mark.parametrize("name", ["gpt2", "", "O200K_BASE", "o200k", "x" * 1000, "ä"])
def test_any_other_tokenizer_is_422(api, name):
    problem = api.refused(422, "unknown_tokenizer", "POST", "/v1/tokens", {"text": "a", "tokenizer": name},
                          field="tokenizer")
    assert "o200k_base" in problem["detail"]


@pytest.mark.parametrize("body, code, field", [
    ({}, "missing_field", "text"), ({"text": None}, "missing_field", "text"), ({"text": 5}, "invalid_field", "text"),
    ({"text": ["a"]}, "invalid_field", "text"),
    ({"text": "a", "tokenizer": 5}, "invalid_field", "tokenizer"),
])
def test_a_bad_count_is_refused(api, body, code, field):
    api.refused(422, code, "POST", "/v1/tokens", body, field=field)


def test_unknown_fields_of_a_count_are_warned_of(api):
    assert [warning["field"] for warning in api.ok("POST", "/v1/tokens", {"text": "a",
        "model": "m"})["warnings"]] == ["model"]


def test_a_megabyte_of_one_letter_is_counted(api):
    assert api.ok("POST", "/v1/tokens", {"text": "a" * 1_000_000})["tokens"] > 100_000


def test_health_and_readiness(api):
    assert api.ok("GET", "/healthz") == {"status": "ok"}
    assert api.ok("GET", "/readyz") == {"status": "ready"}


def test_status_says_what_the_protocol_lists(server, api):
    api.store("a")
    api.store("b")
    api.forget("ms-1")
    status = api.ok("GET", "/v1/status")
    assert re.match(r"\d+\.\d+\.\d+", status["version"])
    assert status["status"] == "ready" and status["pid"] == server.process.pid and status["uptime_s"] >= 0
    assert status["space"] == api.space and status["memories"] == 1
    assert status["store"]["engine"] == ("postgres" if stores.SERVER else "sqlite") and status["store"]["schema"] >= 1 and status["store"]["bytes"] > 0
    assert status["http"]["connections"] >= 1 and status["http"]["requests"] >= 4
    assert status["writer"]["writes"] >= 3 and status["writer"]["commits"] >= 3
