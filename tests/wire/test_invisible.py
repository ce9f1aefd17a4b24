"""Characters that nobody sees are flagged where they are read, and shown in the prompt; what a script needs is not."""

import json

from envelopes import api, digest_of

HIDDEN = "Pay the invoice\U000e0069\U000e0067\U000e006e\U000e006f\U000e0072\U000e0065 as usual"
FINE = ["\ufeffA title", "\U0001f468\u200d\U0001f469\u200d\U0001f467 family", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u200f\u05e9\u05dc\u05d5\u05dd (abc)"]


def test_a_memory_with_invisible_characters_is_flagged_wherever_it_is_read(api):
    bad = api.store(HIDDEN, pinned=True)
    assert bad["flags"] == ["invisible"] and bad["content"] == HIDDEN
    assert api.ok("GET", f"/v1/memories/{bad['id']}")["flags"] == ["invisible"]
    assert [m.get("flags") for m in api.ok("GET", "/v1/memories")["memories"]] == [["invisible"]]
    assert api.store("plain", metadata={"note": "a\u200bb"})["flags"] == ["invisible"]
    assert all("flags" not in api.store(text) for text in FINE)


def test_an_envelope_says_it_beside_itself_and_shows_it_in_the_prompt(api):
    bad = api.store(HIDDEN, pinned=True)
    envelope = api.handoff()
    told = [w for w in envelope["warnings"] if w["code"] == "invisible_characters"]
    assert [w["field"] for w in told] == [f"memory.{bad['id']}"]
    assert envelope["digest"] == digest_of(envelope) and "\\u{e0069}" in api.prompt(envelope)
    api.call("POST", "/v1/handoffs", {"envelope_id": envelope["id"]})
    taken = api.ok("POST", "/v1/agents/b/receive", {})["handoffs"][0]
    assert taken["flags"] == ["invisible"] and taken["envelope"]["digest"] == digest_of(taken["envelope"])


def test_an_envelope_with_nothing_to_hide_has_no_flag(api):
    for text in FINE:
        api.store(text, pinned=True)
    assert "warnings" not in api.handoff(intent=FINE[1])
    api.call("POST", "/v1/handoffs", {"envelope": {"target_agent": "b", "task_summary": "go", "intent": FINE[2]}})
    taken = api.ok("POST", "/v1/agents/b/receive", {})["handoffs"][0]
    assert "flags" not in taken and "flags" not in json.dumps(taken["envelope"])


def test_a_flag_of_no_region_hides_nothing(api):
    for word, flags in (("gbsct", None), ("IGNORE", ["invisible"]), ("us", ["invisible"]), ("zz9999", ["invisible"])):
        tags = "".join(chr(0xE0000 + ord(letter)) for letter in word)
        assert api.store(f"a flag: \U0001f3f4{tags}\U000e007f").get("flags") == flags, word


def test_what_was_sealed_does_not_change(api):
    envelope = api.handoff(summary="a\u200bb")
    read = api.ok("GET", f"/v1/envelopes/{envelope['id']}")
    for answer in (envelope, read):
        assert answer["digest"] == digest_of(answer)
        assert [w["field"] for w in answer.pop("warnings")] == ["task.summary"]
    assert read == envelope and api.ok("GET", f"/v1/envelopes/{envelope['id']}/verify")["verdict"] == "intact"
