"""A space is moved: spine export --whole on one server, spine import on another, and it is the same space."""

import json
import re
import subprocess

import pytest
from api import wait_until
from delivery import Desk
from server import binary
import stores

ROWS = ("memory", "envelope", "handoff")
STATES = {"queued", "delayed", "leased", "working", "acked", "completed", "parked", "expired", "discarded"}
SHOWN = {
    "space": ("guard", "locked", "trust_floor", "keep_handoffs_s", "keep_events_s", "memories", "handoffs_pruned"),
    "agent": ("name", "max_attempts", "max_tokens", "description", "fallbacks", "ack_timeout_s"),
    "channel": ("name", "description", "subscribers"),
    "route": ("name", "from", "to", "when", "order", "description"),
}


def cli(server, space, *args, **options):
    return subprocess.run([str(binary()), *args, "--url", server.url, "--space", space], capture_output=True, text=True, timeout=120, **options)


def export(server, space):
    done = cli(server, space, "export", "--whole")
    assert done.returncode == 0, done.stderr
    return done.stdout


def lines_of(text):
    """The rows as they are, and of the rest what can be set."""
    lines = [json.loads(line) for line in text.splitlines()]
    assert lines[0] == {"spine_export": 1}
    for line in lines:
        # Where it came from is the other server's word: it is kept as a claim.
        if line.get("memory", {}).get("origin"):
            told = json.loads(line["memory"]["origin"])
            line["memory"]["origin"] = told.get("claimed", told)
    [kinds, values] = zip(*(next(iter(line.items())) for line in lines[1:]))
    return [(kind, value if kind in ROWS else {name: value[name] for name in SHOWN[kind]}) for kind, value in zip(kinds, values)]


def rows_of(text, kind):
    return [value for other, value in lines_of(text) if other == kind]


def fill(desk):
    """Something of everything."""
    desk.ok("PUT", "/v1/space", {"guard": "redact", "locked": ["region"], "trust_floor": "agent"})
    desk.ok("PUT", "/v1/agents/worker", {"max_attempts": 2, "description": "works", "fallbacks": ["deputy"]})
    desk.ok("PUT", "/v1/channels/news", {"description": "what is new"})
    desk.ok("PUT", "/v1/channels/news/subscribers/reader")
    desk.ok("PUT", "/v1/routes/next", {"from": "sender", "to": "worker", "order": 7})
    first = desk.store("the first", tags=["a", "b"], metadata={"n": 1.5})["id"]
    desk.patch(first, content="the first, changed")
    desk.patch(first, content="and again: naïve ☃")
    desk.store("the second", supersedes=first)
    desk.ok("POST", f"/v1/memories/{desk.store('pinned')['id']}/pin")
    gone = desk.store("a secret that is forgotten")["id"]
    desk.patch(gone, content="a secret in its second version")
    desk.ok("DELETE", f"/v1/memories/{gone}")
    root = desk.pack("worker", "begin", refs=[f"{first}@2"], constraints={"style": "plain"}, intent="the whole")
    desk.deliver(root, 202)
    taken = desk.take("worker")
    desk.settle("complete", taken, result={"found": ["it"]}, gaps=["none"])
    child = desk.pack("worker", "go on", parent=root)
    desk.deliver(child, 202)                                    # stays queued
    desk.pack("worker", "never sent")
    desk.send("refuser")
    desk.settle("reject", desk.take("refuser"), reason="no")    # parked
    desk.send("holder")
    held = desk.take("holder", lease_s=600)                     # leased
    desk.send("at-work")
    desk.settle("ack", desk.take("at-work"), work_lease_s=600)
    desk.ok("POST", "/v1/channels/news/publish", {"envelope_id": desk.pack("reader")})
    desk.settle("ack", desk.take("reader"))
    desk.send("later")
    desk.settle("nack", desk.take("later"), reason="not now", delay_s=3600)     # delayed
    assert desk.deliver(desk.pack("nobody"), wait_s=0.05).status == 504         # expired
    desk.send("refuser")
    desk.settle("reject", desk.take("refuser"), reason="over")
    last = desk.ok("GET", "/v1/parked?agent=refuser")["parked"][0]["id"]
    desk.ok("POST", "/v1/parked/discard", {"ids": [last], "why": "over"})       # discarded
    return root, child, held


@pytest.fixture
def two(start, request):
    embedded = getattr(request, "param", None)
    servers = [start(is_embedded=embedded == way).wait_until_ready() for way in ("from", "to")]
    return [(server, Desk(server.address, "moved")) for server in servers]


# On PostgreSQL a space is moved between the two kinds of store as well, both ways.
each_way = pytest.mark.parametrize("two", [None, *(["from", "to"] if stores.SERVER else [])], indirect=True,
                                   ids=lambda way: f"{way} the embedded store" if way else "same kind")


@each_way
def test_a_space_that_is_moved_is_the_same_space(two):
    (old, there), (new, here) = two
    root, child, held = fill(there)
    whole = export(old, "moved")
    done = cli(new, "moved", "import", input=whole)
    assert done.returncode == 0, done.stderr
    again = export(new, "moved")
    assert lines_of(again) == lines_of(whole)
    assert {row["state"] for row in rows_of(whole, "handoff")} == STATES
    # Digests are of what was moved.
    for envelope in rows_of(whole, "envelope"):
        assert here.ok("GET", f"/v1/envelopes/{envelope['id']}/verify")["verdict"] == "intact"
        assert here.ok("GET", f"/v1/envelopes/{envelope['id']}") == there.ok("GET", f"/v1/envelopes/{envelope['id']}")
    for handoff in rows_of(whole, "handoff"):
        one, other = (desk.ok("GET", f"/v1/handoffs/{handoff['id']}") for desk in (here, there))
        history = {"events": 0, "attempts": 0, "event_count": 0}   # which stays behind
        assert {**one, **history} == {**other, **history}
    assert here.get("ms-1@2")["content"] == "the first, changed" and here.get("ms-4")["state"] == "forgotten"
    assert {task["id"] for task in here.ok("GET", "/v1/tasks")["tasks"]} == {task["id"] for task in there.ok("GET", "/v1/tasks")["tasks"]}
    # The same import again, and one that was broken off in the middle, change nothing.
    done = cli(new, "moved", "import", "--json", input=whole)
    assert json.loads(done.stdout)["imported"] == 0 and lines_of(export(new, "moved")) == lines_of(whole)
    assert "rows were imported" in json.dumps(here.ok("GET", "/v1/audit?action=space.")["entries"])
    # It goes on there: the lease is good, what is queued is taken, numbers go on, search finds.
    here.settle("complete", held, result="done elsewhere")
    assert here.take("worker")["envelope_id"] == child
    assert here.ids("query=pinned") == there.ids("query=pinned")
    assert int(here.store("one more")["id"][3:]) > max(int(row["id"][3:]) for row in rows_of(whole, "memory"))
    assert int(here.pack("worker", "more")[4:]) > max(int(row["id"][4:]) for row in rows_of(whole, "envelope"))


@each_way
def test_a_space_is_moved_back(two):
    (old, there), (new, here) = two
    fill(there)
    assert cli(new, "moved", "import", input=export(old, "moved")).returncode == 0
    there.ok("DELETE", "/v1/spaces/moved?confirm=moved")
    assert cli(old, "moved", "import", input=export(new, "moved")).returncode == 0
    assert lines_of(export(old, "moved")) == lines_of(export(new, "moved"))


@each_way
def test_a_space_is_moved_to_another_kind_of_store_and_back(two, start):
    """The other one is the store in memory."""
    (old, there), (new, here) = two
    fill(there)
    other = start("--data", "ram:moved", is_embedded=True)    # it has no directory to say in where it serves
    wait_until(lambda: '"url":"' in other.log.read_text(), "it serves")
    other.url = re.search(r'"url":"([^"]+)"', other.log.read_text()).group(1)
    assert cli(other, "moved", "import", input=export(old, "moved")).returncode == 0
    assert cli(new, "moved", "import", input=export(other, "moved")).returncode == 0
    assert lines_of(export(other, "moved")) == lines_of(export(old, "moved")) == lines_of(export(new, "moved"))


@each_way
def test_an_import_that_was_broken_off_goes_on(two):
    (old, there), (new, here) = two
    fill(there)
    whole = export(old, "moved")
    lines = whole.splitlines(keepends=True)
    for end in range(2, len(lines), 5):
        assert cli(new, "moved", "import", input="".join(lines[:end])).returncode == 0
    assert cli(new, "moved", "import", input=whole).returncode == 0
    assert lines_of(export(new, "moved")) == lines_of(whole)


@each_way
def test_what_was_pruned_is_moved_as_what_is_left_of_it(two):
    (old, there), (new, here) = two
    root, child, _ = fill(there)
    there.ok("PUT", "/v1/space", {"keep_handoffs_s": 1})
    wait_until(lambda: there.call("GET", f"/v1/envelopes/{root}").status == 410, "the first is pruned")
    there.ok("PUT", "/v1/space", {"keep_handoffs_s": 0})
    whole = export(old, "moved")
    assert any(row["pruned"] for row in rows_of(whole, "envelope")) and any(row["pruned"] for row in rows_of(whole, "handoff"))
    assert cli(new, "moved", "import", input=whole).returncode == 0
    assert lines_of(export(new, "moved")) == lines_of(whole)
    assert here.ok("GET", f"/v1/envelopes/{child}/verify")["verdict"] == "pruned"
    here.refused(410, "envelope_pruned", "GET", f"/v1/envelopes/{root}")
    here.refused(410, "handoff_pruned", "GET", "/v1/handoffs/ho-1")


def test_nothing_is_written_over_and_a_call_is_done_whole_or_not_at_all(two):
    (old, there), (new, here) = two
    fill(there)
    here.store("mine")
    before = export(new, "moved")
    done = cli(new, "moved", "import", input=export(old, "moved"))
    assert done.returncode != 0 and "taken" in done.stderr
    assert rows_of(export(new, "moved"), "memory") == rows_of(before, "memory")


@pytest.mark.parametrize("kind, change", [
    ("envelope", {"digest": "0" * 64}),
    ("envelope", {"body": "{}"}),
    ("envelope", {"parent": 77}),
    ("envelope", {"digest": "not hexadecimal"}),
    ("handoff", {"id": "ho-99"}),
    ("handoff", {"envelope_id": "env-99"}),
    ("handoff", {"channel": "nowhere"}),
    ("handoff", {"state": "asleep"}),
    ("memory", {"version": 9, "current_version": 9}),
    ("memory", {"id": "env-1"}),
    # What no server writes, and what would be believed when it is read.
    ("memory", {"metadata": ""}), ("memory", {"metadata": "[]"}), ("memory", {"metadata": None}),
    ("memory", {"tags": "x"}), ("memory", {"tags": "[1]"}), ("memory", {"content": None}), ("memory", {"kind": None}),
    ("memory", {"content": "x" * 300_000}), ("memory", {"agent": "a\nb"}), ("memory", {"created_at": -5}),
    ("memory", {"updated_at": 2**52}), ("memory", {"supersedes": -1}),
    ("memory", {"forgotten_at": 1, "version": 2**31, "current_version": 2**31}),
    ("envelope", {"considered": "["}), ("envelope", {"body": None}),
    ("handoff", {"to": None}), ("handoff", {"agent": ""}), ("handoff", {"fallbacks": "["}), ("handoff", {"fallbacks": "[7]"}),
    ("handoff", {"max_attempts": 0}), ("handoff", {"leases": -1}), ("handoff", {"ack_timeout": 0}),
    ("handoff", {"state": "leased", "leases": 0}), ("handoff", {"state": "delayed", "due": 0}),
    ("handoff", {"has_result": True, "gaps": "{}"}), ("handoff", {"has_result": True, "result": "{"}),
])
def test_rows_that_do_not_fit_are_refused_and_change_nothing(two, kind, change):
    (old, there), (new, here) = two
    fill(there)
    lines = export(old, "moved").splitlines()
    at = max(n for n, line in enumerate(lines) if json.loads(line).get(kind, {}).get("id"))
    lines[at] = json.dumps({kind: {**json.loads(lines[at])[kind], **change}})
    done = cli(new, "moved", "import", input="\n".join(lines) + "\n")
    assert done.returncode != 0 and "line " in done.stderr, done
    assert rows_of(export(new, "moved"), kind) == []


def test_a_webhook_is_to_be_registered_again_and_it_is_said_whose(two):
    (old, there), (new, here) = two
    there.ok("PUT", "/v1/agents/hooked", {"webhook": "http://127.0.0.1:9/hook"})
    done = cli(new, "moved", "import", input=export(old, "moved"))
    assert done.returncode == 0 and "hooked" in done.stderr and "http://127.0.0.1:9/hook" in done.stderr
    assert here.agent("hooked")["webhook"] is None


def test_a_file_of_a_newer_format_is_refused(two):
    done = cli(two[0][0], "moved", "import", input='{"spine_export":2}\n')
    assert done.returncode != 0 and "format 2" in done.stderr
    done = cli(two[0][0], "moved", "import", input='{"spine_export":1}\n{"surprise":{}}\n')
    assert done.returncode != 0 and "line 2" in done.stderr
