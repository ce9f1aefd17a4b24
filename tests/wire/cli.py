"""What the tests of the command line share: running it, with or without a server, on a terminal, or against one that
misbehaves. The exit codes are those of `spine --help`."""

import fcntl
import http.server
import json
import os
import pty
import re
import select
import socket
import struct
import subprocess
import sys
import termios
import threading
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from server import binary, clean_environment  # noqa: E402

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

    def on_terminal(self, *args, typed="", env=None, columns=80):
        """Runs it on a terminal; returns the exit code and everything that was printed."""
        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
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


class Fake(http.server.ThreadingHTTPServer):
    """A server that misbehaves: answers come from a list of functions, one for each request."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests = []
        super().__init__(("127.0.0.1", 0), FakeHandler)
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

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

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

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


def have(program):
    return subprocess.run(["sh", "-c", f"command -v {program}"], capture_output=True).returncode == 0
