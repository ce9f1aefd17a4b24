"""What becomes of an envelope: its digest, and what happens to the memories that it names."""

import json
import subprocess
from datetime import datetime, timedelta, timezone

from api import wait_until
from database import connect as open_database
from database import unprotected
from envelopes import Api, api, canonical, digest_of
from server import Server, binary
import stores


def test_missing_says_why(api):
    gone = api.store("secret plan", id="ms-1")
    api.store("old", id="ms-2", expires_at="2020-01-01T00:00:00Z")
    api.ok("DELETE", f"/v1/memories/{gone['id']}")
    envelope = api.handoff(summary="see ms-1, ms-2 and ms-3")
    assert envelope["memory"]["missing"] == [
        {"id": "ms-1", "reason": "forgotten"},
        {"id": "ms-2", "reason": "expired"},
        {"id": "ms-3", "reason": "unknown"},
    ]


def test_it_is_canonical_and_its_digest_can_be_checked(api):
    api.store("Ünïcode 设计 🚀 \"quoted\" \\ and\ttabs\n", tags=["x"], pinned=True)
    envelope = api.handoff(constraints={"z": 1, "a": [True, None, {"k": "v"}]}, intent="wörtlich\nzwei Zeilen")
    assert envelope["digest"] == digest_of(envelope)
    again = api.ok("GET", f"/v1/envelopes/{envelope['id']}")
    assert again == envelope
    api.connection.request("GET", f"/v1/envelopes/{envelope['id']}", headers={"Spine-Space": api.space})
    text = api.connection.getresponse().read().decode()
    assert text == canonical(envelope)


def test_a_forgotten_memory_is_gone_from_its_envelopes(api):
    memory = api.store("the secret ingredient", pinned=True)
    envelope = api.handoff()
    api.ok("DELETE", f"/v1/memories/{memory['id']}")
    again = api.ok("GET", f"/v1/envelopes/{envelope['id']}")
    assert "secret ingredient" not in json.dumps(again) and "secret ingredient" not in api.prompt(envelope)
    assert again["memory"]["refs"][0]["id"] == memory["id"]
    assert api.ok("GET", f"/v1/envelopes/{envelope['id']}/verify")["verdict"] == "forgotten"


def test_a_memory_that_has_expired_since_is_told(api):
    soon = datetime.now(timezone.utc) + timedelta(seconds=0.3)
    memory = api.store("holds for a moment", expires_at=soon.isoformat(), pinned=True)
    envelope = api.handoff()
    assert [ref["id"] for ref in envelope["memory"]["refs"]] == [memory["id"]]
    wait_until(lambda: api.ok("GET", f"/v1/memories/{memory['id']}")["state"] == "expired", "it has expired")
    again = api.ok("GET", f"/v1/envelopes/{envelope['id']}")
    assert again.pop("since") == [{"id": memory["id"], "event": "expired"}] and again == envelope


def test_an_updated_memory_does_not_change_what_was_handed_over(api):
    memory = api.store("first words", pinned=True)
    envelope = api.handoff()
    api.ok("PATCH", f"/v1/memories/{memory['id']}", {"content": "other words"})
    again = api.ok("GET", f"/v1/envelopes/{envelope['id']}")
    assert again.pop("since") == [{"id": memory["id"], "event": "updated", "version": 2}]
    assert again == envelope
    assert api.ok("GET", f"/v1/envelopes/{envelope['id']}/verify")["verdict"] == "intact"
    newer = api.store("replacement", supersedes=memory["id"])
    again = api.ok("GET", f"/v1/envelopes/{envelope['id']}")
    assert again["since"] == [{"id": memory["id"], "event": "superseded", "by": newer["id"]}]


def test_what_was_missing_is_resolved_later_with_a_receipt(api):
    trimmed = api.store("long " * 500, pinned=True)
    envelope = api.handoff(summary="see ms-77", constraints={"max_tokens": 400}, include_recent=0)
    assert [trim["id"] for trim in envelope["budget"]["trimmed"]] == [trimmed["id"]]
    path = f"/v1/envelopes/{envelope['id']}"
    answer = api.ok("POST", path + "/resolve", **{"Spine-Agent": "reader"})
    assert [m["id"] for m in answer["memories"]] == [trimmed["id"]]
    assert answer["missing"] == [{"id": "ms-77", "reason": "unknown"}]
    api.store("now it is there", id="ms-77")
    answer = api.ok("POST", path + "/resolve", {"ids": ["ms-77", "ms-77"]}, **{"Spine-Agent": "reader"})
    assert [m["content"] for m in answer["memories"]] == ["now it is there"]
    receipts = api.ok("GET", path + "/receipts")["receipts"]
    assert {(r["id"], r["agent"]) for r in receipts} == {(trimmed["id"], "reader"), ("ms-77", "reader")}
    assert api.refused("invalid_field", "POST", path + "/resolve", {"ids": ["ms-5"]})["field"] == "ids[0]"
    assert api.ok("GET", path) == envelope


def test_verify_names_the_first_envelope_that_does_not_match(tmp_path):
    server = Server(tmp_path / "data").wait_until_ready()
    api = Api(server, "default")
    root = api.handoff(constraints={"k": "original"})
    middle = api.handoff(parent=root["id"], state="middle")
    last = api.handoff(parent=middle["id"], state="last")
    assert api.ok("GET", f"/v1/envelopes/{last['id']}/verify") == {
        "id": last["id"], "ok": True, "verdict": "intact", "checked": 3, "first_bad": None}
    with open_database(server.data / "spine.db") as db:
        with unprotected(db, "envelope"):
            db.execute("UPDATE envelope SET body = replace(body, 'original', 'tampered') WHERE body LIKE ? AND parent = 0",
                       (f'%"id":"{root["id"]}"%"space":"{api.space}"%',))
    verdict = api.ok("GET", f"/v1/envelopes/{last['id']}/verify")
    assert verdict["ok"] is False and verdict["first_bad"] == root["id"] and verdict["verdict"] == "damaged"
    assert api.ok("GET", f"/v1/envelopes/{root['id']}/verify")["ok"] is False
    assert server.terminate() == 0


def test_what_is_left_of_an_envelope_is_verified_when_a_text_is_forgotten(tmp_path):
    server = Server(tmp_path / "data").wait_until_ready()
    api = Api(server, "default")
    memory = api.store("the secret ingredient", pinned=True)
    root = api.handoff(constraints={"k": "original"})
    last = api.handoff(parent=root["id"], state="last", include_recent=0)
    api.ok("DELETE", f"/v1/memories/{memory['id']}")

    def verdict(envelope):
        answer = api.ok("GET", f"/v1/envelopes/{envelope['id']}/verify")
        return answer["verdict"], answer["ok"], answer["first_bad"]

    def check_finds(*ids):
        if stores.SERVER:
            return True
        done = subprocess.run([str(binary()), "check", "--data", str(server.data), "--json"], capture_output=True, text=True)
        return [problem.split()[0] for problem in json.loads(done.stdout)["problems"]] == [*ids]

    assert verdict(root) == ("forgotten", True, None) and check_finds()
    with open_database(server.data / "spine.db") as db:
        with unprotected(db, "envelope"):
            db.execute("UPDATE envelope SET body = replace(body, 'original', 'tampered') WHERE parent = 0")
    assert verdict(root) == verdict(last) == ("damaged", False, root["id"]) and check_finds(root["id"])
    # An envelope that was packed before there was a digest of its body cannot be told from a whole one.
    with open_database(server.data / "spine.db") as db:
        with unprotected(db, "envelope"):
            db.execute("UPDATE envelope SET body_digest = NULL")
    assert verdict(root) == ("forgotten", True, None) and check_finds()
    assert server.terminate() == 0
