"""spine key: keys from the command line, beside the server and without it."""

import os
import re
import stat

import pytest

from cli import CONFLICT, FAILED, NOT_FOUND, OK, USAGE, Cli
import stores
from server import Server

KEY = re.compile(r"spk_[1-9][0-9]*_[A-Za-z0-9_-]{43}")


@pytest.fixture
def server(tmp_path):
    running = Server(tmp_path / "data").wait_until_ready()
    yield running
    if running.process.poll() is None:
        assert running.terminate() == 0


@pytest.fixture
def spine(tmp_path, server):
    (tmp_path / "home").mkdir()
    return Cli(tmp_path / "home", SPINE_URL=server.url)


@pytest.fixture
def admin(spine):
    """A command line that has the first key."""
    text = spine("key", "create", "admin").out.strip()
    return Cli(spine.home, **{**spine.environment, "SPINE_KEY": text})


def test_the_first_key_is_printed_alone_and_closes_the_server(spine):
    assert spine("key", "--json").json["keys"] == []
    made = spine("key", "create", "admin")
    assert made.code == OK and KEY.fullmatch(made.out.strip()), made.out
    assert "first key" in made.err and "spk_" not in made.err
    refused = spine("list")
    assert refused.code == FAILED and "needs a key" in refused.err and "SPINE_KEY" in refused.err
    assert spine("list", env={"SPINE_KEY": made.out.strip()}).code == OK


@pytest.mark.parametrize("command", [("create", "admin"), ("create", "admin", "--data", "store")])
def test_no_key_is_made_where_its_file_could_not_be(spine, command):
    refused = spine("key", *command, "--out", "absent/admin.key")
    assert refused.code == FAILED and refused.out == ""
    assert "No key was made" in refused.err and "absent" in refused.err
    assert spine("key", "--json").json["keys"] == [] and not (spine.home / "store").exists()


def test_a_key_comes_from_a_file_that_only_its_owner_can_read(spine, admin, tmp_path):
    file = tmp_path / "ci.key"
    made = admin("key", "create", "ci", "--space", "team", "--scope", "read,write", "--out", file)
    assert made.code == OK and made.out == "" and stat.S_IMODE(file.stat().st_mode) == 0o600
    assert KEY.fullmatch(file.read_text().strip())
    assert spine("store", "hello", "--key-file", file).code == OK
    assert spine("list", env={"SPINE_KEY_FILE": str(file)}).code == OK
    assert spine("list", "--space", "default", "--key-file", file).code == FAILED
    # An option is nearer than the environment.
    assert spine("list", "--key-file", file, env={"SPINE_KEY": "spk_1_wrong"}).code == OK
    again = admin("key", "create", "ci", "--out", file)
    assert again.code == USAGE and "there already" in again.err
    file.chmod(0o640)
    open_to_others = spine("list", "--key-file", file)
    assert open_to_others.code != OK and "chmod 600" in open_to_others.err
    assert spine("list", "--key-file", tmp_path / "none").code != OK
    empty = tmp_path / "empty"
    empty.touch(0o600)
    assert "no key in" in spine("list", "--key-file", empty).err
    assert admin("key", "create", "x", "--json", "--out", tmp_path / "y").code == USAGE and not (tmp_path / "y").exists()


def test_keys_are_listed_shown_rotated_and_revoked(spine, admin):
    made = admin("key", "create", "ann's", "--space", "team", "--agent", "ann", "-s", "read", "-s", "receive", "--expires", "7d",
                 "--trust", "external", "--json").json
    assert made["agent"] == "ann" and made["scopes"] == ["read", "receive"] and made["trust"] == "external" and made["expires_at"]
    listed = admin("key")
    assert "key-2" in listed.out and "ann's" in listed.out and "read,receive" in listed.out and "spk_" not in listed.out
    assert "external" in admin("key", "show", "key-2").out
    new = admin("key", "rotate", "key-2", "--grace", "0s").out.strip()
    assert KEY.fullmatch(new) and new != made["key"]
    assert spine("list", env={"SPINE_KEY": made["key"]}).code == FAILED
    assert spine("list", env={"SPINE_KEY": new}).code == OK
    assert admin("key", "revoke", "key-2", "--reason", "lost").out == "revoked key-2\n"
    assert "revoked" in spine("list", env={"SPINE_KEY": new}).err
    assert "lost" in admin("key", "show", "key-2").out
    assert admin("key", "show", "key-77").code == NOT_FOUND
    assert admin("key", "rotate", "key-2").code == CONFLICT


def test_mistakes_are_told(admin):
    assert admin("key", "create").code == USAGE
    assert admin("key", "create", "x", "--expires", "soon").code == USAGE
    assert "read, write, receive, admin" in admin("key", "create", "x", "--scope", "root").err
    assert admin("key", "list", "--grace", "1h").code == USAGE
    assert admin("key", "make", "x").code == USAGE
    assert admin("key", "reset").code == USAGE


def test_who_decides_is_the_key(admin):
    """Not the name of the account on this machine, which nobody has checked."""
    assert admin("handoff", "a", "x").code == OK and admin("send", "env-1").code == OK
    cancelled = admin("cancel", "ho-1", "--why", "over", "--json")
    assert cancelled.code == OK, cancelled.err
    assert admin("audit", "--json").out.count('"actor":"key-1 admin"') >= 1


def test_without_the_server_keys_are_made_in_its_data_directory(spine, server, tmp_path):
    where = stores.where(server.data)
    busy = spine("key", "create", "rescue", *where)
    assert busy.code == FAILED and ("another server writes" if stores.SERVER else "using the data directory") in busy.err
    assert server.terminate() == 0
    first = spine("key", "create", "x", *where, "--scope", "read")
    assert first.code == FAILED and "first key" in first.err
    rescue = spine("key", "create", "rescue", *where)
    assert rescue.code == OK and KEY.fullmatch(rescue.out.strip())
    other = spine("key", "create", "ann", *where, "--space", "team", "--agent", "ann", "--scope", "read,receive")
    assert other.code == OK, other.err
    for wrong in (["--space", "No!"], ["--scope", "root"]):
        assert spine("key", "create", "x", *where, *wrong).code == FAILED
    again = Server(server.data).wait_until_ready()
    try:
        env = {"SPINE_URL": again.url}
        assert spine("list", env=env).code == FAILED
        assert spine("list", env={**env, "SPINE_KEY": rescue.out.strip()}).code == OK
        assert spine("list", env={**env, "SPINE_KEY": other.out.strip()}).code == OK
        for space, name in (("default", "rescue"), ("team", "ann")):
            told = spine("audit", "--json", "--space", space, env={**env, "SPINE_KEY": rescue.out.strip()}).out
            assert told.count("made in the database" if stores.SERVER else "made in the data directory") == 1 and name in told and "spk_" not in told
    finally:
        assert again.terminate() == 0
    asked = spine("key", "reset", *where)
    assert asked.code == USAGE and "--yes" in asked.err
    reset = spine("key", "reset", *where, "--yes")
    assert reset.code == OK and "removed 2 keys" in reset.err and "everything" in reset.err
    open_again = Server(server.data).wait_until_ready()
    try:
        assert spine("list", env={"SPINE_URL": open_again.url}).code == OK
        assert spine("list", env={"SPINE_URL": open_again.url, "SPINE_KEY": rescue.out.strip()}).code == OK
    finally:
        assert open_again.terminate() == 0


def test_a_key_is_never_an_argument(spine):
    assert "--key " not in spine("key", "--help").out and "--key=" not in spine("list", "--help").out
    assert os.environ.get("SPINE_KEY") is None


def test_the_audit_and_the_tail_show_which_key_it_was(admin):
    assert admin("store", "one", "--agent", "ann").code == OK
    shown = admin("audit", "--action", "memory.")
    assert shown.code == OK and re.search(r"ann +key-1 +memory\.store +ms-1", shown.out), shown.out
    assert admin("audit", "--with-key", "key-1", "--action", "memory.", "--json").json["entries"][0]["object"] == "ms-1"
    assert admin("audit", "--with-key", "key-2", "--json").json["entries"] == []
    told = admin("tail", "--after", "0", "--count", "2").out
    assert re.search(r"memory\.stored +ms-1 +by ann with key-1", told), told


def test_what_is_not_there_is_not_said_to_be_of_another_space_than_the_keys(spine, admin):
    team = {"SPINE_KEY": admin("key", "create", "ci", "--space", "team", "--scope", "read,write").out.strip()}
    for missing in ("ms-1", "ho-1", "env-1"):
        refused = spine("get", missing, env=team)
        assert refused.code == NOT_FOUND and missing in refused.err
        assert "default" not in refused.err and "in this space" in refused.err
    named = spine("get", "ms-1", "--space", "team", env=team)
    assert named.code == NOT_FOUND and 'in the space "team"' in named.err
