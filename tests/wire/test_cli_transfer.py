"""Taking memories out and bringing them back: backup, restore, check, export, import."""

import json
import re

import pytest

from cli import (  # noqa: F401
    CONFLICT,
    DAMAGED,
    FAILED,
    NOT_FOUND,
    OK,
    UNREACHABLE,
    USAGE,
    Cli,
    offline,
    read,
    spine,
    stored,
)
from database import connect as open_database
from server import Server
from stores import needs_embedded_store

# --- Backup, restore, check --------------------------------------------------------------------------------


@needs_embedded_store("backups are copies of its files")
def test_a_backup_beside_the_running_server_can_be_restored(server, spine, tmp_path):
    stored(spine, "precious")
    backup = tmp_path / "backup.db"
    said = spine.ok("backup", backup, "--data", server.data).err
    assert re.fullmatch(
        rf"saved the store of {server.data} in {backup}: \d+ (memory|memories) in \d+ versions?, \d+ envelopes?, "
        r"\d+ handoffs?, \d+ events?\n", said), said
    assert backup.stat().st_mode & 0o777 == 0o600
    assert spine("backup", backup, "--data", server.data).code == FAILED
    restored = tmp_path / "restored"
    spine.ok("restore", backup, "--data", restored)
    again = spine("restore", backup, "--data", restored)
    assert again.code == FAILED
    document = spine.ok("restore", backup, "--data", restored, "--replace", "--json").json
    assert document["kept"] and document["data"] == str(restored)
    spine.ok("check", "--data", restored)
    other = Server(restored).wait_until_ready()
    try:
        there = Cli(tmp_path, SPINE_URL=other.url, SPINE_SPACE=spine.environment["SPINE_SPACE"])
        assert read(there, "ms-1")["content"] == "precious"
        assert spine("restore", backup, "--data", restored, "--replace").code == FAILED
    finally:
        assert other.terminate() == 0


@needs_embedded_store("backups are copies of its files")
def test_without_data_it_is_the_store_of_the_server_that_the_url_names(server, spine, tmp_path):
    stored(spine, "where the url points")
    backup = tmp_path / "by-url.db"
    told = f"(this is about {server.data}, the data directory of the server at {server.url})\n"
    saved = spine.ok("backup", backup)
    assert saved.err.startswith(told + f"saved the store of {server.data} in {backup}: ")
    checked = spine.ok("check")
    assert checked.err == told and checked.out.startswith(f"{server.data}: ")
    assert spine.ok("backup", tmp_path / "json.db", "--json").json["data"] == str(server.data)
    # A server runs there, and nothing else is touched instead.
    refused = spine("restore", backup, "--replace")
    assert refused.code == FAILED and refused.err.startswith(told)
    assert spine.ok("check", backup).err == ""


@needs_embedded_store("backups are copies of its files")
def test_data_that_the_server_does_not_use_is_said(server, spine, tmp_path):
    stored(spine, "elsewhere")
    backup, other = tmp_path / "elsewhere.db", tmp_path / "other"
    spine.ok("backup", backup)
    told = f"(this is about {other}, not about the server at {server.url}, which keeps its store in {server.data})\n"
    assert spine.ok("restore", backup, "--data", other).err.startswith(told)
    assert spine.ok("check", env={"SPINE_DATA": str(other)}).err == told
    linked = tmp_path / "link"
    linked.symlink_to(server.data)
    assert spine.ok("check", "--data", linked).err == ""


@needs_embedded_store("spine check reads its files")
def test_a_server_that_does_not_answer_leaves_the_usual_directory(offline, tmp_path):
    usual = tmp_path / ".local/share/memory-spine"
    usual.parent.mkdir(parents=True)
    Server(usual).wait_until_ready().terminate()
    checked = offline.ok("check")
    assert checked.out.startswith(f"{usual}: ")
    assert f"answers at {offline.environment['SPINE_URL']}: this is about the data directory {usual})" in checked.err
    assert offline.ok("check", env={"SPINE_URL": ""}).err == ""


def test_a_data_directory_of_another_machine_is_not_guessed(offline):
    away = offline("backup", "x.db", env={"SPINE_URL": "http://192.0.2.1:9"})
    assert away.code == USAGE and "http://192.0.2.1:9 is another machine" in away.err and "--data" in away.err
    assert offline("check", "--url", "nonsense:").code == USAGE


def test_what_is_no_backup_is_not_restored(offline):
    (offline.home / "junk").write_bytes(b"junk" * 1000)
    assert offline("restore", "junk", "--data", offline.home / "data").code == FAILED
    assert offline("restore", "missing", "--data", offline.home / "data").code == FAILED


@needs_embedded_store("spine check reads its files")
def test_check_beside_the_running_server(server, spine):
    stored(spine, "one")
    text = spine.ok("check", "--data", server.data).out
    assert text.startswith(f"{server.data}: ") and text.endswith(": all well\n") and " envelope" in text
    document = spine.ok("check", "--data", server.data, "--json").json
    assert document["ok"] is True and document["problems"] == [] and document["memories"] >= 1


@needs_embedded_store("spine check reads its files")
def test_check_finds_damage(tmp_path):
    server = Server(tmp_path / "data").wait_until_ready()
    spine = Cli(tmp_path, SPINE_URL=server.url)
    lines = "".join(json.dumps({"content": f"needle-{n} " * 200}) + "\n" for n in range(200))
    spine.ok("import", stdin=lines)
    assert server.terminate() == 0
    database = tmp_path / "data" / "spine.db"
    content = database.read_bytes()
    assert b"needle-77 " in content
    database.write_bytes(content.replace(b"needle-77 ", b"needle-78 ", 1))
    result = spine("check", "--data", tmp_path / "data")
    assert result.code == DAMAGED, result.err
    document = spine("check", "--data", tmp_path / "data", "--json").json
    assert document["ok"] is False and document["problems"]


@pytest.mark.parametrize("column, was, now, says", [
    ("body", "the words", "other ways", "it does not match its digest"),
    ("digest", None, b"\0" * 32, "its parent is not the one that it was packed from"),
], ids=["content", "link"])
@needs_embedded_store("spine check reads its files")
def test_check_reads_every_envelope(tmp_path, column, was, now, says):
    server = Server(tmp_path / "data").wait_until_ready()
    spine = Cli(tmp_path, SPINE_URL=server.url)
    spine.ok("handoff", "b", "the words", "--space", "team")
    spine.ok("handoff", "c", "go on", "--parent", "env-1", "--state", "more", "--space", "team")
    assert server.terminate() == 0
    assert spine.ok("check", "--data", tmp_path / "data", "--json").json["problems"] == []
    with open_database(tmp_path / "data" / "spine.db") as db:
        for (trigger,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'envelope'").fetchall():
            db.execute(f"DROP TRIGGER {trigger}")
        value = db.execute("SELECT body FROM envelope ORDER BY id").fetchone()[0].replace(was, now) if was else now
        db.execute(f"UPDATE envelope SET {column} = ? WHERE id = (SELECT min(id) FROM envelope)", [value])
    db.close()
    result = spine("check", "--data", tmp_path / "data", "--json")
    assert result.code == DAMAGED
    assert f"env-{1 if was else 2} of the space team: {says}" in result.json["problems"]


@needs_embedded_store("backups are copies of its files")
def test_a_damaged_page_is_not_saved_as_if_it_were_sound(tmp_path):
    """The copy would have good checksums over what is wrong."""
    server = Server(tmp_path / "data").wait_until_ready()
    spine = Cli(tmp_path, SPINE_URL=server.url)
    stored(spine, "needle-77 " * 200)
    assert server.terminate() == 0
    database = tmp_path / "data" / "spine.db"
    database.write_bytes(database.read_bytes().replace(b"needle-77 ", b"needle-78 ", 1))
    result = spine("backup", "backup.db", "--data", tmp_path / "data")
    assert result.code == FAILED and "of the database file does not match its checksum" in result.err
    assert not (tmp_path / "backup.db").exists()


@needs_embedded_store("backups are copies of its files")
def test_a_store_in_disorder_is_saved_and_said_to_be_damaged(tmp_path):
    server = Server(tmp_path / "data").wait_until_ready()
    spine = Cli(tmp_path, SPINE_URL=server.url)
    stored(spine, "needle-77 " * 200)
    assert server.terminate() == 0
    with open_database(tmp_path / "data" / "spine.db") as db:
        db.execute("UPDATE memory_version SET content = replace(content, 'needle-77 ', 'needle-78 ')")
    result = spine("backup", "backup.db", "--data", tmp_path / "data")
    assert result.code == DAMAGED and "the backup has 1 problem" in result.err
    assert (tmp_path / "backup.db").exists()


@needs_embedded_store("backups are copies of its files")
def test_a_backup_is_checked_where_it_lies(server, spine, tmp_path):
    sent = spine.ok("send", "--to", "coder", "Go.", "--from", "analyst")
    assert sent.out.startswith("ho-")
    stored(spine, "needle-77 " * 200)
    document = spine.ok("backup", tmp_path / "backup.db", "--data", server.data, "--json").json
    assert document["data"] == str(server.data) and document["problems"] == 0
    assert document["envelopes"] >= 1 and document["handoffs"] >= 1 and document["events"] >= 2
    before = set(tmp_path.iterdir())
    checked = spine.ok("check", "backup.db", "--json", cwd=tmp_path).json
    for count in ("memories", "versions", "envelopes", "handoffs", "events"):
        assert checked[count] == document[count]
    assert checked["store"] == "backup.db" and checked["ok"] is True
    text = spine.ok("check", "backup.db", cwd=tmp_path).out
    assert text.startswith("backup.db: ") and text.endswith(": all well\n")
    assert set(tmp_path.iterdir()) == before
    content = (tmp_path / "backup.db").read_bytes()
    (tmp_path / "backup.db").write_bytes(content.replace(b"needle-77 ", b"needle-78 ", 1))
    assert spine("check", "backup.db", cwd=tmp_path).code == DAMAGED
    (tmp_path / "backup.db").write_bytes(b"junk" * 1000)
    result = spine("check", "backup.db", cwd=tmp_path)
    assert result.code == FAILED and result.err.startswith("spine: cannot check backup.db: ")
    assert "cannot check missing: No such file" in spine("check", "missing").err
    assert "--data names a data directory" in spine("check", tmp_path).err
    assert spine("check", "backup.db", "--data", "x").code == USAGE


@needs_embedded_store("backups are copies of its files")
@pytest.mark.parametrize("name", ["file:backup.db", ":memory:", "file:x?mode=memory", "a b%20c#d"])
def test_a_file_may_have_any_name(tmp_path, name):
    server = Server(tmp_path / name).wait_until_ready()
    spine = Cli(tmp_path, SPINE_URL=server.url)
    stored(spine, "needle-77")
    target = tmp_path / "backups"
    target.mkdir()
    spine.ok("backup", name, "--data", tmp_path / name, cwd=target)
    assert [path.name for path in target.iterdir()] == [name] and (target / name).stat().st_mode & 0o777 == 0o600
    assert spine.ok("check", name, "--json", cwd=target).json["memories"] == 1
    assert server.terminate() == 0
    spine.ok("restore", name, "--data", name + "-new", cwd=target)
    assert spine.ok("check", "--data", name + "-new", "--json", cwd=target).json["memories"] == 1


def test_where_there_is_no_store_it_is_said_which_directory_was_looked_in(offline):
    data = offline.home / "nothing"
    for args in (["check"], ["backup", "b.db"]):
        result = offline(*args, "--data", data)
        assert result.code == FAILED
        assert result.err == f"spine: there is no store in {data}; --data names another data directory\n"
        assert not data.exists() and not (offline.home / "b.db").exists()


# --- Export, import ----------------------------------------------------------------------------------------


def exported(spine, *args):
    return [json.loads(line) for line in spine.ok("export", *args).out.splitlines()]


def kept(memory):
    """What an import preserves."""
    names = ("id content summary kind tags importance agent task pinned trust metadata expires_at supersedes created_at "
             "state digest")
    return {name: memory[name] for name in names.split()}


def fill(spine):
    """Memories of every kind, two of them superseded, one expired in the past."""
    stored(spine, "plain")
    options = "--kind fact --tag b --tag a --importance critical --task t --pin --summary s --trust external --agent ada"
    metadata = '{"n":1.5,"deep":{"x":[1,null,true]}}'
    stored(spine, "everything\x1b\u202e\n", *options.split(), "--metadata", metadata)
    stored(spine, "newer", "--supersedes", "ms-1")
    stored(spine, "high", "--id", "ms-50")
    stored(spine, "replaces a higher id", "--id", "ms-10", "--supersedes", "ms-50")
    old = {"content": "expired", "created_at": "2020-01-01T00:00:00.000Z", "expires_at": "2020-01-02T00:00:00.000Z"}
    spine.ok("import", stdin=json.dumps(old) + "\n")


def test_a_round_trip_preserves_everything(spine):
    fill(spine)
    lines = spine.ok("export").out
    copy = {"SPINE_SPACE": spine.environment["SPINE_SPACE"][:50] + "-copy"}
    # The importer's own name must not become an author's.
    assert spine.ok("import", stdin=lines, env={**copy, "SPINE_AGENT": "importer"}).out == "imported 6 memories\n"
    before = sorted(map(kept, exported(spine)), key=lambda m: m["id"])
    after = sorted(map(kept, map(json.loads, spine.ok("export", env=copy).out.splitlines())), key=lambda m: m["id"])
    assert after == before
    assert {m["state"] for m in before} == {"active", "superseded", "expired"}


def test_an_export_is_imported_without_a_warning(spine):
    stored(spine, "plain")
    stored(spine, "pay\u200bment")
    lines = spine.ok("export").out
    assert '"origin"' in lines and '"flags"' in lines
    assert spine.ok("import", stdin=lines, env={"SPINE_SPACE": "quiet-copy"}).err == ""


def test_an_export_names_what_is_superseded_before_what_supersedes_it(spine):
    fill(spine)
    seen = set()
    for memory in exported(spine):
        assert memory["supersedes"] is None or memory["supersedes"] in seen
        seen.add(memory["id"])
    assert len(seen) == 6


def test_an_export_has_all_pages(spine):
    lines = "".join(json.dumps({"content": f"text {n}"}) + "\n" for n in range(1234))
    assert spine.ok("import", "--json", stdin=lines).json["imported"] == 1234
    assert [m["content"] for m in exported(spine)] == [f"text {n}" for n in range(1234)]


def test_an_export_replaces_a_file_at_once(spine):
    fill(spine)
    target = spine.home / "out.jsonl"
    target.write_text("old")
    target.chmod(0o644)
    result = spine.ok("export", target)
    assert result.out == "" and "exported 6 memories" in result.err
    assert target.stat().st_mode & 0o777 == 0o600
    assert len(target.read_text().splitlines()) == 6
    assert spine.ok("export", target, "--json").json == {"file": str(target), "exported": 6}
    assert [path.name for path in spine.home.iterdir() if path.name.startswith("out")] == ["out.jsonl"]


def test_a_failed_export_leaves_the_file_alone(offline):
    target = offline.home / "out.jsonl"
    target.write_text("old")
    assert offline("export", target).code == UNREACHABLE
    assert target.read_text() == "old"
    assert [path.name for path in offline.home.iterdir()] == ["out.jsonl"]
    result = offline("export", "/nonexistent/out.jsonl")
    assert result.code == FAILED
    assert "cannot write /nonexistent/out.jsonl: No such file" in result.err


def test_an_export_of_an_empty_space_is_empty(spine):
    assert spine.ok("export").out == ""
    assert spine.ok("import", stdin="").out == "imported 0 memories\n"


def test_the_same_import_twice_stores_once(spine):
    fill(spine)
    lines = spine.ok("export").out
    copy = {"SPINE_SPACE": "twice-copy"}
    spine.ok("import", stdin=lines, env=copy)
    again = spine.ok("import", stdin=lines, env=copy).out
    assert again == "imported 0 memories\n6 were there already\n"
    assert len(spine.ok("export", env=copy).out.splitlines()) == 6
    # Also with other batches, which have other keys.
    document = spine.ok("import", "--batch", "2", "--json", stdin=lines, env=copy).json
    assert (document["imported"], document["unchanged"]) == (0, 6)
    assert spine.ok("export", env=copy).out.count("\n") == 6


def test_an_interrupted_import_goes_on(spine):
    lines = [json.dumps({"id": f"ms-{n}", "content": f"text {n}"}) for n in range(1, 31)]
    spine.ok("import", stdin="\n".join(lines[:17]) + "\n")
    document = spine.ok("import", "--json", stdin="\n".join(lines) + "\n").json
    assert (document["imported"], document["unchanged"]) == (13, 17)


def test_what_was_written_otherwise_is_still_the_same(spine):
    line = {
        "id": "ms-3", "content": "x", "tags": ["a", "b", "a"], "created_at": "2025-01-01T01:00:00+01:00",
        "kind": None, "pinned": None,
        "metadata": {"b": 1, "a": 2}, "unknown": 1, "ttl_s": 1000,
    }
    assert spine.ok("import", "--json", stdin=json.dumps(line)).json["imported"] == 1
    other = json.dumps({"content": "another batch"}) + "\n" + json.dumps(line)
    document = spine.ok("import", "--json", stdin=other).json
    assert (document["imported"], document["unchanged"]) == (1, 1)
    for change in ({"tags": ["b", "a"]}, {"tags": ["a"]}, {"pinned": True}, {"content": "y"}, {"metadata": {}},
                   {"created_at": "2025-01-01T00:00:01Z"}, {"agent": "me"}, {"kind": "fact"}):
        result = spine("import", stdin=json.dumps({**line, **change}))
        assert result.code == CONFLICT, change


def test_a_taken_id_names_its_line(spine):
    stored(spine, "something else")
    lines = '{"id":"ms-7","content":"seven"}\n\n{"id":"ms-1","content":"one"}\n'
    result = spine("import", stdin=lines)
    assert result.code == CONFLICT
    assert "line 3: ms-1 is taken by another memory" in result.err
    assert spine("get", "ms-7").code == NOT_FOUND
    document = spine("import", "--json", stdin=lines)
    assert document.code == CONFLICT
    assert document.json["line"] == 3 and document.json["code"] == "id_taken"


def test_a_forgotten_id_is_taken(spine):
    stored(spine, "x")
    spine.ok("forget", "--yes", "ms-1")
    assert spine("import", stdin='{"id":"ms-1","content":"x"}\n').code == CONFLICT


def test_new_ids_follow_each_other(spine):
    fill(spine)
    lines = spine.ok("export").out
    assert spine.ok("import", "--new-ids", stdin=lines).out == "imported 6 memories\n"
    copies = {m["content"]: m for m in exported(spine) if int(m["id"][3:]) > 51}
    assert len(copies) == 6
    assert copies["newer"]["supersedes"] == copies["plain"]["id"]
    assert copies["replaces a higher id"]["supersedes"] == copies["high"]["id"]
    assert copies["plain"]["state"] == "superseded"
    # And once more, within the time that answers are kept: nothing is doubled.
    spine.ok("import", "--new-ids", stdin=lines)
    assert len(exported(spine)) == 12


@pytest.mark.parametrize(
    "line, message",
    [
        ("{", "line 2: "),
        ("[1]", "line 2: it is an array; expected an object"),
        ('{"content":"x","content":"y"}', "line 2: "),
        ('{"content":""}', "line 2: "),
        ('{"summary":"no content"}', "line 2: "),
        ('{"content":"x","importance":"urgent"}', "line 2: "),
        ('{"id":"nonsense","content":"x"}', "line 2: "),
        ('{"id":"ms-1","content":"again"}', "line 2: ms-1 stands in line 1 already"),
    ],
)
def test_a_bad_line_is_named(spine, line, message):
    text = '{"id":"ms-1","content":"good"}\n' + line + '\n{"content":"after"}\n'
    result = spine("import", stdin=text)
    assert result.code == FAILED
    assert message in result.err
    # Lines of one request are stored together or not at all.
    assert spine.ok("list", "--json").json["memories"] == []
    document = spine("import", "--json", stdin=text).json
    assert document["line"] == 2 and document["imported"] == 0


def test_a_file_of_export_all_is_not_imported_and_it_is_said_what_to_do(spine):
    spine.ok("send", "--to", "coder", "Go.")
    whole = spine.ok("export", "--all").out
    assert {kind for line in whole.splitlines() for kind in json.loads(line)} == {"envelope", "handoff", "event"}
    for line in whole.splitlines():
        refused = spine("import", stdin=line + "\n")
        assert refused.code == FAILED and "export --all" in refused.err and "export --whole" in refused.err


def test_what_stands_before_a_bad_batch_is_stored(spine):
    text = "".join(json.dumps({"content": f"text {n}"}) + "\n" for n in range(4)) + "junk\n"
    result = spine("import", "--batch", "2", stdin=text)
    assert result.code == FAILED
    assert "line 5: " in result.err and "memories before it are stored" in result.err
    fixed = spine.ok("import", "--batch", "2", "--json", stdin=text.replace("junk", '{"content":"text 4"}')).json
    assert (fixed["imported"], fixed["unchanged"]) == (1, 4)
    assert [m["content"] for m in exported(spine)] == [f"text {n}" for n in range(5)]


def test_bytes_that_are_no_text_are_a_bad_line(spine):
    result = spine("import", stdin=b'{"content":"\xff"}\n')
    assert result.code == FAILED
    assert "line 1: " in result.err


def test_a_line_longer_than_any_memory_is_refused(spine):
    result = spine("import", stdin='{"content":"' + "x" * 9_000_000 + '"}')
    assert result.code == FAILED
    assert "line 1: it is longer than any memory can be" in result.err


def test_forgotten_memories_are_skipped_and_counted(spine):
    text = '{"id":"ms-1","state":"forgotten"}\n{"id":"ms-2","content":"x","supersedes":"ms-1"}\n'
    document = spine.ok("import", "--json", stdin=text).json
    assert (document["imported"], document["forgotten_skipped"], document["links_dropped"]) == (1, 1, 1)
    assert read(spine, "ms-2")["supersedes"] is None


def test_links_to_forgotten_memories_do_not_stop_an_import(spine):
    stored(spine, "old")
    stored(spine, "new", "--supersedes", "ms-1")
    stored(spine, "replaced")
    stored(spine, "successor", "--supersedes", "ms-3")
    spine.ok("forget", "--yes", "ms-1", "ms-4")
    lines = spine.ok("export").out
    document = spine.ok("import", "--json", stdin=lines, env={"SPINE_SPACE": "unlinked-copy"}).json
    assert (document["imported"], document["links_dropped"], document["reactivated"]) == (2, 1, 1)


def test_links_to_memories_that_one_answer_has_no_room_for_are_kept(spine):
    old = [stored(spine, stdin=f"{number} " + "a" * 255000) for number in range(34)]
    lines = "".join(json.dumps({"id": f"ms-{1000 + at}", "content": "new", "supersedes": id}) + "\n"
        for at, id in enumerate(old))
    document = spine.ok("import", "--json", stdin=lines).json
    assert (document["imported"], document["links_dropped"]) == (34, 0)
    assert [read(spine, f"ms-{1000 + at}")["supersedes"] for at in range(34)] == old


def test_lines_without_an_author_get_the_one_that_was_given(spine):
    text = '{"content":"none"}\n{"content":"null","agent":null}\n{"content":"ada","agent":"ada"}\n'
    spine.ok("import", "--agent", "me", stdin=text)
    assert {m["content"]: m["agent"] for m in exported(spine)} == {"none": "me", "null": None, "ada": "ada"}


def test_large_memories_are_imported_in_bounded_batches(spine):
    lines = "".join(json.dumps({"content": f"{n} " + "é\u0001" * 40000}) + "\n" for n in range(60))
    assert len(lines) > 12_000_000
    assert spine.ok("import", "--json", stdin=lines).json["imported"] == 60


def test_progress_is_shown_on_a_terminal_alone(spine):
    lines = "".join(json.dumps({"content": f"text {n}"}) + "\n" for n in range(600))
    path = spine.home / "in.jsonl"
    path.write_text(lines)
    assert spine.ok("import", path).err == ""
    code, text = spine.on_terminal("import", str(path), "--new-ids")
    assert code == OK
    assert "%" in text and "[#" in text
    assert text.endswith("imported 0 memories\n600 were there already\n")


def test_unknown_fields_are_warned_about(spine):
    result = spine.ok("import", stdin='{"content":"x","colour":"red"}\n')
    assert "warning" in result.err and "colour" in result.err


def test_a_missing_file_is_named(spine):
    result = spine("import", "missing.jsonl")
    assert result.code == FAILED
    assert "cannot read missing.jsonl: No such file" in result.err
