"""What the commands about memories do, print and return."""

import re

import pytest

from cli import (  # noqa: F401
    CONFLICT,
    FAILED,
    NOT_FOUND,
    OK,
    USAGE,
    offline,
    read,
    spine,
    stored,
)

# --- Store, get ----------------------------------------------------------------------------------------


def test_store_prints_the_id_alone(spine):
    assert spine.ok("store", "first").out == "ms-1\n"
    assert spine.ok("store", "second").out == "ms-2\n"


def test_store_sends_every_field(spine):
    spine.ok("store", "old")
    memory = spine.ok(
        "store", "text", "--json", "--kind", "fact", "--tag", "a", "-t", "b", "--importance", "high", "--task", "t-1",
        "--pin",
        "--summary", "short", "--trust", "user", "--ttl", "2h", "--supersedes", "ms-1", "--id", "ms-77", "--metadata",
        '{"n":1,"s":"x"}', "--agent", "me",
    ).json
    assert memory["id"] == "ms-77"
    assert memory["content"] == "text"
    assert memory["kind"] == "fact"
    assert memory["tags"] == ["a", "b"]
    assert memory["importance"] == "high"
    assert memory["task"] == "t-1"
    assert memory["pinned"] is True
    assert memory["summary"] == "short"
    assert memory["trust"] == "user"
    assert memory["supersedes"] == "ms-1"
    assert memory["metadata"] == {"n": 1, "s": "x"}
    assert memory["agent"] == "me"
    assert memory["expires_at"] is not None
    assert read(spine, "ms-1")["state"] == "superseded"


@pytest.mark.parametrize("args", [[], ["-"]])
def test_store_reads_standard_input_without_the_last_line_break(spine, args):
    memory_id = stored(spine, *args, stdin="two\nlines\n\n")
    assert read(spine, memory_id)["content"] == "two\nlines\n"


def test_a_text_may_begin_with_a_dash_after_two(spine):
    assert read(spine, stored(spine, "--", "--not-an-option"))["content"] == "--not-an-option"


def test_the_same_key_stores_once(spine):
    first = stored(spine, "once", "--idempotency-key", "k")
    assert stored(spine, "once", "--idempotency-key", "k") == first
    result = spine("store", "other", "--idempotency-key", "k")
    assert result.code == CONFLICT
    assert "Use a new key" in result.err


def test_a_taken_id_is_a_conflict(spine):
    stored(spine, "x", "--id", "ms-5")
    result = spine("store", "y", "--id", "ms-5", "--json")
    assert result.code == CONFLICT
    assert result.json["code"] == "id_taken"
    assert result.err.startswith("spine: ")


def test_a_refusal_is_a_sentence_and_a_problem(spine):
    result = spine("store", "x", "--tag", "")
    assert result.code == FAILED
    assert result.out == ""
    assert "tags" in result.err
    refused = spine("store", "x", "--tag", "", "--json")
    assert refused.code == FAILED
    assert refused.json["status"] == 422
    assert refused.json["field"].startswith("tags")
    assert refused.err == result.err


def test_what_is_superseded_must_exist(spine):
    assert spine("store", "x", "--supersedes", "ms-9").code == NOT_FOUND


def test_get_prints_head_and_content(spine):
    stored(spine, "the content", "--kind", "fact", "--tag", "one", "--tag", "two", "--importance", "critical", "--pin")
    text = spine.ok("get", "ms-1").out
    assert text.startswith("ms-1@1  fact  critical  pinned\n")
    assert "tags one, two\n" in text
    assert text.endswith("\n\nthe content\n")


def test_get_raw_prints_the_content_byte_for_byte(spine):
    content = "a\x1b[31m\tb\r\nc\u202e\n\n"
    memory_id = stored(spine, stdin=content + "\n")
    assert spine.ok("get", "--raw", memory_id).out == content


HIDDEN = "pay\u200bload\u202e\U000e0061 \U0001f468\u200d\U0001f469"
SEEN = "pay\\u200bload\\u202e\\U000e0061 \U0001f468\u200d\U0001f469"


@pytest.mark.parametrize("line", ["list", "search invoice", "get ms-1", "versions ms-1", "quarantine", "quarantine add ms-1 --dry-run"])
@pytest.mark.parametrize("on_terminal", [False, True])
def test_what_nobody_sees_is_shown_and_named(spine, line, on_terminal):
    stored(spine, f"invoice {HIDDEN}", "--agent", "a\u200bb", "--trust", "external")
    if line == "quarantine":
        spine.ok("quarantine", "add", "ms-1")
    if on_terminal:
        code, text = spine.on_terminal(*line.split(), env={"NO_COLOR": "1"}, columns=200)
        assert code == OK
    else:
        text = spine.ok(*line.split()).out
    assert SEEN in text and not set("\u200b\u202e\U000e0061") & set(text), repr(text)
    assert "invisible" in text or "--dry-run" in line
    assert "a\\u200bb" in text and "external" in text or line.startswith("versions")


def test_what_a_pipe_is_promised_is_exact(spine):
    stored(spine, HIDDEN)
    assert spine.ok("get", "--raw", "ms-1").out == HIDDEN
    assert HIDDEN in spine.ok("get", "--json", "ms-1").out and HIDDEN in spine.ok("export").out


def test_an_ordinary_memory_has_no_flags_and_no_trust_in_its_row(spine):
    stored(spine, "\U0001f468\u200d\U0001f469 \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645")
    assert "FLAGS" not in spine.ok("list").out and "TRUST" not in spine.ok("list").out
    assert "flags" not in spine.ok("get", "ms-1").out and "\u200c" in spine.ok("get", "ms-1").out


def test_get_says_how_a_memory_came(spine):
    stored(spine, "the content")
    origin = read(spine, "ms-1")["origin"]
    assert f"\norigin http, {origin['client']}\n" in spine.ok("get", "ms-1").out


def test_get_says_what_the_file_of_a_moved_memory_told(spine, tmp_path):
    stored(spine, "the content")
    client = read(spine, "ms-1")["origin"]["client"]
    file = tmp_path / "space"
    file.write_text(spine.ok("export", "--whole").out)
    spine.ok("import", file, "--space", "shown-elsewhere")
    moved = spine.ok("get", "ms-1", "--space", "shown-elsewhere").out
    assert f"\norigin transfer, {client}; its file says http, {client}\n" in moved


def test_get_reads_several_and_old_versions(spine):
    stored(spine, "one")
    stored(spine, "two")
    spine.ok("update", "ms-1", "one again")
    document = spine.ok("get", "--json", "ms-2", "ms-1@1", "ms-1").json
    assert [(m["id"], m["version"], m["content"]) for m in document["memories"]] == [
        ("ms-2", 1, "two"), ("ms-1", 1, "one"), ("ms-1", 2, "one again"),
    ]
    assert document["missing"] == []


def test_get_prints_what_there_is_and_names_what_is_not(spine):
    stored(spine, "there")
    stored(spine, "gone")
    spine.ok("forget", "--yes", "ms-2")
    result = spine("get", "ms-1", "ms-2", "ms-3")
    assert result.code == NOT_FOUND
    assert "there" in result.out
    assert "ms-2 was forgotten" in result.err
    assert "ms-3 does not exist" in result.err
    assert [m["reason"] for m in spine("get", "--json", "ms-2", "ms-3").json["missing"]] == ["forgotten", "unknown"]


def test_get_says_what_is_in_quarantine(spine):
    stored(spine, "there")
    spine.ok("quarantine", "add", "ms-1", "--why", "odd")
    result = spine("get", "ms-1")
    assert result.code == NOT_FOUND and "ms-1 is in quarantine" in result.err


@pytest.fixture
def large(spine):
    """Ids of memories that one answer has no room for: it has 8 MiB at most."""
    return [stored(spine, stdin=f"{number} " + "a" * 255000) for number in range(34)]


def test_get_gives_also_what_one_answer_has_no_room_for(spine, large):
    result = spine("get", "--json", *large, "ms-999")
    assert result.code == NOT_FOUND and "ms-999 does not exist" in result.err and "not given" not in result.err
    assert [memory["id"] for memory in result.json["memories"]] == large
    assert result.json["missing"] == [{"id": "ms-999", "reason": "unknown"}]
    texts = spine.ok("get", "--raw", *large).out
    assert [int(text) for text in re.findall(r"\d+", texts)] == list(range(34))


def test_need_and_resolve_give_also_what_one_answer_has_no_room_for(spine, large):
    envelope = spine.ok("handoff", "reader", "Read.", *(f"--ref={one}" for one in large), "--max-tokens", "4000",
        "--strategy", "lazy").out.split()[0]
    assert [memory["id"] for memory in spine.ok("resolve", "--json", envelope).json["memories"]] == large
    spine.ok("send", envelope)
    lease = spine.ok("receive", "reader", "--json").json["handoffs"][0]["lease"]
    needed = spine.ok("need", "--json", lease, *large).json
    assert [memory["id"] for memory in needed["memories"]] == large and needed["handoff"]["to"] == "reader"


def test_get_of_what_is_no_id_is_refused(spine):
    for args in (["nonsense"], ["ms-1", "nonsense"]):
        result = spine("get", *args)
        assert result.code == FAILED
        assert result.err.startswith('spine: "nonsense" is not an id of a memory; expected one as in ms-4821')


# --- Search, list ----------------------------------------------------------------------------------------


def test_search_finds_the_best_first(spine):
    stored(spine, "the gateway retries twice")
    stored(spine, "nothing to see", "--task", "another")
    stored(spine, "gateway gateway retry retry policy")
    document = spine.ok("search", "retry", "policy", "--json").json
    assert [m["id"] for m in document["memories"]] == ["ms-3", "ms-1"]
    lines = spine.ok("search", "retry", "policy").out.splitlines()
    assert lines[0].split() == ["ID", "SCORE", "AGE", "KIND", "TEXT"]
    assert [line.split()[0] for line in lines[1:]] == ["ms-3", "ms-1"]
    assert "text" not in document["memories"][0]


def test_search_explains(spine):
    stored(spine, "retry policy")
    assert spine.ok("search", "retry", "--explain", "--json").json["memories"][0]["explain"]["terms"]
    assert re.search(r"\(text [0-9.]+ \+ neighbours [0-9.]+\) × \(1 \+ importance 0\.10",
                     spine.ok("search", "retry", "--explain").out)


def test_a_search_without_results_is_no_failure(spine):
    result = spine.ok("search", "nothing")
    assert (result.out, result.err) == ("", "")


def test_filters_are_sent(spine):
    stored(spine, "word a", *"--tag x --tag y --kind fact --agent ada --task t-1 --importance high".split())
    stored(spine, "word b", "--tag", "x", "--trust", "user", "--pin", "--metadata", '{"k":"v"}')
    stored(spine, "word c", "--supersedes", "ms-1")

    def ids(*filters):
        listed = [m["id"] for m in spine.ok("list", "--order", "oldest", "--json", *filters).json["memories"]]
        found = {m["id"] for m in spine.ok("search", "word", "--json", *filters).json["memories"]}
        assert found == set(listed)
        return listed

    assert ids() == ["ms-2", "ms-3"]
    assert ids("--state", "any") == ["ms-1", "ms-2", "ms-3"]
    assert ids("--state", "superseded") == ["ms-1"]
    assert ids("--tag", "x", "--tag", "y", "--state", "any") == ["ms-1"]
    assert ids("--kind", "fact", "--kind", "note", "--state", "any") == ["ms-1", "ms-2", "ms-3"]
    assert ids("--author", "ada", "--state", "any") == ["ms-1"]
    assert ids("--task", "t-1", "--state", "any") == ["ms-1"]
    assert ids("--importance", "high", "--state", "any") == ["ms-1"]
    assert ids("--trust", "user") == ["ms-2"]
    assert ids("--pinned") == ["ms-2"]
    assert ids("--pinned=false") == ["ms-3"]
    assert ids("--metadata", "k=v") == ["ms-2"]
    assert ids("--after", "1h") == ["ms-2", "ms-3"]
    assert ids("--before", "1h") == []
    assert ids("--before", "2000-01-01") == []


def test_list_is_newest_first_and_in_pages(spine):
    for n in range(5):
        stored(spine, f"text {n}")
    first = spine.ok("list", "-n", "2", "--json").json
    assert [m["id"] for m in first["memories"]] == ["ms-5", "ms-4"]
    second = spine.ok("list", "-n", "2", "--json", "--page-token", first["next_page_token"]).json
    assert [m["id"] for m in second["memories"]] == ["ms-3", "ms-2"]
    assert spine("list", "--page-token", "nonsense").code == FAILED


def test_a_listing_is_aligned_and_in_single_lines(spine):
    stored(spine, "short", "--agent", "a", "--importance", "low")
    stored(spine, "a very long text\nwith lines " * 20, "--agent", "somebody")
    lines = spine.on_terminal("list", env={"NO_COLOR": "1"}, columns=70)[1].splitlines()
    assert len(lines) == 3
    column = lines[0].index("TEXT")
    assert lines[1][column:].startswith("a very long text with lines")
    assert lines[2][column:] == "short"
    assert all(len(line) <= 70 for line in lines)
    assert lines[1].endswith("…")


def test_a_listing_in_a_pipe_is_not_cut(spine):
    stored(spine, "word " * 60 + "end")
    line = spine.ok("list", env={"COLUMNS": "80"}).out.splitlines()[1]
    assert line.endswith(" word end") and len(line) > 300
    stored(spine, "long " * 1000)
    assert spine.ok("list").out.splitlines()[1].endswith("…")


# --- Changing --------------------------------------------------------------------------------------------


def test_update_replaces_text_and_fields(spine):
    stored(spine, "old", "--tag", "a", "--summary", "s")
    assert spine.ok("update", "ms-1", "new", "--importance", "low").out == "ms-1@2\n"
    memory = read(spine, "ms-1")
    assert (memory["content"], memory["importance"], memory["tags"], memory["summary"]) == ("new", "low", ["a"], "s")
    spine.ok("update", "ms-1", "--clear", "summary", "--clear", "tags", "--kind", "fact")
    memory = read(spine, "ms-1")
    assert (memory["content"], memory["kind"], memory["tags"], memory["summary"]) == ("new", "fact", [], None)


def test_update_reads_standard_input(spine):
    stored(spine, "old")
    spine.ok("update", "ms-1", stdin="from stdin\n")
    assert read(spine, "ms-1")["content"] == "from stdin"
    spine.ok("update", "ms-1", "-", "--kind", "fact", stdin="again\n")
    assert read(spine, "ms-1")["content"] == "again"
    assert spine("update", "ms-1").code == USAGE


def test_update_of_an_old_version_is_a_conflict(spine):
    stored(spine, "old")
    spine.ok("update", "ms-1", "newer", "--if-version", "1")
    result = spine("update", "ms-1", "newest", "--if-version", "1", "--json")
    assert result.code == CONFLICT
    assert result.json["code"] == "precondition_failed"
    assert result.json["current_version"] == 2
    assert "version 2" in result.err


def test_versions_and_revert(spine):
    stored(spine, "one")
    spine.ok("update", "ms-1", "two")
    assert spine.ok("revert", "ms-1", "1").out == "ms-1@3\n"
    assert read(spine, "ms-1")["content"] == "one"
    assert [m["version"] for m in spine.ok("versions", "ms-1", "--json").json["versions"]] == [3, 2, 1]
    lines = spine.ok("versions", "ms-1").out.splitlines()
    assert [line.split()[0] for line in lines] == ["VERSION", "ms-1@3", "ms-1@2", "ms-1@1"]
    assert spine.ok("revert", "ms-1@2", "--json").json["content"] == "two"
    assert spine("revert", "ms-1", "99").code in (FAILED, NOT_FOUND)
    assert spine("revert", "ms-1", "1", "--if-version", "1").code == CONFLICT


def test_pin_and_unpin_several(spine):
    stored(spine, "one")
    stored(spine, "two")
    assert spine.ok("pin", "ms-1", "ms-2").out == "pinned ms-1\npinned ms-2\n"
    assert [m["pinned"] for m in spine.ok("unpin", "ms-1", "ms-2", "--json").json["memories"]] == [False, False]


def test_one_failure_does_not_stop_the_others(spine):
    stored(spine, "one")
    stored(spine, "two")
    result = spine("pin", "ms-1", "ms-9", "ms-2", "--json")
    assert result.code == NOT_FOUND
    assert [m["id"] for m in result.json["memories"]] == ["ms-1", "ms-2"]
    assert [p["code"] for p in result.json["problems"]] == ["memory_not_found"]
    assert "ms-9" in result.err


@pytest.mark.parametrize("command", [["get"], ["pin"], ["update", "x"], ["versions"], ["revert"], ["forget", "--yes"]])
def test_what_does_not_exist_is_not_found(spine, command):
    args = {"update": ["update", "ms-9", "x"], "revert": ["revert", "ms-9", "1"]}.get(command[0], [*command, "ms-9"])
    assert spine(*args).code == NOT_FOUND


def test_an_id_cannot_become_another_path(spine):
    stored(spine, "x")
    for bad in ("../status", "ms-1/versions", "ms-1?x=1", "", "ms-1%2fpin"):
        assert spine("versions", bad).code in (FAILED, NOT_FOUND), bad


def test_forget_needs_a_word_where_nobody_can_be_asked(spine):
    stored(spine, "secret")
    assert spine("forget", "ms-1").code == USAGE
    assert read(spine, "ms-1")["content"] == "secret"
    assert spine.ok("forget", "ms-1", "--yes").out == "forgot ms-1\n"
    assert spine("get", "ms-1").code == NOT_FOUND
    assert spine("update", "ms-1", "x").code == CONFLICT


def test_forget_asks_on_a_terminal(spine):
    stored(spine, "secret")
    code, text = spine.on_terminal("forget", "ms-1", typed="n\n")
    assert code == FAILED
    assert "Forget ms-1?" in text and "nothing was forgotten" in text
    assert read(spine, "ms-1")["content"] == "secret"
    code, text = spine.on_terminal("forget", "ms-1", typed="y\n")
    assert code == OK
    assert spine("get", "ms-1").code == NOT_FOUND
