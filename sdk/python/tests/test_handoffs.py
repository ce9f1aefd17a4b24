"""Handoffs and tasks, against the real server. Each test holds for both clients where it takes `spine`."""

import contextlib
import copy
import io
import json
import pickle
import re
import socket
import urllib.request
from datetime import datetime, timezone
from pathlib import Path

import pytest
from conftest import unwrap

from memory_spine import (
    AsyncHandoff,
    BudgetTooSmall,
    Conflict,
    ConstraintConflict,
    ConstraintLocked,
    CredentialsFound,
    DryRun,
    Envelope,
    Handoff,
    HopLimit,
    LineageUnverified,
    MemorySpine,
    NotFound,
    ParentUnclear,
    ValidationError,
    transport,
)

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
LISTING = HERE / "listing.txt"
# Where the listing was published; it stands beside the repository, and not everywhere.
PUBLISHED = ROOT.parent / "shared" / "seed" / "agent-handoff-protocols.txt"
DEFAULT_ADDRESS = ("127.0.0.1", 8788)

FINDINGS = [
    "The gateway answers 429 with Retry-After in seconds.",
    "Timeouts are 10 seconds; a timeout says nothing about whether the payment was made.",
    "Every payment carries an idempotency key, so that it may be sent again.",
    "Failure modes: 429, 503, connection reset, timeout after the request was sent.",
    "Recommended: exponential backoff with full jitter, base 200 ms, cap 5 s, at most 3 retries.",
]
FINDING_IDS = [f"ms-{number}" for number in range(4821, 4826)]


@pytest.fixture
def run_as_it_stands(monkeypatch):
    """Runs a program that names the default endpoint, which the server of the test has to stand in for."""
    connect = socket.create_connection

    def run(program, server):
        def redirected(address, *args, **kwargs):
            assert address == DEFAULT_ADDRESS
            return connect(server.address, *args, **kwargs)

        monkeypatch.setattr(transport.socket, "create_connection", redirected)
        names = {}
        out = io.StringIO()
        try:
            with contextlib.redirect_stdout(out):
                exec(compile(program, "<program>", "exec"), names)
        finally:
            monkeypatch.setattr(transport.socket, "create_connection", connect)
            if "spine" in names:
                names["spine"].close()
        return names, out.getvalue()

    return run


# --- The listing that the client is known by -----------------------------------------------------


def test_the_listing_is_the_published_one():
    if not PUBLISHED.exists():
        pytest.skip("the published text is not beside this repository")
    assert LISTING.read_text(encoding="utf-8") in PUBLISHED.read_text(encoding="utf-8")


def test_the_listing_runs_as_it_stands(start_server, run_as_it_stands):
    server = start_server()
    with MemorySpine(server.url) as spine:
        spine.store("Everything about payments is reviewed by two people.", pinned=True, importance="critical")
        spine.store("The retry logic of the invoice service has a bug with jitter.")
        spine.store_many([{"id": id, "content": text} for id, text in zip(FINDING_IDS, FINDINGS)])
    names, out = run_as_it_stands(LISTING.read_text(encoding="utf-8"), server)
    handoff = names["handoff"]
    assert type(handoff) is Handoff
    assert handoff.envelope_version == "2"
    assert 0 < handoff.token_count <= 4000 == handoff.max_tokens
    assert handoff.memory_refs[:5] == FINDING_IDS
    assert set(handoff.memory_refs[5:]) == {"ms-1", "ms-2"}
    assert handoff.missing == [] and handoff.completeness == 1 and handoff.trimmed == []
    assert out.splitlines() == ["2", str(handoff.token_count), str(handoff.memory_refs)]
    assert [step["agent"] for step in handoff.history] == ["researcher", "analyst", "analyst"]


def test_the_listing_runs_on_a_server_that_knows_nothing(start_server, run_as_it_stands):
    names, _ = run_as_it_stands(LISTING.read_text(encoding="utf-8"), start_server())
    handoff = names["handoff"]
    assert type(handoff) is Handoff
    assert [entry.id for entry in handoff.missing] == FINDING_IDS
    assert {entry.reason for entry in handoff.missing} == {"unknown"}
    assert handoff.completeness == 0
    assert handoff.memory_refs == []
    assert handoff.token_count <= 4000


def test_the_first_handoff_of_the_readme_runs_as_it_stands(start_server, run_as_it_stands):
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition("## A first handoff in ten lines")[2]
    program = "".join(re.findall(r"```python\n(.*?)```", section.partition("\n## ")[0], re.DOTALL))
    server = start_server()
    names, _ = run_as_it_stands(program, server)
    envelope = names["envelope"]
    assert envelope.memory_refs == [names["plan"].id]
    assert envelope.from_agent == "analyst"
    with MemorySpine(server.url) as spine:
        assert names["plan"].content in spine.envelope(envelope.id).prompt()
        coded, reviewed = spine.handoffs()
        assert (coded.state, reviewed.state, reviewed.from_agent) == ("completed", "completed", "coder")
        assert spine.handoff(reviewed).result == "approved: Payments must survive a flaky gateway."


# --- One handoff ---------------------------------------------------------------------------------


def test_a_handoff_carries_everything_that_was_given(connect, server, space):
    spine = connect(server.url, space=space, agent="analyst")
    spine.store_many([{"id": id, "content": text} for id, text in zip(FINDING_IDS, FINDINGS)])
    handoff = spine.agent_handoff(
        "coder",
        "Implement retries, see ms-4821.",
        include_recent=0,
        include_pins=False,
        constraints={"language": "python", "max_tokens": 3000, "deadline": datetime(2030, 1, 1, tzinfo=timezone.utc)},
        execution_history=[
            {"agent": "researcher", "action": "read the docs", "why": "nobody had", "memory_id": "ms-4824"}
        ],
        expected_output={"format": "a patch", "criteria": ["tests pass"]},
        intent="Make payments survive a flaky gateway.",
        state="analysed",
        open_decisions=["which clock?"],
        task="payments-7",
        strategy="full",
        refs=["ms-4823", "ms-4899"],
        max_hops=5,
        tokenizer="cl100k_base",
    )
    assert (handoff.from_agent, handoff.to_agent, handoff.task) == ("analyst", "coder", "payments-7")
    assert (handoff.intent, handoff.state) == ("Make payments survive a flaky gateway.", "analysed")
    assert handoff.summary == "Implement retries, see ms-4821."
    assert handoff.constraints == {"language": "python", "max_tokens": 3000, "deadline": "2030-01-01T00:00:00.000Z"}
    [step] = handoff.history
    assert step.pop("at") == handoff.raw["created_at"]
    assert step == {"agent": "researcher", "action": "read the docs", "why": "nobody had", "memory_id": "ms-4824"}
    assert handoff.expected_output == {"format": "a patch", "criteria": ["tests pass"]}
    assert handoff.open_decisions == ["which clock?"]
    assert handoff.memory_refs == ["ms-4823", "ms-4821", "ms-4824"]
    assert [(ref.why, ref.form, ref.version) for ref in handoff.refs] == [("cited", "full", 1)] * 3
    assert handoff.refs[1].text == FINDINGS[0]
    assert [(entry.id, entry.reason) for entry in handoff.missing] == [("ms-4899", "unknown")]
    assert handoff.completeness == 0.75
    assert (handoff.max_tokens, handoff.tokenizer, handoff.strategy) == (3000, "cl100k_base", "full")
    assert handoff.utilization == pytest.approx(handoff.token_count / 3000, abs=1e-4)
    assert handoff.token_count == spine.tokens(handoff.prompt(), tokenizer="cl100k_base")
    assert (handoff.parent, handoff.root, handoff.hop, handoff.max_hops) == (None, handoff.id, 1, 5)
    assert handoff.path == ["analyst", "coder"]
    assert (handoff.waived, handoff.trimmed) == ([], [])
    assert (handoff.envelope_version, handoff.envelope_minor) == ("2", 2)
    assert handoff.fetch_hint is None and all(0 <= ref.relevance <= 1 for ref in handoff.refs)
    assert abs(handoff.created_at - datetime.now(timezone.utc)).total_seconds() < 60


@pytest.mark.parametrize("tokenizer", ["o200k_base", "cl100k_base"])
@pytest.mark.parametrize("field", ["constraints", "expected_output"])
@pytest.mark.parametrize("values", [{"z": "**", "a": 1}, {"z": 1, "a": "**"}, {"z": 1, "a": "(x))."}])
def test_the_prompt_that_is_counted_is_the_one_that_is_read(spine, tokenizer, field, values):
    """In whatever order things were given: which one stands last, before a blank line, makes a token more or less."""
    spine.store("pinned", pinned=True)
    handoff = spine.agent_handoff("b", "go", tokenizer=tokenizer, **{field: values})
    assert handoff.token_count == spine.tokens(handoff.prompt(), tokenizer=tokenizer)
    assert handoff.token_count == spine.tokens(spine.envelope(handoff.id).prompt(), tokenizer=tokenizer)


def test_the_sender_may_be_named(connect, server, space):
    spine = connect(server.url, space=space, agent="analyst")
    assert spine.agent_handoff("b", "x", from_="someone else").from_agent == "someone else"


def test_an_envelope_is_read_as_it_was_packed(spine):
    spine.store("a pinned fact", pinned=True)
    handoff = spine.agent_handoff("b", "go")
    again = spine.envelope(handoff.id)
    assert again == handoff
    assert again.raw == handoff.raw
    assert again.prompt() == handoff.prompt()


def test_an_envelope_that_is_not_there_is_not_found(spine):
    for call in (spine.envelope, spine.verify):
        with pytest.raises(NotFound) as caught:
            call("env-999")
        assert caught.value.code == "envelope_not_found"


def test_the_same_key_packs_once(spine):
    one = spine.agent_handoff("b", "go", idempotency_key="k-1")
    assert spine.agent_handoff("b", "go", idempotency_key="k-1") == one
    with pytest.raises(Conflict):
        spine.agent_handoff("b", "another", idempotency_key="k-1")


def test_a_prompt_is_asked_for_once(connect, start_server):
    server = start_server()
    handoff = connect(server.url).agent_handoff("b", "Write the patch.", constraints={"style": "no tabs"})
    prompt = handoff.prompt()
    assert "> Write the patch." in prompt and "- style: no tabs" in prompt
    assert server.terminate() == 0
    assert handoff.prompt() == prompt


def test_version_1_is_rendered_for_those_who_read_it(spine):
    memory = spine.store("fact")
    handoff = spine.agent_handoff("b", f"go, see {memory.id}", constraints={"x": 1})
    old = handoff.render("v1")
    assert (old["version"], old["target"], old["summary"]) == (1, "b", f"go, see {memory.id}")
    assert (old["constraints"], old["memory_ids"], old["context"]) == ({"x": 1}, [memory.id], handoff.prompt())
    both = handoff.render("both")
    assert both["v1"] == old and both["v2"] == handoff.raw
    with pytest.raises(ValueError, match="form"):
        handoff.render("v3")


def test_a_handoff_cannot_be_changed(spine):
    handoff = unwrap(spine.agent_handoff("b", "go"))
    with pytest.raises(AttributeError):
        handoff.token_count = 0
    assert isinstance(handoff, Envelope)
    assert len({handoff, copy.copy(handoff)}) == 1


def test_a_pickled_handoff_keeps_all_but_its_client(spine):
    handoff = unwrap(spine.agent_handoff("b", "go"))
    copied = pickle.loads(pickle.dumps(handoff))
    assert type(copied) is type(handoff) and copied == handoff and copied.raw == handoff.raw
    assert copied.verify()
    if isinstance(copied, Handoff):
        with pytest.raises(RuntimeError, match="envelope"):
            copied.prompt()
    assert spine.agent_handoff("c", "go on", parent=copied).parent == handoff.id


def test_the_kinds_of_handoff_are_those_of_the_clients(spine):
    handoff = spine.agent_handoff("b", "go")
    assert type(unwrap(handoff)) is (Handoff if unwrap(handoff) is handoff else AsyncHandoff)
    assert repr(unwrap(handoff)).startswith(type(unwrap(handoff)).__name__ + "(id='env-")
    assert "_run" not in repr(unwrap(handoff))


# --- What is refused -----------------------------------------------------------------------------


def test_a_budget_that_is_too_small_says_what_would_do(spine):
    with pytest.raises(BudgetTooSmall) as caught:
        spine.agent_handoff("b", "Do this and that. " * 20, constraints={"max_tokens": 50, "x": "y"})
    error = caught.value
    assert isinstance(error, ValidationError) and error.code == "budget_too_small"
    assert error.minimum > 50
    made = spine.agent_handoff("b", "Do this and that. " * 20, constraints={"max_tokens": error.minimum, "x": "y"})
    assert made.token_count <= error.minimum


def test_everything_in_full_or_not_at_all(spine):
    spine.store("word " * 3000, pinned=True)
    with pytest.raises(BudgetTooSmall) as caught:
        spine.agent_handoff("b", "go", strategy="full", constraints={"max_tokens": 1000})
    made = spine.agent_handoff("b", "go", strategy="full", constraints={"max_tokens": caught.value.minimum})
    assert made.token_count <= caught.value.minimum


def test_a_constraint_may_be_narrowed_or_waived_and_not_loosened(spine):
    root = spine.agent_handoff("b", "go", constraints={"max_retries": 3, "language": "python"}, from_="a")
    with pytest.raises(ConstraintConflict) as caught:
        spine.agent_handoff("c", "go", parent=root, constraints={"max_retries": 5})
    assert isinstance(caught.value, Conflict) and caught.value.status == 409
    after = spine.agent_handoff(
        "c",
        "go",
        parent=root,
        from_="b",
        constraints={"max_retries": 2},
        waive=[{"key": "language", "reason": "it is a script now"}],
    )
    assert after.constraints == {"max_retries": 2}
    (waived,) = after.waived
    assert (waived.key, waived.value, waived.by) == ("language", "python", "b")
    assert (waived.reason, waived.at_hop) == ("it is a script now", 2)


@pytest.mark.parametrize("call", ["pack", "agent_handoff"])
def test_what_is_locked_is_waived_by_no_agent(spine, call):
    pack = getattr(spine, call)
    root = pack("b", "go", constraints={"region": "eu", "style": "terse"}, locked=["region"], from_="a")
    assert root.locked == ["region"] and root.verify()
    child = pack("c", "go", parent=root, locked=iter(["style"]), from_="b")
    assert child.locked == ["region", "style"] == spine.envelope(child.id).locked
    for key in child.locked:
        with pytest.raises(ConstraintLocked) as caught:
            pack("d", "go", parent=child, waive=[{"key": key, "reason": "in the way"}])
        assert isinstance(caught.value, ConstraintConflict) and caught.value.field == "waive[0].key"
    assert pack("b", "go", constraints={"region": "eu"}).locked == []


def test_a_waiver_of_a_person_is_told_apart(spine, server, space):
    """The client cannot make one: that is for persons."""
    root = spine.pack("b", "go", constraints={"region": "eu"}, locked=["region"], from_="a")
    body = json.dumps({"key": "region", "reason": "legal said so"}).encode()
    headers = {"Content-Type": "application/json", "Spine-Space": space, "Spine-Person": "kim"}
    request = urllib.request.Request(f"{server.url}/v1/tasks/{root.task}/waive", body, headers)
    with urllib.request.urlopen(request) as answer:
        made = json.load(answer)
    (waived,) = spine.pack("c", "go", parent=root, from_="b").waived
    assert (waived.by, waived.unauthenticated, waived.waiver) == ("kim", True, made["waiver"])
    assert spine.task(root.task).raw["waivers"][0]["by"] == "kim"


@pytest.mark.parametrize("call", ["pack", "agent_handoff"])
def test_a_call_that_names_a_task_finds_its_parent_or_is_told_what_to_say(spine, call):
    pack = getattr(spine, call)
    root = pack("b", "go", task="t", constraints={"region": "eu"}, from_="a")
    child = pack("c", "go", task="t", from_="b")
    assert (child.parent, child.constraints) == (root.id, {"region": "eu"})
    second = pack("d", "go", task="t", new_root=True, from_="a")
    assert (second.parent, second.hop, second.task, second.constraints) == (None, 1, "t", {})
    with pytest.raises(ParentUnclear) as caught:
        pack("e", "go", task="t", from_="x")
    assert isinstance(caught.value, Conflict) and child.id in str(caught.value) and second.id in str(caught.value)
    assert pack("e", "go", parent=second, from_="x").parent == second.id
    with pytest.raises(ValidationError) as caught:
        pack("e", "go", parent=second, new_root=True)
    assert caught.value.field == "new_root"


def test_a_mapping_that_is_sent_takes_them_too(spine):
    spine.pack("b", "go", task="t", from_="a")
    draft = {"target_agent": "c", "task_summary": "go", "task": "t", "new_root": True, "constraints": {"a": 1}, "locked": ["a"]}
    sent = spine.envelope(spine.send(draft).envelope_id)
    assert (sent.parent, sent.task, sent.locked) == (None, "t", ["a"])


def test_an_envelope_that_comes_back_changed_is_not_taken_for_the_same(spine):
    root = spine.pack("b", "go", from_="a")
    changed = {**root.raw, "lineage": {**root.raw["lineage"], "parent": "env-999"}, "digest": ""}
    with pytest.raises(LineageUnverified) as caught:
        spine.send(changed)
    assert isinstance(caught.value, Conflict) and caught.value.code == "lineage_unverified"


def test_a_chain_ends_at_its_hop_limit(spine):
    handoff = spine.agent_handoff("b", "go", max_hops=2)
    handoff = spine.agent_handoff("c", "go", parent=handoff)
    assert (handoff.hop, handoff.max_hops) == (2, 2)
    with pytest.raises(HopLimit) as caught:
        spine.agent_handoff("d", "go", parent=handoff)
    assert isinstance(caught.value, Conflict) and caught.value.code == "hop_limit"


def test_another_intent_is_a_conflict(spine):
    root = spine.agent_handoff("b", "go", intent="this")
    with pytest.raises(Conflict) as caught:
        spine.agent_handoff("c", "go", parent=root, intent="that")
    assert caught.value.code == "intent_conflict"


@pytest.mark.parametrize(
    "arguments, error",
    [
        ({"refs": "ms-1"}, TypeError),
        ({"open_decisions": "which?"}, TypeError),
        ({"execution_history": {"agent": "a"}}, TypeError),
        ({"waive": "language"}, TypeError),
        ({"locked": "language"}, TypeError),
        ({"parent": 17}, TypeError),
        ({"parent": ""}, ValueError),
    ],
)
def test_a_wrong_argument_does_not_leave_the_process(connect, arguments, error):
    with pytest.raises(error, match=next(iter(arguments))):
        connect("http://127.0.0.1:1", retries=0).agent_handoff("b", "go", **arguments)


SECRET = "AKIA" + "Z7QK3MPLW2TN5RVB"


def test_credentials_are_blanked_where_that_is_asked_for(spine):
    memory = spine.store(f"The key of the bucket is {SECRET}.")
    plain = spine.agent_handoff("b", f"see {memory.id}")
    assert plain.guard is None and SECRET in plain.prompt()
    guarded = spine.agent_handoff("b", f"see {memory.id}", constraints={"security": "no plaintext credentials"})
    assert SECRET not in guarded.prompt() and SECRET not in str(guarded.raw)
    assert guarded.guard.policy == "redact"
    assert [memory.id in finding.where for finding in guarded.guard.findings] == [True]
    assert guarded.verify()
    with pytest.raises(CredentialsFound) as caught:
        spine.agent_handoff("b", f"see {memory.id}", constraints={"credentials": "refuse"})
    assert isinstance(caught.value, ValidationError)
    assert SECRET not in str(caught.value)


# --- Trying it out -------------------------------------------------------------------------------


def test_a_dry_run_stores_nothing_and_says_what_budgets_would_lose(spine):
    for number in range(12):
        spine.store(f"finding {number}: " + "some words about the gateway " * 60, importance="low")
    tried = spine.agent_handoff("b", "look at the gateway", dry_run=True, constraints={"max_tokens": 3000})
    assert type(tried) is DryRun and isinstance(tried, Envelope)
    assert (tried.id, tried.digest, tried.verify()) == ("", "", False)
    assert tried.to_agent == "b" and 0 < tried.token_count <= tried.max_tokens == 3000
    assert [budget.max_tokens for budget in tried.budgets] == [2000, 4000, 8000]
    assert all(budget.fits and budget.token_count <= budget.max_tokens for budget in tried.budgets)
    lost = [len(budget.trimmed) for budget in tried.budgets]
    assert lost == sorted(lost, reverse=True) and lost[0] > lost[-1] == 0
    assert tried.budgets[-1].kept == 12
    assert len({*tried.memory_refs, *(trim.id for trim in tried.trimmed)}) == 12
    assert spine.tasks().all() == []
    with pytest.raises(ValueError, match="dry run"):
        spine.agent_handoff("c", "go", parent=tried)


def test_a_dry_run_says_which_budgets_are_too_small(spine):
    tried = spine.agent_handoff("b", "word " * 3000, dry_run=True)
    small, middle, _ = tried.budgets
    assert (small.fits, small.code, small.kept) == (False, "budget_too_small", None)
    assert 3000 < small.minimum < 4000
    assert middle.fits and middle.minimum is None


# --- Chains --------------------------------------------------------------------------------------

INTENT = 'Make payments survive a flaky gateway: "never charge anybody twice", bitte.\nAnd tell support how.'
RULES = {
    "language": "python",
    "security": "no plaintext credentials",
    "do_not": ["touch the ledger", "log card numbers"],
    "max_retries": 3,
    "style": "follow existing patterns in src/payments/",
}


@pytest.fixture
def chain(connect, server, space):
    """A hands to B, B to C, C to D, D to E. The later agents repeat nothing; each adds a step, one adds a rule."""
    client = connect(server.url, space=space)
    findings = client.store_many(FINDINGS)
    made = [
        client.agent_handoff(
            "B",
            f"Analyse {findings[0].id} through {findings[4].id}.",
            from_="A",
            intent=INTENT,
            constraints=RULES,
            open_decisions=["backoff: full or equal jitter?"],
            execution_history=[{"agent": "A", "action": "gathered API docs", "memory_id": findings[0].id}],
        )
    ]
    for sender, receiver in zip("BCD", "CDE"):
        made.append(
            client.agent_handoff(
                receiver,
                f"{receiver}, please go on.",
                from_=sender,
                parent=made[-1],
                include_recent=0,
                constraints={"max_tokens": 2500, **({"python_version": "3.9"} if sender == "C" else {})},
                execution_history=[{"agent": sender, "action": f"did the part of {sender}"}],
                resolved_decisions=(
                    [{"decision": "backoff: full or equal jitter?", "outcome": "full"}] if sender == "D" else []
                ),
            )
        )
    return client, made


def test_a_chain_of_five_agents_loses_no_word_of_intent_and_constraints(chain):
    client, (root, *_, last) = chain
    prompt = last.prompt()
    for line in INTENT.splitlines():
        assert line in prompt
    for key, value in RULES.items():
        assert key in prompt
        for text in value if isinstance(value, list) else [value]:
            assert str(text) in prompt
    assert "python_version: 3.9" in prompt
    assert last.intent == INTENT
    assert {key: last.constraints[key] for key in RULES} == RULES
    assert (last.hop, last.path, last.root, last.task) == (4, ["A", "B", "C", "D", "E"], root.id, root.task)
    assert last.memory_refs == root.memory_refs
    assert [step["agent"] for step in last.history] == ["A", "B", "C", "D", "D"]
    assert last.open_decisions == []
    assert last.history[-1]["decision"] == "full"
    assert last.token_count == client.tokens(prompt) <= last.max_tokens == 2500


def test_fidelity_tells_what_a_chain_kept(chain):
    client, (root, *_, last) = chain
    fidelity = client.fidelity(root.task)
    assert fidelity.task == root.task
    assert fidelity.intent_and_constraints == 1.0
    assert 0 <= fidelity.score <= 1
    assert [(hop.hop, hop.from_agent, hop.to_agent) for hop in fidelity.hops] == [
        (1, "A", "B"),
        (2, "B", "C"),
        (3, "C", "D"),
        (4, "D", "E"),
    ]
    assert fidelity.hops[0].score is None and fidelity.hops[0].changes == []
    assert all(hop.root_intent_and_constraints == 1.0 for hop in fidelity.hops[1:])
    assert ("constraint", "added", "python_version") in {
        (change.kind, change.fate, change.key) for change in fidelity.hops[2].changes
    }


def test_a_task_lists_its_handoffs(chain):
    client, made = chain
    task = client.task(made[0].task)
    assert (task.id, task.intent) == (made[0].task, INTENT)
    assert [hop.envelope for hop in task.hops] == [handoff.id for handoff in made]
    assert [hop.parent for hop in task.hops] == [None, *(handoff.id for handoff in made[:-1])]
    assert [hop.token_count for hop in task.hops] == [handoff.token_count for handoff in made]
    (entry,) = client.tasks()
    assert (entry.id, entry.envelopes, entry.created_at) == (task.id, 4, made[0].created_at)
    assert entry.intent == INTENT and entry.summary == client.envelope(made[-1].id).summary


def test_tasks_are_read_page_by_page(spine):
    ids = [spine.agent_handoff("b", "go").task for _ in range(5)]
    assert [entry.id for entry in spine.tasks(page_size=2)] == ids[::-1]


def test_a_task_that_is_not_there_is_not_found(spine):
    for call in (spine.task, spine.fidelity, lambda id: spine.blame(id, "intent")):
        with pytest.raises(NotFound) as caught:
            call("no/such task")
        assert caught.value.code == "task_not_found"


def test_a_task_may_have_any_name(spine):
    handoff = spine.agent_handoff("b", "go", task="payments/7 ü?")
    assert spine.task("payments/7 ü?").hops[0].envelope == handoff.id


def test_diff_says_what_became_of_things(spine):
    one = spine.agent_handoff("b", "go", constraints={"max_retries": 3, "language": "python"}, intent="x", from_="a")
    other = spine.agent_handoff(
        "c",
        "go on",
        parent=one.id,
        from_="b",
        constraints={"max_retries": 1, "new": True},
        waive=[{"key": "language", "reason": "why not"}],
    )
    for difference in (spine.diff(one, other), spine.diff(one.id, other.id)):
        assert (difference.from_id, difference.to_id, difference.score) == (one.id, other.id, 0.6666)
        assert (difference.kept, difference.total) == (2, 3), "what is waived is not kept"
        fates = {change.key: change for change in difference.changes}
        assert {key: change.fate for key, change in fates.items()} == {
            "max_retries": "narrowed",
            "new": "added",
            "language": "waived",
        }
        assert (fates["max_retries"].before, fates["max_retries"].after) == (3, 1)
        assert (fates["language"].reason, fates["language"].by) == ("why not", "b")


def test_blame_finds_where_something_came_in_and_went(spine):
    one = spine.agent_handoff("b", "go", constraints={"language": "python"}, from_="a", task="t")
    two = spine.agent_handoff("c", "go", parent=one, constraints={"late": 1}, from_="b")
    three = spine.agent_handoff("d", "go", parent=two, waive=[{"key": "language", "reason": "r"}], from_="c")
    lost = spine.blame("t", "language")
    assert (lost.verdict, lost.introduced.envelope, lost.lost.envelope) == ("waived", one.id, three.id)
    assert (lost.fate, lost.reason, lost.by) == ("waived", "r", "c")
    late = spine.blame("t", "late")
    assert (late.verdict, late.introduced.envelope, late.lost) == ("still there", two.id, None)
    never = spine.blame("t", "nothing")
    assert (never.verdict, never.introduced, never.lost) == ("never there", None, None)


# --- Digests -------------------------------------------------------------------------------------


def test_a_chain_is_verified_to_its_root(chain):
    client, made = chain
    result = client.verify(made[-1])
    assert result and result.ok
    assert (result.id, result.verdict, result.checked, result.first_bad) == (made[-1].id, "intact", 4, None)
    assert all(handoff.verify() for handoff in made)
    assert [handoff.raw["lineage"]["parent_digest"] for handoff in made[1:]] == [one.digest for one in made[:-1]]


def test_a_changed_envelope_does_not_verify(spine):
    handoff = unwrap(spine.agent_handoff("b", "go", constraints={"max_retries": 3}))
    for change in (
        lambda raw: raw["constraints"].update(max_retries=4),
        lambda raw: raw["task"].update(summary="stop"),
        lambda raw: raw.pop("waived"),
        lambda raw: raw.update(more=None),
    ):
        raw = copy.deepcopy(handoff.raw)
        change(raw)
        forged = pickle.loads(pickle.dumps(handoff))
        forged.raw.clear()
        forged.raw.update(raw)
        assert not forged.verify()


def test_an_envelope_that_is_read_again_tells_what_became_of_its_memories(spine):
    one, two = spine.store("one"), spine.store("two")
    handoff = spine.agent_handoff("b", f"see {one.id} and {two.id}")
    spine.update(one.id, content="one, really")
    by = spine.store("three", supersedes=two.id)
    again = spine.envelope(handoff.id)
    assert [(news.id, news.event, news.version, news.by) for news in again.since] == [
        (one.id, "updated", 2, None),
        (two.id, "superseded", None, by.id),
    ]
    assert handoff.since == [] and again == handoff
    assert again.refs[0].text == "one"
    assert again.verify()


def test_what_was_left_out_is_fetched_with_a_receipt(connect, server, space):
    spine = connect(server.url, space=space, agent="coder")
    long = spine.store("word " * 3000)
    handoff = spine.agent_handoff("coder", f"see {long.id} and ms-9", constraints={"max_tokens": 500})
    assert [entry.id for entry in handoff.trimmed] == [long.id]
    result = spine.resolve(handoff)
    assert [memory.content for memory in result.memories] == [long.content]
    assert [entry.id for entry in result.missing] == ["ms-9"]
    assert spine.resolve(handoff.id, [long.id]).memories == result.memories
    receipts = spine.receipts(handoff)
    assert {(receipt.id, receipt.agent) for receipt in receipts} == {(long.id, "coder")}
    with pytest.raises(ValidationError):
        spine.resolve(handoff, ["ms-77"])


BLADES = "what makes turbine blades corrode"


def blades(spine):
    """Three that have to do with it, one of them of another task, and one that has not."""
    spine.store("turbine blades corrode in salted air", task="wind")
    spine.store("lunch is at noon", task="food")
    spine.store("turbine blades corrode when nobody paints them", task="paint")
    spine.store("turbine blades corrode, and cost a fortune")


@pytest.mark.parametrize(
    "scope, found", [(None, {"ms-1", "ms-4"}), ("task", {"ms-1", "ms-4"}), ("space", {"ms-1", "ms-3", "ms-4"})]
)
def test_scope_says_whose_memories_come_along(spine, scope, found):
    blades(spine)
    handoff = spine.agent_handoff("b", BLADES, task="wind", scope=scope)
    assert set(handoff.memory_refs) == found
    assert all(0 < ref.relevance <= 1 and ref.why == "relevant" for ref in handoff.refs)
    assert spine.considered(handoff).scope == (scope or "task")


def test_a_scope_that_does_not_exist_is_an_error(spine):
    with pytest.raises(ValidationError) as caught:
        spine.agent_handoff("b", "go", scope="world")
    assert caught.value.field == "scope"


def test_considered_says_what_an_envelope_was_chosen_from(spine):
    blades(spine)
    handoff = spine.agent_handoff("b", BLADES, task="wind", include_recent=1)
    told = spine.considered(handoff)
    assert told == spine.considered(handoff.id)
    assert (told.envelope, told.recorded, told.include_recent, told.scope) == (handoff.id, True, 1, "task")
    assert 0 < told.floor < 1
    first, *others = told.memories
    assert first.is_carried and (first.id, first.fate, first.reason) == (handoff.memory_refs[0], "full", None)
    assert first.tokens == handoff.refs[0].tokens and first.relevance == handoff.refs[0].relevance
    assert [(one.fate, one.reason, one.is_carried) for one in others] == [("passed_over", "not_asked_for", False)]
    assert others[0].text.startswith("turbine blades corrode")
    with pytest.raises(NotFound):
        spine.considered("env-99")


def test_a_dry_run_says_what_it_would_be_chosen_from(spine):
    blades(spine)
    dry = spine.agent_handoff("b", BLADES, task="wind", dry_run=True)
    told = spine.considered(spine.agent_handoff("b", BLADES, task="wind"))
    assert dry.considered.memories == told.memories and dry.considered.floor == told.floor
    assert dry.considered.envelope is None


def test_worth_and_why_something_was_trimmed_are_told(spine):
    for place in ("roof", "yard", "hall"):
        spine.store(f"turbine blades corrode on the {place} " + "and so on " * 200)
    small = spine.agent_handoff("b", BLADES, constraints={"max_tokens": 800})
    large = spine.agent_handoff("b", BLADES, constraints={"max_tokens": 8000})
    assert 0 < small.worth < large.worth
    assert small.trimmed and all(one.why == "relevant" and 0 < one.relevance <= 1 for one in small.trimmed)
    assert {one.reason for one in small.trimmed} <= {"budget", "room", "repetition"}
    old = copy.deepcopy(small.raw)
    del old["budget"]["worth"]
    for trim in old["budget"]["trimmed"]:
        del trim["why"], trim["relevance"]
    again = Envelope.from_wire(old)
    assert again.worth is None and again.trimmed[0].why is None and again.trimmed[0].relevance is None


@pytest.mark.parametrize("beside", [{"warnings": [{"code": "unknown_field"}]}, {"since": []}])
def test_what_stands_beside_an_envelope_is_not_digested(spine, beside):
    handoff = spine.agent_handoff("b", "go")
    assert Envelope.from_wire({**handoff.raw, **beside}).verify()
    assert not Envelope.from_wire({**handoff.raw, "more": []}).verify()


def test_a_forgotten_text_is_told_apart_by_the_server(spine):
    memory = spine.store("a secret")
    handoff = spine.agent_handoff("b", f"see {memory.id}")
    spine.forget(memory.id)
    again = spine.envelope(handoff.id)
    assert again.refs[0].text is None
    assert "a secret" not in again.prompt()
    assert not again.verify()
    result = spine.verify(again)
    assert result and result.verdict == "forgotten"


# --- Wrong arguments -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["execution_history", "waive", "resolved_decisions"])
@pytest.mark.parametrize("wrong", ["did it", ["a", "b"], 7, None])
def test_an_entry_that_is_no_mapping_is_named(spine, name, wrong):
    with pytest.raises(TypeError) as caught:
        spine.agent_handoff("coder", "go", **{name: [{"action": "x"}, wrong]})
    assert str(caught.value).startswith(f"{name}[1] must be a mapping such as {{") and repr(wrong) in str(caught.value)
    with pytest.raises(TypeError, match=f"{name} must be a list of mappings such as "):
        spine.agent_handoff("coder", "go", **{name: {"action": "x"}})


def test_a_memory_that_is_neither_text_nor_mapping_is_named(spine):
    with pytest.raises(TypeError, match=r"memories\[1\] must be a text, or a mapping such as .*, not \['x'\]"):
        spine.store_many(["fine", ["x"]])
