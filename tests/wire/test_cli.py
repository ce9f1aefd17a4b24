"""The command line, against the real server: what each command does, prints and returns.

Standard output carries results, standard error sentences; --json prints exactly one document. The exit codes are those of
`spine --help`: 0 done, 1 refused, 2 usage, 3 not found, 4 conflict, 5 unreachable, 6 damaged.
"""

import http.server
import json
import os
import pty
import re
import select
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from server import ROOT, Server, binary, clean_environment  # noqa: E402

OK, FAILED, USAGE, NOT_FOUND, CONFLICT, UNREACHABLE, DAMAGED = range(7)


class Result:
    def __init__(self, code, out, err):
        self.code = code
        self.out = out
        self.err = err

    @property
    def json(self):
        """The one document on standard output."""
        assert self.out.endswith("\n") and self.out.count("\n") == 1, self.out
        return json.loads(self.out)


class Cli:
    """Runs the binary with a home of its own, and the environment of nobody."""

    def __init__(self, home, **environment):
        self.home = home
        self.environment = environment

    def env(self, extra=None):
        env = clean_environment(HOME=str(self.home), **self.environment)
        for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "COLUMNS", "NO_COLOR"):
            env.pop(name, None)
        env.update(extra or {})
        return env

    def __call__(self, *args, stdin="", env=None, cwd=None):
        done = subprocess.run(
            [str(binary()), *map(str, args)],
            input=stdin if isinstance(stdin, bytes) else stdin.encode(),
            capture_output=True,
            env=self.env(env),
            cwd=cwd or self.home,
            timeout=60,
        )
        assert b"Sanitizer" not in done.stderr, done.stderr.decode()
        return Result(done.returncode, done.stdout.decode("utf-8", "surrogateescape"), done.stderr.decode())

    def ok(self, *args, **kwargs):
        result = self(*args, **kwargs)
        assert result.code == OK, result.err
        return result

    def on_terminal(self, *args, typed="", env=None):
        """Runs it on a terminal of 80 columns; returns the exit code and everything that was printed."""
        leader, follower = pty.openpty()
        import fcntl
        import struct
        import termios

        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        environment = self.env({"TERM": "xterm", **(env or {})})
        process = subprocess.Popen(
            [str(binary()), *args], stdin=follower, stdout=follower, stderr=follower, env=environment, cwd=self.home
        )
        os.close(follower)
        os.write(leader, typed.encode())
        output = b""
        while True:
            ready, _, _ = select.select([leader], [], [], 60)
            assert ready, "nothing more came from the terminal"
            try:
                chunk = os.read(leader, 65536)
            except OSError:  # the other side was closed
                break
            if not chunk:
                break
            output += chunk
        os.close(leader)
        return process.wait(60), output.decode("utf-8", "surrogateescape").replace("\r\n", "\n")


@pytest.fixture
def offline(tmp_path):
    """Without a server: nothing listens at its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return Cli(tmp_path, SPINE_URL=f"http://127.0.0.1:{port}")


@pytest.fixture
def spine(server, tmp_path, request):
    """In a space of the test's own."""
    space = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower())[:60].strip("-")
    return Cli(tmp_path, SPINE_URL=server.url, SPINE_SPACE=space)


def stored(spine, *args, **kwargs):
    return spine.ok("store", *args, **kwargs).out.strip()


def read(spine, memory_id):
    return spine.ok("get", "--json", memory_id).json["memories"][0]


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
    "serve store search get pin unpin update revert versions list forget status tokens backup restore check export import "
    "completion help version"
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
    assert offline.ok("version", "--json").json == {"version": version}


# --- Usage errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args, message",
    [
        (["stroe"], 'unknown command "stroe"; did you mean "store"?'),
        (["xyzzyxyzzy"], 'unknown command "xyzzyxyzzy"'),
        (["--json", "list"], "options of a command stand after its name"),
        (["help", "serach"], 'did you mean "search"?'),
        (["store", "x", "--impotance", "high"], "unknown option --impotance; did you mean --importance?"),
        (["store", "x", "--importance", "urgent"], '--importance is "urgent"; expected one of low, medium, high, critical'),
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
    "args", [["status"], ["store", "x"], ["search", "x"], ["get", "ms-1"], ["export"], ["pin", "ms-1"]], ids=lambda a: a[0]
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


class Fake(http.server.ThreadingHTTPServer):
    """A server that misbehaves: answers come from a list of functions, one for each request."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests = []
        super().__init__(("127.0.0.1", 0), FakeHandler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def __exit__(self, *args):
        self.shutdown()
        super().__exit__(*args)


class FakeHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.requests.append((self.command, self.path, dict(self.headers), body))
        self.server.answers.pop(0)(self)

    do_GET = do_POST = do_PATCH = do_DELETE = answer

    def reply(self, status, document, **headers):
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def hang_up(handler):
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def answer(status, document, **headers):
    return lambda handler: handler.reply(status, document, **headers)


STORED = {"id": "ms-1", "version": 1}
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


def test_a_server_that_stays_busy_is_given_up(tmp_path):
    with Fake(*[answer(503, BUSY, Retry_After="0")] * 4) as fake:
        result = Cli(tmp_path, SPINE_URL=fake.url)("store", "x")
        assert result.code == UNREACHABLE
        assert "too many writes are waiting" in result.err
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
    with Fake(*[answer(200, {"memories": [1, None, {"id": 5, "tags": {}}], "versions": 7, "missing": [3]})] * 5) as fake:
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


# --- Store, get ----------------------------------------------------------------------------------------


def test_store_prints_the_id_alone(spine):
    assert spine.ok("store", "first").out == "ms-1\n"
    assert spine.ok("store", "second").out == "ms-2\n"


def test_store_sends_every_field(spine):
    spine.ok("store", "old")
    memory = spine.ok(
        "store", "text", "--json", "--kind", "fact", "--tag", "a", "-t", "b", "--importance", "high", "--task", "t-1", "--pin",
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


def test_get_of_what_is_no_id_is_refused(spine):
    result = spine("get", "nonsense")
    assert result.code == FAILED
    assert "expected" in result.err


# --- Search, list ----------------------------------------------------------------------------------------


def test_search_finds_the_best_first(spine):
    stored(spine, "the gateway retries twice")
    stored(spine, "nothing to see")
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
    assert re.search(r"text [0-9.]+ × \(1 \+ importance 0\.10", spine.ok("search", "retry", "--explain").out)


def test_a_search_without_results_is_no_failure(spine):
    result = spine.ok("search", "nothing")
    assert (result.out, result.err) == ("", "")


def test_filters_are_sent(spine):
    stored(spine, "word a", "--tag", "x", "--tag", "y", "--kind", "fact", "--agent", "ada", "--task", "t-1", "--importance", "high")
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
    lines = spine.ok("list", env={"COLUMNS": "70"}).out.splitlines()
    assert len(lines) == 3
    column = lines[0].index("TEXT")
    assert lines[1][column:].startswith("a very long text with lines")
    assert lines[2][column:] == "short"
    assert all(len(line) <= 70 for line in lines)
    assert lines[1].endswith("…")


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
    assert spine("revert", "ms-1", "99").code == NOT_FOUND
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
    "args", [["list"], ["search", "evil"], ["get", "ms-1"], ["get", "--raw", "ms-1"], ["get", "--json", "ms-1"], ["export"],
             ["versions", "ms-1"], ["list", "--json"], ["search", "evil", "--explain"]], ids=" ".join
)
def test_stored_text_cannot_control_the_terminal(spine, args):
    stored(spine, EVIL, "--tag", EVIL, "--summary", EVIL, "--metadata", json.dumps({"k": EVIL}))
    code, text = spine.on_terminal(*args, env={"NO_COLOR": "1"})
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


def test_status_of_a_server_that_is_not_ready_is_a_failure(tmp_path):
    for reason, code in (("draining", UNREACHABLE), ("store_failed", DAMAGED)):
        not_ready = {"status": 503, "code": reason, "detail": "no", "reason": reason}
        with Fake(answer(200, {"version": "1"}), answer(503, not_ready)) as fake:
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


# --- Backup, restore, check --------------------------------------------------------------------------------


def test_a_backup_beside_the_running_server_can_be_restored(server, spine, tmp_path):
    stored(spine, "precious")
    backup = tmp_path / "backup.db"
    spine.ok("backup", backup, "--data", server.data)
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


def test_what_is_no_backup_is_not_restored(offline):
    (offline.home / "junk").write_bytes(b"junk" * 1000)
    assert offline("restore", "junk", "--data", offline.home / "data").code == FAILED
    assert offline("restore", "missing", "--data", offline.home / "data").code == FAILED


def test_check_beside_the_running_server(server, spine):
    stored(spine, "one")
    assert spine.ok("check", "--data", server.data).out.endswith(": all well\n")
    document = spine.ok("check", "--data", server.data, "--json").json
    assert document["ok"] is True and document["problems"] == [] and document["memories"] >= 1


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


def test_check_of_nothing_is_a_failure(offline):
    result = offline("check", "--data", offline.home / "nothing")
    assert result.code == FAILED
    assert result.err.startswith("spine: ")


# --- Export, import ----------------------------------------------------------------------------------------


def exported(spine, *args):
    return [json.loads(line) for line in spine.ok("export", *args).out.splitlines()]


def kept(memory):
    """What an import preserves."""
    names = "id content summary kind tags importance agent task pinned trust metadata expires_at supersedes created_at state digest"
    return {name: memory[name] for name in names.split()}


def fill(spine):
    """Memories of every kind, two of them superseded, one expired in the past."""
    stored(spine, "plain")
    stored(spine, "everything\x1b\u202e\n", "--kind", "fact", "--tag", "b", "--tag", "a", "--importance", "critical", "--task", "t",
           "--pin", "--summary", "s", "--trust", "external", "--metadata", '{"n":1.5,"deep":{"x":[1,null,true]}}', "--agent", "ada")
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
    spine.ok("import", stdin=lines, env=copy)
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


def test_what_stands_before_a_bad_batch_is_stored(spine):
    text = "".join(json.dumps({"content": f"text {n}"}) + "\n" for n in range(4)) + "junk\n"
    result = spine("import", "--batch", "2", stdin=text)
    assert result.code == FAILED
    assert "line 5: " in result.err and "memories before it are stored" in result.err
    fixed = spine.ok("import", "--batch", "2", "--json", stdin=text.replace("junk", '{"content":"text 4"}')).json
    assert fixed["imported"] == 5
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
    assert text.endswith("imported 600 memories\n")


def test_unknown_fields_are_warned_about(spine):
    result = spine.ok("import", stdin='{"content":"x","colour":"red"}\n')
    assert "warning" in result.err and "colour" in result.err


def test_a_missing_file_is_named(spine):
    result = spine("import", "missing.jsonl")
    assert result.code == FAILED
    assert "cannot read missing.jsonl: No such file" in result.err


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


def have(program):
    return subprocess.run(["sh", "-c", f"command -v {program}"], capture_output=True).returncode == 0


@pytest.mark.skipif(not have("mandoc"), reason="mandoc is not installed")
def test_the_manual_page_is_clean():
    done = subprocess.run(["mandoc", "-Tlint", "-Wstyle", str(ROOT / "man/spine.1")], capture_output=True, text=True)
    complaints = [line for line in done.stdout.splitlines() if "lacks" not in line]
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
    assert {"search", "serve"} == complete(["spine", "se"])
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
    order = ("store search list get update versions revert pin unpin export import tokens backup restore check status "
             "completion help version forget").split()
    assert set(order) == set(COMMANDS) - {"serve"}
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path / "work", check=True)
    subprocess.run(
        ["git", "-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "-q", "--allow-empty", "-m", "a decision"],
        cwd=tmp_path / "work", check=True,
    )
    for name in order:
        for line in examples(spine.ok(name, "--help").out):
            if "jq" in line and not have("jq"):
                continue
            done = subprocess.run(
                ["bash", "-o", "pipefail", "-c", line], cwd=tmp_path / "work", env=env, capture_output=True, text=True,
                stdin=subprocess.DEVNULL, timeout=60,
            )
            assert done.returncode == OK, f"{line}\n{done.stdout}{done.stderr}"
