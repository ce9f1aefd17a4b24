"""Keys and certificates on the command line: where they come from, what is said where they do not do, who gets them."""

import json
import os
import stat
import subprocess

import pytest
from certificates import Authority

from cli import FAILED, OK, USAGE, Cli
from mcp_stand_in import modern
import stores
from server import Server, binary

NOTHING, WORK = 0, 2


@pytest.fixture(scope="module")
def locked(tmp_path_factory):
    """A server that asks for keys; `.admin` is a file with the first."""
    folder = tmp_path_factory.mktemp("locked")
    admin = folder / "admin.key"
    made = Cli(folder)("key", "create", "operator", *stores.where(folder / "data"), "--out", admin)
    assert made.code == OK, made.err
    server = Server(folder / "data").wait_until_ready()
    server.admin = str(admin)
    yield server
    assert server.terminate() == 0, server.log_tail()


@pytest.fixture
def spine(locked, tmp_path):
    return Cli(tmp_path, SPINE_URL=locked.url, SPINE_SPACE="team")


def make(spine, locked, name, *options):
    """A key of the space team, in a file."""
    file = spine.home / f"{name}.key"
    spine.ok("key", "create", name, "--space", "team", *options, "--out", file, "--key-file", locked.admin)
    return str(file)


def secret(file):
    with open(file) as opened:
        return opened.read().strip()


def test_a_key_comes_from_the_option_the_variable_or_the_file_that_is_named(spine, locked):
    assert spine("search", "x").code == FAILED
    assert spine("search", "x", "--key-file", locked.admin).code == OK
    assert spine("search", "x", env={"SPINE_KEY": secret(locked.admin)}).code == OK
    assert spine("search", "x", env={"SPINE_KEY_FILE": locked.admin}).code == OK
    # What was said last holds: the option, then the key itself, then the file.
    assert spine("search", "x", "--key-file", locked.admin, env={"SPINE_KEY": "spk_1_wrong"}).code == OK
    both = {"SPINE_KEY": secret(locked.admin), "SPINE_KEY_FILE": "/nowhere"}
    assert spine("search", "x", env=both).code == OK


def test_without_a_key_it_is_said_what_to_do(spine):
    told = spine("search", "x")
    assert told.code == FAILED and "--key-file FILE" in told.err and "spine key create" in told.err
    assert spine("search", "x", "--json").json["code"] == "unauthorized"


def test_what_a_key_may_not_do_is_told(spine, locked):
    reader = make(spine, locked, "reader", "--scope", "read")
    told = spine("store", "x", "--key-file", reader)
    assert told.code == FAILED and "scope write" in told.err and secret(reader) not in told.err
    told = spine("search", "x", "--key-file", reader, "--space", "other")
    assert told.code == FAILED and "team" in told.err


@pytest.mark.parametrize("text, mode, said", [
    ("spk_1_x", 0o644, "can be read by others (mode 0644): make it yours alone, chmod 600"),
    ("", 0o600, "there is no key in the file"), ("a b", 0o600, "there is no key in the file"),
])
def test_a_file_that_does_not_do_is_refused_and_never_no_key(spine, text, mode, said):
    file = spine.home / "key"
    file.write_text(text)
    file.chmod(mode)
    told = spine("search", "x", "--key-file", file)
    assert told.code == USAGE and said in told.err
    assert "cannot be read" in spine("search", "x", "--key-file", spine.home / "none").err


def test_wait_tail_and_receive_go_with_a_key_and_end_without(spine, locked):
    worker = make(spine, locked, "worker", "--agent", "coder", "--scope", "read,write,receive")
    spine.ok("send", "--to", "coder", "Go.", "--key-file", locked.admin)
    assert spine("wait", "coder", "--timeout", "0", "--key-file", worker).code == WORK
    assert spine("wait", "coder", "--timeout", "60s").code == 1
    tail = spine("tail", "--after", "0", "--type", "handoff.queued", "--count", "1", "--key-file", worker)
    assert tail.code == OK and "handoff.queued" in tail.out
    refused = spine("tail", "--after", "0")
    assert refused.code == FAILED and "--key-file" in refused.err
    seen = "test \"$SPINE_KEY_FILE\" = '%s' && test -z \"$SPINE_KEY\" && %s store 'by the child'" % (worker, binary())
    done = spine("receive", "coder", "--key-file", worker, "--exec", seen,
                 env={"SPINE_KEY": "spk_1_not_this_one"})
    assert done.code == OK, done.err
    assert "by the child" in spine.ok("search", "child", "--key-file", worker).out


def test_mcp_shows_its_key(spine, locked):
    worker = make(spine, locked, "mcp", "--agent", "coder", "--scope", "read,write,receive")
    for options, env, good in [(["--key-file", worker], {}, True), ([], {"SPINE_KEY": secret(worker)}, True), ([], {}, False)]:
        asked = json.dumps(modern(1, "tools/call", name="memory_store", arguments={"content": "by mcp"})) + "\n"
        process = subprocess.run([str(binary()), "mcp", *options], input=asked.encode(), env=spine.env(env),
                                 cwd=spine.home, capture_output=True, timeout=60)
        answer = json.loads(process.stdout.splitlines()[0])
        assert ("result" in answer) == good, process.stdout
        assert secret(worker) not in process.stdout.decode() + process.stderr.decode()


def test_setup_writes_where_the_key_is_and_never_the_key(spine, locked):
    project = spine.home / "project"
    project.mkdir()
    both = {"SPINE_KEY": secret(locked.admin)}
    spine.ok("setup", "claude-code", "--project", "--yes", "--agent", "coder", "--token-env", "SPINE_KEY", cwd=project, env=both)
    written = (project / ".mcp.json").read_text()
    assert json.loads(written)["mcpServers"]["memory-spine"]["headers"]["Authorization"] == "Bearer ${SPINE_KEY}"
    spine.ok("setup", "claude-code", "--project", "--yes", "--stdio", "--agent", "coder", "--key-file", locked.admin,
             cwd=project)
    arguments = json.loads((project / ".mcp.json").read_text())["mcpServers"]["memory-spine"]["args"]
    assert arguments[arguments.index("--key-file") + 1] == os.path.realpath(locked.admin)
    hook = (project / ".claude/settings.local.json").read_text()
    assert f"--key-file {os.path.realpath(locked.admin)}" in hook
    for file in project.rglob("*"):
        assert not file.is_file() or secret(locked.admin) not in file.read_text()
    assert stat.S_IMODE(os.stat(locked.admin).st_mode) == 0o600


# --- Certificates --------------------------------------------------------------------------------


def test_https_with_an_authority_and_a_certificate_of_ones_own(tmp_path):
    authority = Authority(tmp_path)
    authority.sign("server")
    authority.sign("client", "DNS:client")
    options = authority.serving("server", "--tls-client-ca", authority.path("ca.pem"))
    server = Server(tmp_path / "data", *options).wait_until_ready()
    spine = Cli(tmp_path, SPINE_URL=server.url)
    ca = ("--ca-file", authority.path("ca.pem"))
    mine = ("--cert-file", authority.path("client.pem"), "--cert-key-file", authority.path("client.key"))
    try:
        assert spine.ok("store", "x", *ca, *mine).out == "ms-1\n"
        for given, said in [((), "not from an authority that is trusted here"), (ca, "asks for a client certificate")]:
            told = spine("search", "x", *given)
            assert told.code == FAILED and said in told.err, told.err
            assert spine("search", "x", *given, "--json").json["code"] == "tls_failed"
            told = spine("tail", "--after", "0", *given)
            assert told.code == FAILED and said in told.err, told.err
        assert "/nowhere, cannot be read" in spine("search", "x", "--ca-file", "/nowhere").err
    finally:
        assert server.terminate() == 0, server.log_tail()
