"""The names of the glossary, and the older ones, which go on working."""

import inspect

import pytest
from receiving import in_loop, send, state, sync  # noqa: F401

import memory_spine
from memory_spine import AsyncEnvelope, AsyncHandoff, AsyncMemorySpine, Envelope, Handoff, MemorySpine, SyncEnvelope


def test_pack_makes_what_agent_handoff_makes(spine):
    memory = spine.store("a fact")
    fields = {
        "intent": "Ship it.",
        "constraints": {"max_files": 3},
        "state": "begun",
        "refs": [memory.id],
        "open_decisions": ["which?"],
        "expected_output": {"format": "text"},
        "include_recent": 0,
        "include_pins": False,
        "scope": "space",
        "strategy": "lazy",
        "tokenizer": "cl100k_base",
        "max_hops": 5,
        "from_": "analyst",
    }
    steps = [{"agent": "analyst", "action": "looked"}]
    new = spine.pack("coder", "Write it.", history=steps, **fields)
    old = spine.agent_handoff(target_agent="coder", task_summary="Write it.", execution_history=steps, **fields)
    assert (new.to_agent, new.summary, new.token_count) == ("coder", "Write it.", old.token_count)
    for name in ("intent", "constraints", "state", "memory_refs", "open_decisions", "expected_output", "strategy"):
        assert getattr(new, name) == getattr(old, name), name
    assert [step["action"] for step in new.history] == [step["action"] for step in old.history]
    assert (new.tokenizer, new.max_hops, new.from_agent) == (old.tokenizer, old.max_hops, old.from_agent)


def test_pack_takes_all_that_agent_handoff_takes_by_name():
    renamed = {"target_agent": "to", "task_summary": "summary", "execution_history": "history"}
    old = inspect.signature(MemorySpine.agent_handoff).parameters
    new = inspect.signature(MemorySpine.pack).parameters
    assert {renamed.get(name, name) for name in old} == set(new)
    assert [name for name, one in new.items() if one.kind is one.POSITIONAL_OR_KEYWORD] == ["self", "to", "summary"]


def test_pack_of_a_received_handoff_continues_it(spine):
    spine.send(spine.pack("coder", "Write it.", intent="Ship it."))
    (work,) = spine.agent("coder").receive(lease_s=60)
    new, old = work.pack("tester", "Test it."), work.agent_handoff("tester", "Test it.")
    assert (new.parent, new.from_agent, new.intent) == (old.parent, old.from_agent, old.intent)
    assert new.parent == work.envelope_id


def test_what_pack_returns_is_an_envelope(sync, in_loop):
    assert type(sync.pack("coder", "go")) is SyncEnvelope is Handoff and issubclass(SyncEnvelope, Envelope)

    async def main(spine):
        return await spine.pack("coder", "go")

    assert type(in_loop(main)) is AsyncEnvelope is AsyncHandoff and issubclass(AsyncEnvelope, Envelope)
    dry = sync.pack("coder", "go", dry_run=True)
    assert isinstance(dry, memory_spine.DryRun) and dry.budgets


def test_send_takes_to_and_target(spine):
    packed = spine.pack("coder", "go")
    assert spine.send(packed, to="tester").to == "tester"
    assert spine.send(packed, target="reviewer").to == "reviewer"
    assert spine.send(packed, "auditor").to == "auditor"
    with pytest.raises(TypeError, match="target"):
        spine.send(packed, to="a", target="b")


def test_receive_takes_limit_and_max(spine):
    send(spine, count=6)
    receiver = spine.agent("coder")
    assert len(receiver.receive(limit=2)) == 2
    assert len(receiver.receive(max=2)) == 2
    assert len(receiver.receive(0, 1)) == 1
    assert len(receiver.receive()) == 1
    with pytest.raises(TypeError, match="max"):
        receiver.receive(limit=1, max=1)


def test_an_inbox_takes_limit_and_max(sync, in_loop):
    send(sync, count=4)
    assert len(list(sync.agent("coder").inbox(limit=1))) == 1
    assert len(list(sync.agent("coder").inbox(max=1))) == 1
    with pytest.raises(TypeError, match="max"):
        sync.agent("coder").inbox(limit=1, max=1)

    async def main(spine):
        new = [work.id async for work in spine.agent("coder").inbox(limit=1)]
        return new + [work.id async for work in spine.agent("coder").inbox(max=1)]

    assert len(in_loop(main)) == 2


def test_max_of_run_counts_what_was_taken_as_it_always_did(sync, other):
    sent = send(sync, count=2)

    def handle(work):
        if work.id == sent[0].id:
            raise ValueError

    assert sync.agent("coder").run(handle, max=2, on_error=lambda *_: None) == 1
    assert [state(other, one) for one in sent] == ["queued", "acked"]


@pytest.mark.parametrize("name", ["limit", "max"])
def test_a_negative_number_is_refused(sync, name):
    for loop in (sync.agent("coder").inbox, lambda **given: sync.agent("coder").run(None, **given)):
        with pytest.raises(ValueError):
            loop(**{name: -1})


def test_store_of_a_received_handoff_knows_its_task_and_shared_has_none(spine):
    send(spine)
    (work,) = spine.agent("coder").receive(lease_s=60)
    assert work.store("a").task == work.task
    assert work.store("b", shared=True).task is None


@pytest.mark.parametrize("client", [MemorySpine, AsyncMemorySpine])
def test_old_and_new_names_are_there(client):
    assert {"pack", "agent_handoff", "send", "deliver_handoff", "park_envelope", "get_channel"} <= set(dir(client))
