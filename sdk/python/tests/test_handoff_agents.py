"""Agents and their settings, against the real server. Each test holds for both clients where it takes `spine`."""

import itertools
import json

import pytest
from peer import Peer

import memory_spine
from memory_spine import NotFound, PreconditionFailed, ValidationError


def test_a_registered_agent_sets_the_budget(spine):
    agent = spine.register_agent(
        "code/gen ü", accepts=["2", "1"], tokenizer="cl100k_base", max_tokens=1234, description="writes code"
    )
    assert (agent.name, agent.accepts, agent.tokenizer) == ("code/gen ü", ("2", "1"), "cl100k_base")
    assert (agent.max_tokens, agent.description) == (1234, "writes code")
    assert spine.agent_info("code/gen ü") == agent
    handoff = spine.agent_handoff("code/gen ü", "go")
    assert (handoff.max_tokens, handoff.tokenizer) == (1234, "cl100k_base")
    assert spine.agent_handoff("code/gen ü", "go", constraints={"max_tokens": 900}).max_tokens == 900


SETTINGS = {
    "accepts": ["1"],
    "tokenizer": "cl100k_base",
    "max_tokens": 1000,
    "description": "x",
    "fetch_hint": "mcp",
    "ack_timeout_s": 7.5,
    "max_attempts": 2,
    "fallbacks": ["c"],
    "webhook": "http://127.0.0.1:1/",
}


def settings_of(agent):
    return {name: agent.raw[name] for name in SETTINGS}


def test_registering_again_keeps_what_is_not_named(spine):
    first = spine.register_agent("b", **SETTINGS)
    assert settings_of(first) == SETTINGS
    assert settings_of(spine.register_agent("b")) == SETTINGS
    again = spine.register_agent("b", max_tokens=500)
    assert settings_of(again) == {**SETTINGS, "max_tokens": 500}
    assert again.webhook_secret == first.webhook_secret and again.created_at == first.created_at


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_that_is_none_is_taken_away(spine, name):
    spine.register_agent("b", **SETTINGS)
    defaults = settings_of(spine.register_agent("fresh"))
    assert settings_of(spine.register_agent("b", **{name: None})) == {**SETTINGS, name: defaults[name]}


def test_the_secret_of_a_webhook_is_told_to_whoever_registers_it(spine):
    made = spine.register_agent("b", webhook="http://127.0.0.1:1/")
    assert made.webhook_secret.startswith("whsec_") and made.webhook_secret not in repr(made)
    assert spine.agent_info("b").webhook_secret is None and spine.agents().all()[0].webhook_secret is None
    assert spine.register_agent("c").webhook_secret is None
    mine = "whsec_" + "A" * 32
    assert spine.register_agent("b", webhook_secret=mine).webhook_secret == mine


def test_settings_that_others_change_meanwhile_stay(spine, other, monkeypatch):
    """Between the reading and the writing somebody else is faster, twice."""
    spine.register_agent("b", description="x")
    changes = iter([{"max_tokens": 700}, {"max_attempts": 9}])
    settings = memory_spine.agents._settings

    def interrupted(given, present):
        if given["tokenizer"] == "estimate":
            for change in itertools.islice(changes, 1):
                other.register_agent("b", **change)
        return settings(given, present)

    monkeypatch.setattr(memory_spine.agents, "_settings", interrupted)
    agent = spine.register_agent("b", tokenizer="estimate")
    assert (agent.tokenizer, agent.description, agent.max_tokens, agent.max_attempts) == ("estimate", "x", 700, 9)


def test_many_who_change_different_settings_at_once_undo_nothing(other, in_thread):
    other.register_agent("b")
    for name, value in SETTINGS.items():
        in_thread(other.register_agent, "b", **{name: value})
    in_thread.join()
    assert settings_of(other.agent_info("b")) == SETTINGS


def test_registering_with_replace_forgets_what_is_not_named(spine):
    first = spine.register_agent("b", max_tokens=1000, description="x")
    again = spine.register_agent("b", tokenizer="estimate", replace=True)
    assert (again.accepts, again.tokenizer, again.max_tokens, again.description) == (("2",), "estimate", None, None)
    assert again.created_at == first.created_at
    assert spine.agent_info("b") == again


def test_registering_with_if_match_replaces_only_what_was_read(spine):
    first = spine.register_agent("b", max_tokens=1000)
    assert first.etag and spine.agent_info("b").etag == first.etag
    second = spine.register_agent("b", max_tokens=2000, if_match=first)
    assert second.etag != first.etag
    with pytest.raises(PreconditionFailed) as caught:
        spine.register_agent("b", max_tokens=3000, if_match=first)
    assert caught.value.status == 412 and caught.value.current_version is None
    assert spine.agent_info("b") == second
    assert spine.register_agent("b", max_tokens=4000, if_match=second.etag).max_tokens == 4000
    with pytest.raises(PreconditionFailed):
        spine.register_agent("b", max_tokens=3000, if_match=first, replace=True)
    with pytest.raises(PreconditionFailed):
        spine.register_agent("nobody", if_match="*")
    assert spine.register_agent("b", description="x", if_match="*").max_tokens == 4000
    with pytest.raises(ValueError):
        spine.register_agent("b", if_match=spine.agents().all()[0])


AGENT = {
    "name": "b",
    "accepts": ["2"],
    "description": "x",
    "created_at": "2026-01-30T00:00:00.000Z",
    "updated_at": "2026-01-30T00:00:00.000Z",
}


def registry(*answers):
    """A server that tells an agent to whoever reads it, and answers so to those who write; None: it hangs up."""
    left = iter(answers)

    def script(channel):
        while True:
            request = channel.read()
            if request is None:
                return
            status = 200 if request[0] == "GET" else next(left)
            if status is None:
                return
            channel.reply(status, AGENT, 'ETag: "0"')

    return script


def methods(peer):
    return [request[0] for request in peer.requests]


@pytest.mark.parametrize("options", [{"if_match": '"0"'}, {"if_match": '"0"', "replace": True}])
def test_a_lost_registration_with_if_match_is_not_sent_again(connect, options):
    """The second time would be refused because of the first, and the caller told that somebody else was faster."""
    with Peer(registry(None)) as peer:
        with pytest.raises(memory_spine.ConnectionError):
            connect(peer.url).register_agent("b", **options)
        assert methods(peer).count("PUT") == 1


def test_a_lost_registration_is_sent_again_and_read_anew_where_it_had_arrived(connect):
    with Peer(registry(None, 412, 200)) as peer:
        connect(peer.url).register_agent("b", max_tokens=5)
        assert methods(peer) == ["GET", "PUT", "PUT", "GET", "PUT"]
        assert [request[2].get("if-match") for request in peer.requests if request[0] == "PUT"] == ['"0"'] * 3
        assert json.loads(peer.requests[-1][3]) == {"accepts": ["2"], "description": "x", "max_tokens": 5}


def test_agents_are_listed(spine):
    assert spine.agents().all() == []
    made = [spine.register_agent(name) for name in ("a", "b", "c")]
    assert spine.agents(page_size=2).all() == made


def test_an_agent_that_nobody_registered_is_not_found(spine):
    with pytest.raises(NotFound) as caught:
        spine.agent_info("nobody")
    assert caught.value.code == "agent_not_found"


@pytest.mark.parametrize(
    "settings, field",
    [({"max_tokens": 0}, "max_tokens"), ({"accepts": ["3"]}, "accepts"), ({"tokenizer": "x"}, "tokenizer")],
)
def test_settings_that_cannot_be_are_refused(spine, settings, field):
    with pytest.raises(ValidationError) as caught:
        spine.register_agent("b", **settings)
    assert caught.value.field == field


def test_the_names_of_handoffs_are_exported():
    for name in ("Handoff", "AsyncHandoff", "DryRun", "Envelope", "BudgetTooSmall", "ConstraintConflict", "HopLimit"):
        assert name in memory_spine.__all__


def test_a_long_task_is_read_whole(spine):
    """Traces come in pages of 200 envelopes; whoever asks gets all of them, in order."""
    first = spine.agent_handoff("agent-0", "do it", task="wide", include_recent=0)
    for number in range(1, 201):
        spine.agent_handoff(f"agent-{number}", "do it", parent=first, include_recent=0)
    names = [f"agent-{number}" for number in range(201)]
    assert [envelope.to_agent for envelope in spine.trace("wide").envelopes] == names
    assert len(spine.task("wide").hops) == len(spine.fidelity("wide").hops) == 201
