"""The command line as such: help, options, configuration, servers that are not there or misbehave, terminals, and
what is generated from its tables.

Standard output carries results, standard error sentences; --json prints exactly one document.
"""

import json
import os
import re
import socket
import subprocess
import time

import pytest

from cli import (  # noqa: F401
    FAILED,
    NOT_FOUND,
    OK,
    UNREACHABLE,
    USAGE,
    DAMAGED,
    CONFLICT,
    Cli,
    Fake,
    answer,
    hang_up,
    have,
    offline,
    read,
    spine,
    stored,
)
import stores
from server import ROOT, Server, binary

# --- Without a command, and help ---------------------------------------------------------------------


def test_without_a_command_it_says_how_to_begin(offline):
    result = offline()
    assert result.code == USAGE
    assert result.out == ""
    assert "spine serve" in result.err


def test_help_names_every_command_and_exit_code(offline):
    text = offline.ok("--help").out
    for name in COMMANDS:
        assert re.search(rf"^  {name} ", text, re.M), name
    for code in range(7):
        assert re.search(rf"^  {code}  ", text, re.M), code
    assert offline.ok("help").out == text
    assert offline.ok("-h").out == text


COMMANDS = (
    "serve store search get pin unpin update revert versions list forget status doctor bench space tokens backup restore check export "
    "import completion help version"
).split()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_that_fits_the_width(offline, name):
    text = offline.ok(name, "--help", env={"COLUMNS": "60"}).out
    assert text.startswith(f"Usage: spine {name} [options]")
    assert "Examples:" in text
    assert offline.ok("help", name, env={"COLUMNS": "60"}).out == text
    for line in text.split("Examples:")[0].splitlines()[1:]:
        assert len(line) <= 60, line


def test_help_shows_defaults_and_environment(offline):
    text = offline.ok("serve", "--help").out
    assert "default 127.0.0.1:8788 [SPINE_LISTEN]" in text
    for option in ("max-body", "max-queue", "drain-timeout", "idempotency-ttl"):
        assert f"--{option}" in text


def test_help_works_with_a_broken_configuration(offline):
    config = offline.home / "broken"
    config.write_text("nonsense")
    assert offline("list", "--help", env={"SPINE_CONFIG": str(config)}).code == OK
    assert offline("version", env={"SPINE_CONFIG": str(config)}).code == OK


def test_version_is_the_version(offline):
    version = (ROOT / "VERSION").read_text().strip()
    assert offline.ok("version").out == f"spine {version}\n"
    assert offline.ok("--version").out == f"spine {version}\n"
    assert offline.ok("version", "--json").json["version"] == version


def test_version_as_json_says_what_the_program_was_built_from(offline):
    built = offline.ok("version", "--json").json
    assert list(built) == ["version", "commit", "compiler", "flags", "libraries"]
    assert built["commit"] is None or re.fullmatch(r"[0-9a-f]{12}\+?", built["commit"])
    assert "-O" in built["flags"] and built["compiler"]
    assert set(built["libraries"]) == {"libcurl", "libuv", "llhttp", "openssl", "simdjson", "sqlite", "utf8proc"}
    for name, version in built["libraries"].items():
        assert re.fullmatch(r"\d+(\.\d+)+\S*", version), name


# --- Usage errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args, message",
    [
        (["stroe"], 'unknown command "stroe"; did you mean "store"?'),
        (["xyzzyxyzzy"], 'unknown command "xyzzyxyzzy"'),
        (["--json", "list"], "options of a command stand after its name"),
        (["help", "serach"], 'did you mean "search"?\nTry: spine --help'),
        (["help", "xyzzyxyzzy"], 'unknown command "xyzzyxyzzy"\nTry: spine --help'),
        (["store", "x", "--impotance", "high"], "unknown option --impotance; did you mean --importance?"),
        (["store", "x", "-i", "urgent"], '-i is "urgent"; expected one of low, medium, high, critical'),
        (["store", "x", "y"], "too many arguments; usage: spine store [options] [TEXT|-]"),
        (["store", ""], "there is no text to store"),
        (["store", "x", "--metadata", "[1]"], "--metadata is an array; expected an object"),
        (["store", "x", "--metadata", "{"], "--metadata is not JSON"),
        (["store", "x", "--ttl", "0"], '--ttl is "0"; expected a duration from 1s'),
        (["store", b"\xff"], "the text is not UTF-8"),
        (["get"], "get needs more arguments; usage: spine get [options] ID[@VERSION]..."),
        (["search"], "needs more arguments"),
        (["search", "x", "-n", "1001"], "expected a whole number from 1 to 1000"),
        (["search", "x", "--after", "yesterday"], '--after is "yesterday"; expected a time'),
        (["search", "x", "--metadata", "novalue"], "expected KEY=VALUE"),
        (["list", "--state", "dead"], "expected one of active, superseded, expired, any"),
        (["update", "ms-1", "--clear", "id"], '--clear is "id"; expected one of'),
        (["update", "ms-1", "x", "--if-version", "0"], "--if-version"),
        (["revert", "ms-1"], "expected an id and a version"),
        (["revert", "ms-1@2", "2"], "expected an id and a version"),
        (["forget", "ms-1"], "confirm it with --yes"),
        (["completion", "tcsh"], "expected one of bash, zsh, fish"),
        (["tokens", "--tokenizer", "p50k"], "expected one of o200k_base, cl100k_base, estimate"),
        (["list", "--url", "8788"], "expected http://HOST:PORT"),
        (["list", "--agent", "a\nb"], "control characters"),
        (["serve", "--max-body", "2m", "--max-body-total", "1m"], "--max-body-total is smaller than --max-body"),
        (["serve", "--max-header", "1"], "expected a size from 1k to 16m"),
    ],
    ids=lambda value: None if isinstance(value, str) else " ".join(v if isinstance(v, str) else "bytes" for v in value),
)
def test_a_wrong_command_line_is_refused_with_what_was_expected(offline, args, message):
    done = subprocess.run(
        [str(binary()), *args], stdin=subprocess.DEVNULL, capture_output=True, env=offline.env(), timeout=60
    )
    err = done.stderr.decode()
    assert done.returncode == USAGE, err
    assert done.stdout == b""
    assert message in err
    assert err.startswith("spine: ") and err.count("\n") <= 2


def test_what_was_typed_cannot_write_to_the_terminal(offline):
    result = offline("\x1b[2Jstore")
    assert result.code == USAGE
    assert "\x1b" not in result.err and "\\x1b[2Jstore" in result.err


# --- Options, environment, configuration ----------------------------------------------------------------


def config_at(home, text):
    path = home / ".config" / "memory-spine" / "config"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_options_go_before_environment_before_configuration(server, tmp_path):
    bare = Cli(tmp_path)
    config_at(tmp_path, f"url = {server.url}  # where it listens\nagent = from-file\nspace = order-file\n")
    assert read(bare, stored(bare, "one"))["agent"] == "from-file"
    env = {"SPINE_AGENT": "from-env"}
    by_env = bare.ok("store", "two", "--json", env=env).json
    assert by_env["agent"] == "from-env"
    by_arg = bare.ok("store", "three", "--json", "--agent", "from-arg", env=env).json
    assert by_arg["agent"] == "from-arg"
    assert bare.ok("list", "--json", env={"SPINE_SPACE": "order-other"}).json["memories"] == []
    assert len(bare.ok("list", "--json").json["memories"]) == 3


@pytest.mark.parametrize(
    "text, message",
    [
        ("timeout = soon\n", ":1: timeout is \"soon\"; expected a duration"),
        ("\n\nmax_bdoy = 8m\n", ":3: unknown key \"max_bdoy\"; did you mean \"max_body\"?"),
        ("max_body = 1\n", ":1: max_body is \"1\"; expected a size from 1k to 1g"),
        ("agent\n", ":1: expected \"key = value\""),
        ("agent = a\nagent = b\n", ":2: agent was given already, in line 1"),
    ],
)
def test_a_mistake_in_the_configuration_is_named(offline, text, message):
    path = config_at(offline.home, text)
    result = offline("list")
    assert result.code == USAGE
    assert str(path) + message in result.err


def test_a_configuration_that_was_named_must_exist(offline):
    result = offline("list", "--config", "/nonexistent/config")
    assert result.code == USAGE
    assert "cannot read /nonexistent/config: No such file" in result.err


def test_the_configuration_directory_follows_xdg(offline):
    (offline.home / "xdg" / "memory-spine").mkdir(parents=True)
    (offline.home / "xdg" / "memory-spine" / "config").write_text("nonsense = 1\n")
    assert offline("list").code == UNREACHABLE
    assert offline("list", env={"XDG_CONFIG_HOME": str(offline.home / "xdg")}).code == USAGE


def test_a_bad_variable_is_named(offline):
    result = offline("list", env={"SPINE_TIMEOUT": "soon"})
    assert result.code == USAGE
    assert 'the environment variable SPINE_TIMEOUT is "soon"; expected a duration' in result.err


def test_serve_reads_its_configuration(tmp_path):
    config = tmp_path / "config"
    config.write_text("max_batch = 2\nlog_level = debug\n")
    server = Server(tmp_path / "data", "--config", str(config)).wait_until_ready()
    try:
        spine = Cli(tmp_path, SPINE_URL=server.url)
        lines = "".join(json.dumps({"content": f"text {n}"}) + "\n" for n in range(3))
        result = spine("import", stdin=lines)
        assert result.code == FAILED
        assert "2" in result.err
        assert spine.ok("import", "--batch", "2", stdin=lines).out == "imported 3 memories\n"
    finally:
        assert server.terminate() == 0


# --- The server is not there, or is another --------------------------------------------------------------


@pytest.mark.parametrize(
    "args",
    [["status"], ["store", "x"], ["search", "x"], ["get", "ms-1"], ["export"], ["pin", "ms-1"]],
    ids=lambda a: a[0],
)
def test_without_a_server_it_says_how_to_start_it(offline, args):
    result = offline(*args)
    url = offline.environment["SPINE_URL"]
    assert result.code == UNREACHABLE
    assert result.out == ""
    assert result.err == f"spine: cannot reach {url} (connection refused). Start it with: spine serve\n"


def test_without_a_server_json_is_a_problem(offline):
    result = offline("status", "--json")
    assert result.code == UNREACHABLE
    assert result.json["code"] == "unreachable"
    assert result.json["retryable"] is True
    assert "cannot reach" in result.err


def test_an_import_without_a_server_says_so(offline):
    result = offline("import", stdin='{"content":"x"}\n')
    assert result.code == UNREACHABLE
    assert "cannot reach" in result.err


STORED = {"id": "ms-1", "version": 1}
def test_a_server_at_another_address_is_pointed_out(offline, start, tmp_path):
    server = start().wait_until_ready()
    hint = f"listens on {server.url}: export SPINE_URL={server.url}, or give --url {server.url}"
    config = tmp_path / "its-config"
    config.write_text(f"data = {server.data}\n")
    for cli in (lambda *args: offline(*args, env={"SPINE_DATA": str(server.data)}),
                lambda *args: offline(*args, "--config", config)):
        result = cli("status")
        assert result.code == UNREACHABLE
        assert f"cannot reach {offline.environment['SPINE_URL']}" in result.err
        assert result.err.endswith(f"The server of {server.data} {hint}\n") and "Start it" not in result.err
        result = cli("serve", "--listen", "127.0.0.1:0")
        assert result.code == FAILED
        assert f"is using the data directory {server.data}\nIt {hint}\n" in result.err
    (tmp_path / "server.json").write_text('{"pid":999999999,"url":"http://127.0.0.1:1","version":"0"}')
    for data in (tmp_path, tmp_path / "nothing"):
        assert "Start it with: spine serve" in offline("status", env={"SPINE_DATA": str(data)}).err


BUSY = {"status": 503, "code": "overloaded", "detail": "too many writes are waiting", "retryable": True}


def test_a_store_whose_answer_was_lost_is_repeated_with_the_same_key(tmp_path):
    with Fake(hang_up, answer(201, STORED)) as fake:
        assert Cli(tmp_path, SPINE_URL=fake.url).ok("store", "x").out == "ms-1\n"
        keys = [headers["Idempotency-Key"] for _, _, headers, _ in fake.requests]
        assert len(keys) == 2 and keys[0] == keys[1] and len(keys[0]) >= 16
        assert fake.requests[0][3] == fake.requests[1][3]


def test_two_stores_have_different_keys(tmp_path):
    with Fake(answer(201, STORED), answer(201, STORED)) as fake:
        spine = Cli(tmp_path, SPINE_URL=fake.url)
        spine.ok("store", "x")
        spine.ok("store", "x")
        assert fake.requests[0][2]["Idempotency-Key"] != fake.requests[1][2]["Idempotency-Key"]


def test_a_busy_server_is_asked_again(tmp_path):
    with Fake(answer(503, BUSY, Retry_After="0"), answer(201, STORED)) as fake:
        assert Cli(tmp_path, SPINE_URL=fake.url).ok("store", "x").out == "ms-1\n"


def test_a_connection_that_is_lost_again_and_again_is_given_up(tmp_path):
    with Fake(*[hang_up] * 5) as fake:
        assert Cli(tmp_path, SPINE_URL=fake.url)("store", "x").code == UNREACHABLE
        assert len(fake.requests) == 4


def test_a_revert_is_never_repeated(tmp_path):
    with Fake(hang_up, answer(200, STORED)) as fake:
        result = Cli(tmp_path, SPINE_URL=fake.url)("revert", "ms-1", "1")
        assert result.code == UNREACHABLE
        assert len(fake.requests) == 1


def test_an_update_of_a_version_is_never_repeated(tmp_path):
    with Fake(hang_up, answer(200, STORED)) as fake:
        assert Cli(tmp_path, SPINE_URL=fake.url)("update", "ms-1", "x", "--if-version", "1").code == UNREACHABLE
        assert [headers["If-Match"] for _, _, headers, _ in fake.requests] == ['"ms-1@1"']


def test_redirects_are_not_followed(tmp_path):
    with Fake(answer(302, b"", Location="http://127.0.0.1:1/")) as fake:
        result = Cli(tmp_path, SPINE_URL=fake.url)("list")
        assert result.code == FAILED
        assert "HTTP status 302" in result.err


@pytest.mark.parametrize("body", [b"<html>hello</html>", b"", b'{"memories":'])
def test_another_server_is_recognised(tmp_path, body):
    with Fake(answer(200, body)) as fake:
        result = Cli(tmp_path, SPINE_URL=fake.url)("list")
        assert result.code == FAILED
        assert "not the JSON of a Memory Spine server" in result.err


def test_answers_of_an_unexpected_shape_do_no_harm(tmp_path):
    odd = {"memories": [1, None, {"id": 5, "tags": {}}], "versions": 7, "missing": [3]}
    with Fake(*[answer(200, odd)] * 5) as fake:
        spine = Cli(tmp_path, SPINE_URL=fake.url)
        for args in (["list"], ["search", "x"], ["get", "ms-1"], ["versions", "ms-1"], ["store", "x"]):
            assert spine(*args).code in (OK, NOT_FOUND)


def test_a_server_that_does_not_answer_is_given_up(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        began = time.monotonic()
        result = Cli(tmp_path, SPINE_URL=url)("list", "--timeout", "200ms")
        assert result.code == UNREACHABLE
        assert "did not answer within 200 ms; --timeout gives it longer" in result.err
        assert time.monotonic() - began < 20


def test_proxies_are_not_used_for_a_local_server(spine):
    env = {name: "http://127.0.0.1:1" for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")}
    assert spine("list", env=env).code == OK


def test_the_agent_and_the_space_are_sent(tmp_path):
    with Fake(answer(200, {"memories": []})) as fake:
        Cli(tmp_path, SPINE_URL=fake.url).ok("list", "--space", "s", "--agent", "grün")
        headers = fake.requests[0][2]
        assert headers["Spine-Space"] == "s"
        assert headers["Spine-Agent"].encode("latin-1").decode() == "grün"


# --- Terminals -------------------------------------------------------------------------------------------

EVIL = "evil\x1b]0;title\x07 \x1b[2J\u009b31m \u202etxt.exe \x00".replace("\x00", "\x7f")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def test_colours_are_for_terminals_alone(spine):
    stored(spine, "text")
    assert "\x1b" not in spine.ok("list").out
    code, text = spine.on_terminal("list")
    assert code == OK and COLOUR.search(text)
    assert "\x1b" not in spine.on_terminal("list", env={"NO_COLOR": "1"})[1]
    assert COLOUR.search(spine.on_terminal("list", env={"NO_COLOR": ""})[1])
    assert "\x1b" not in spine.on_terminal("list", env={"TERM": "dumb"})[1]


@pytest.mark.parametrize(
    "line",
    ["list", "search evil", "get ms-1", "get --raw ms-1", "get --json ms-1", "export", "versions ms-1", "list --json",
     "search evil --explain"],
)
def test_stored_text_cannot_control_the_terminal(spine, line):
    stored(spine, EVIL, "--tag", "t\u202eg", "--summary", EVIL, "--metadata", json.dumps({"k": EVIL}))
    code, text = spine.on_terminal(*line.split(), env={"NO_COLOR": "1"})
    assert code == OK
    assert "evil" in text
    for character in text:
        assert character in "\n\t" or (ord(character) >= 0x20 and not 0x7F <= ord(character) < 0xA0), repr(text)
        assert character not in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", repr(text)


def test_json_on_a_terminal_has_the_same_value(spine):
    stored(spine, EVIL)
    code, text = spine.on_terminal("get", "--json", "ms-1")
    assert code == OK
    assert json.loads(text)["memories"][0]["content"] == EVIL


def test_errors_of_the_server_cannot_control_the_terminal(tmp_path):
    problem = {"status": 422, "code": "x", "detail": "bad \x1b[2J", "field": "\x1b[31m"}
    with Fake(answer(422, problem)) as fake:
        result = Cli(tmp_path, SPINE_URL=fake.url)("list")
        assert result.code == FAILED
        assert "\x1b" not in result.err and "bad \\x1b[2J" in result.err


def test_a_person_at_a_terminal_is_told_that_it_waits(spine):
    code, text = spine.on_terminal("store", typed="typed text\n\x04")
    assert code == OK
    assert "Ctrl-D" in text
    assert read(spine, "ms-1")["content"] == "typed text"


def test_a_full_disk_behind_the_output_is_a_failure(spine):
    stored(spine, "x")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [str(binary()), "list", "--json"], stdout=full, stderr=subprocess.PIPE, env=spine.env(), timeout=60
        )
    assert done.returncode == FAILED
    assert b"cannot write to standard output" in done.stderr


# --- Status ----------------------------------------------------------------------------------------------


def test_status_says_that_it_is_ready(spine):
    text = spine.ok("status").out
    assert text.startswith(f"{spine.environment['SPINE_URL']}: ready\n")
    version = (ROOT / "VERSION").read_text().strip()
    assert re.search(rf"^version +{re.escape(version)}$", text, re.M)
    assert spine.ok("status", "--json").json["version"] == version


def test_status_is_in_words_for_people(spine):
    text = spine.ok("status").out.partition("\n\n")[0]
    assert re.search(r"^requests under way +1$", text, re.M) and re.search(r"^spans +sent nowhere", text, re.M)
    assert "_" not in re.sub(r"^(data directory|space) .*$", "", text, flags=re.M) and "null" not in text


def test_the_space_is_shown_and_its_guard_set(spine):
    assert re.search(r"^guard +off$", spine.ok("space").out, re.M)
    stored(spine, "one")
    space = spine.ok("space", "--guard", "redact", "--json").json
    assert (space["name"], space["guard"], space["memories"]) == (spine.environment["SPINE_SPACE"], "redact", 1)
    assert spine.ok("space", "--json").json == space
    text = spine.ok("space", "-g", "refuse").out
    assert re.search(r"^guard +refuse$", text, re.M) and re.search(r"^memories +1$", text, re.M)
    assert spine.ok("space", "--space", "another-one", "--json").json["guard"] == "off"
    secret = spine("handoff", "b", "use AKIAIOSFODNN7EXAMPLE and sk_live_4eC39HqLyjWDarjtT1zdp7dc")
    assert secret.code == FAILED and "credential" in secret.err


def test_a_space_is_deleted_where_its_name_is_confirmed(spine):
    name = spine.environment["SPINE_SPACE"]
    stored(spine, "one")
    refused = spine("space", "delete", name)
    assert refused.code == USAGE and "--yes" in refused.err
    assert spine("space", "delete").code == USAGE and spine("space", "delete", name, "--guard", "off", "--yes").code == USAGE
    assert spine.ok("space", "--json").json["memories"] == 1
    assert f"deleted the space {name}: 1 memories" in spine.ok("space", "delete", name, "--yes").err
    assert spine.ok("space", "--json").json["memories"] == 0
    assert spine("space", "delete", name, "--yes").code == NOT_FOUND


def test_how_long_a_space_keeps_things_is_set_and_leaves_the_rest(spine):
    spine.ok("space", "--guard", "redact")
    space = spine.ok("space", "--keep", "90d", "--json").json
    assert (space["guard"], space["keep_handoffs_s"], space["keep_events_s"]) == ("redact", 7776000, 7776000)
    assert space["keeps"] == {"handoffs_s": 7776000, "events_s": 7776000, "idle_s": None}
    name = spine.environment["SPINE_SPACE"]
    space = spine.ok("space", name, "--keep-events", "forever", "--keep-handoffs", "server", "--json").json
    assert (space["keep_handoffs_s"], space["keep_events_s"], space["keeps"]["events_s"]) == (None, 0, None)
    space = spine.ok("space", "--keep-idle", "30d", "--json").json
    assert (space["keep_idle_s"], space["keeps"]["idle_s"], space["keep_events_s"]) == (2592000, 2592000, 0)
    assert spine.ok("space", "--keep-idle", "forever", "--json").json["keep_idle_s"] == 0
    assert spine.ok("space", "--keep-idle", "server", "--json").json["keep_idle_s"] is None
    for wrong in ("soon", "0.5s", "-1"):
        assert spine("space", "--keep=" + wrong).code == USAGE and spine("space", "--keep-idle=" + wrong).code == USAGE


def test_a_wrong_guard_is_a_mistake_of_usage_and_changes_nothing(spine):
    result = spine("space", "--guard", "strict")
    assert result.code == USAGE and "off, redact" in result.err
    assert spine.ok("space", "--json").json["guard"] == "off"


def test_status_of_a_server_that_is_not_ready_is_a_failure(tmp_path):
    for reason, code in (("draining", UNREACHABLE), ("store_failed", DAMAGED)):
        not_ready = {"status": 503, "code": reason, "detail": "no", "reason": reason}
        with Fake(answer(503, not_ready), answer(200, {"version": "1"})) as fake:
            result = Cli(tmp_path, SPINE_URL=fake.url)("status")
            assert result.code == code
            assert f"not ready: {reason}" in result.err


# --- Tokens ----------------------------------------------------------------------------------------------


def test_tokens_are_counted_without_a_server(offline):
    (offline.home / "a.txt").write_text("hello world")
    (offline.home / "b.txt").write_text("hello world hello world")
    assert offline.ok("tokens", "a.txt").out == "2  a.txt\n"
    assert offline.ok("tokens", stdin="hello world").out == "2\n"
    assert offline.ok("tokens", "-", stdin="hello world").out == "2  -\n"
    assert offline.ok("tokens", "a.txt", "b.txt").out == "2  a.txt\n4  b.txt\n6  total\n"
    document = offline.ok("tokens", "a.txt", "b.txt", "--json").json
    assert document == {
        "files": [{"file": "a.txt", "tokens": 2}, {"file": "b.txt", "tokens": 4}],
        "tokens": 6, "tokenizer": "o200k_base", "estimate": False,
    }
    assert offline.ok("tokens", "a.txt", "--tokenizer", "estimate", "--json").json["estimate"] is True


def test_tokens_of_any_bytes(offline):
    (offline.home / "bytes").write_bytes(bytes(range(256)) * 10)
    assert int(offline.ok("tokens", "bytes").out.split()[0]) > 0
    (offline.home / "empty").write_bytes(b"")
    assert offline.ok("tokens", "empty").out == "0  empty\n"


def test_a_file_that_cannot_be_read_does_not_stop_the_others(offline):
    (offline.home / "a.txt").write_text("hello world")
    result = offline("tokens", "missing.txt", "a.txt")
    assert result.code == FAILED
    assert result.out == "2  a.txt\n"
    assert "cannot read missing.txt: No such file" in result.err


# --- Generated: manual page, completions, examples -----------------------------------------------------------


GENERATED = [
    (["help", "--man"], "man/spine.1"),
    (["completion", "bash"], "completions/spine.bash"),
    (["completion", "zsh"], "completions/_spine"),
    (["completion", "fish"], "completions/spine.fish"),
    (["help", "--markdown"], "docs/cli.md"),
]


@pytest.mark.parametrize("args, path", GENERATED, ids=lambda value: value if isinstance(value, str) else None)
def test_what_is_generated_is_current(offline, args, path):
    expected = offline.ok(*args).out
    assert (ROOT / path).read_text() == expected, f"make it again: build/spine {' '.join(args)} > {path}"


@pytest.mark.skipif(not have("mandoc"), reason="mandoc is not installed")
def test_the_manual_page_is_clean():
    done = subprocess.run(["mandoc", "-Tlint", "-Wstyle", str(ROOT / "man/spine.1")], capture_output=True, text=True)
    # Which other manuals are installed says nothing about this one.
    complaints = [line for line in done.stdout.splitlines() if "lacks" not in line and "referenced manual not found" not in line]
    assert complaints == []


def test_the_manual_page_names_every_option_and_variable(offline):
    page = (ROOT / "man/spine.1").read_text().replace("\\-", "-")
    text = "".join(offline.ok(name, "--help").out for name in COMMANDS)
    for option in set(re.findall(r"--[a-z-]+", text)):
        assert option[1:] in page, option
    for variable in set(re.findall(r"\[(SPINE_[A-Z_]+)\]", text)):
        assert f".It Ev {variable}\n" in page, variable


def complete(words):
    """What bash offers for the last of the words."""
    script = f"""
        source {ROOT}/completions/spine.bash
        COMP_WORDS=({' '.join(words)} "${{LAST-}}"); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
        _spine; printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    *_, last = words
    done = subprocess.run(
        ["bash", "-c", script.replace(' "${LAST-}"', "")], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stderr == ""
    return set(done.stdout.split())


def test_bash_completes_commands_options_and_values():
    assert complete(["spine", "st"]) == {"store", "status"}
    assert {"search", "send", "serve", "setup"} == complete(["spine", "se"])
    assert complete(["spine", "store", "--im"]) == {"--importance"}
    assert complete(["spine", "store", "--importance", "h"]) == {"high"}
    assert complete(["spine", "store", "-i", "c"]) == {"critical"}
    assert complete(["spine", "completion", "z"]) == {"zsh"}
    assert complete(["spine", "help", "un"]) == {"unpin"}
    assert complete(["spine", "import", "VERS"]) == {"VERSION"}
    assert complete(["spine", "serve", "--data", "doc"]) == {"docs"}


@pytest.mark.parametrize("shell, path", [("zsh", "completions/_spine"), ("fish", "completions/spine.fish")])
def test_other_shells_can_read_their_completion(shell, path):
    if not have(shell):
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run([shell, "-n", str(ROOT / path)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not have("fish"), reason="fish is not installed")
def test_fish_completes_commands_options_and_values():
    def offered(line):
        script = f"source {ROOT}/completions/spine.fish; complete -C '{line}'"
        done = subprocess.run(
            ["fish", "--no-config", "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
        )
        return {row.split("\t")[0] for row in done.stdout.splitlines()}

    assert offered("spine st") == {"store", "status"}
    assert offered("spine store --im") == {"--importance"}
    assert offered("spine store --importance h") == {"high"}
    assert offered("spine completion ") == {"bash", "zsh", "fish"}


def examples(text):
    block = text.split("Examples:\n")[1].split("\n\n")[0]
    return [line.strip() for line in block.splitlines()]


def test_the_examples_of_the_help_work(server, spine, tmp_path):
    """One after the other, as a person would try them."""
    bin_dir = tmp_path / "bin"
    bin_dir.mkdir()
    (bin_dir / "spine").symlink_to(binary())
    env = spine.env({"PATH": f"{bin_dir}:{os.environ['PATH']}", "SPINE_DATA": str(server.data)})
    (tmp_path / "work").mkdir()
    order = ("store search list get update versions revert pin unpin export import tokens backup restore check status doctor bench space "
             "completion help version forget").split()
    assert set(order) == set(COMMANDS) - {"serve"}
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path / "work", check=True)
    subprocess.run(
        "git -c user.name=n -c user.email=e@example.org commit -q --allow-empty -m decision".split(),
        cwd=tmp_path / "work", check=True,
    )
    for name in order:
        if stores.SERVER and name in ("backup", "restore", "check"):
            continue    # they work on the files of the embedded store
        for line in examples(spine.ok(name, "--help").out):
            if "jq" in line and not have("jq"):
                continue
            done = subprocess.run(
                ["bash", "-o", "pipefail", "-c", line], cwd=tmp_path / "work", env=env, capture_output=True, text=True,
                stdin=subprocess.DEVNULL, timeout=60,
            )
            assert done.returncode == OK, f"{line}\n{done.stdout}{done.stderr}"
