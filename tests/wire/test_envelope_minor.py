"""Envelopes of minor 0, which an older server has stored: they stay as they are, and what is packed from them is new."""

import hashlib
import json

import pytest
from database import connect as open_database
from database import unprotected
from envelopes import Api, canonical, digest_of


def as_minor_0(envelope):
    old = {key: value for key, value in envelope.items() if key not in ("fetch_hint", "trust")}
    old["envelope_minor"] = 0
    without = lambda items, *names: [{k: v for k, v in item.items() if k not in names} for item in items]
    old["memory"] = {**old["memory"], "refs": without(old["memory"]["refs"], "relevance")}
    old["budget"] = {k: v for k, v in old["budget"].items() if k != "worth"}
    old["budget"]["trimmed"] = without(old["budget"]["trimmed"], "why", "relevance")
    old["digest"] = digest_of(old)
    return old


def skeleton_of(envelope):
    refs = [{key: value for key, value in ref.items() if key != "text"} for ref in envelope["memory"]["refs"]]
    return canonical({**envelope, "memory": {**envelope["memory"], "refs": refs}})


@pytest.fixture
def stored(start):
    """An envelope that is stored as an older server would have: the file is changed while no server runs."""
    server = start().wait_until_ready()
    api = Api(server, "default")
    api.store("The gateway answers 429.", kind="fact", agent="researcher")
    old = as_minor_0(api.handoff(summary="Use ms-1.", constraints={"max_tokens": 2000}))
    assert server.terminate() == 0
    digest, body = bytes.fromhex(old["digest"][7:]), skeleton_of(old)
    with open_database(server.data / "spine.db") as db:
        with unprotected(db, "envelope"):
            changed = db.execute("UPDATE envelope SET digest = ?, body = ?, body_digest = ? WHERE id & 1099511627775 = ?",
                                 (digest, body, hashlib.sha256(body.encode()).digest(), int(old["id"][4:]))).rowcount
    assert changed == 1
    return Api(start(data=server.data).wait_until_ready(), "default"), old


def test_a_stored_envelope_of_minor_0_stays_what_it_was(stored):
    api, old = stored
    path = f"/v1/envelopes/{old['id']}"
    assert api.text("GET", path)[2].strip() == canonical(old)
    assert api.ok("GET", f"{path}/verify")["verdict"] == "intact"
    prompt = api.prompt(old)
    assert "\n### ms-1 (fact by researcher, trust: agent, importance: medium, just now, cited)\n\n```text\nThe gateway answers 429.\n```\n" in prompt
    assert "- max_tokens: 2000 (the most this text may take, not your answer)\n" in prompt


def test_what_is_packed_from_an_envelope_of_minor_0_is_of_the_newest_minor(stored):
    api, old = stored
    path = f"/v1/envelopes/{old['id']}"
    again = api.ok("POST", "/v1/envelopes", api.ok("GET", path))
    child = api.handoff("c", "go on", parent=old["id"], state="half way")
    api.ok("PUT", "/v1/agents/b", {"fetch_hint": "mcp"})
    parked = api.ok("POST", f"{path}/park", {"reason": "too large"})
    shrunk = api.ok("POST", f"/v1/parked/{parked['id']}/shrink", {"max_tokens": 1000})
    smaller = api.ok("GET", f"/v1/envelopes/{shrunk['envelope_id']}")
    for envelope in (again, child, smaller):
        assert envelope["envelope_minor"] == 2 and "fetch_hint" in envelope and envelope["trust"] == "agent"
        assert envelope["budget"]["token_count"] == api.count(api.prompt(envelope))
        assert all("relevance" in ref for ref in envelope["memory"]["refs"]) and "### " not in api.prompt(envelope)
        assert api.ok("GET", f"/v1/envelopes/{envelope['id']}/verify")["verdict"] == "intact"
    assert child["lineage"]["parent_digest"] == old["digest"] and smaller["fetch_hint"] == "mcp"
