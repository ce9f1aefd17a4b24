"""The server's life: how it starts, what it refuses, how it stops, and what is left."""

import json
import os
import signal
import socket
import stat
import subprocess
import threading
from pathlib import Path

import pytest
from api import TIMEOUT_S, Api, parse_raw, read_all, wait_until
from certificates import wanted
from database import connect as open_database
from server import Server, StartError, binary, clean_environment
import stores
from stores import needs_embedded_store


plain_http = pytest.mark.skipif(wanted(), reason="it is about plain HTTP, or opens connections to a server that stands still")


def run_serve(data, *options, **popen):
    """Runs a server that is expected to end by itself."""
    return subprocess.run([str(binary()), "serve", "--data", str(data), *options], capture_output=True, text=True,
                          env=clean_environment(),
                          timeout=TIMEOUT_S, **popen)


# --- Starting --------------------------------------------------------------------------------------


def test_the_data_directory_and_its_files_are_private(tmp_path):
    data = tmp_path / "a" / "b"
    old = os.umask(0)
    try:
        server = Server(data, listen="127.0.0.1:0") if data.parent.exists() else None
        if server is None:
            data.parent.mkdir(mode=0o755)
            server = Server(data)
        server.wait_until_ready()
    finally:
        os.umask(old)
    Api(server.address).store("a")
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    names = {file.name for file in data.iterdir()}
    files = set() if stores.SERVER else {"spine.db", "spine.db-wal"}
    assert files | {"lock", "server.json"} <= names
    for file in data.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    assert server.terminate() == 0


@plain_http
def test_server_json_says_where_the_server_is_while_it_runs(start):
    server = start().wait_until_ready()
    note = json.loads((server.data / "server.json").read_text())
    assert note["pid"] == server.process.pid and note["url"].startswith("http://127.0.0.1:")
    assert server.terminate() == 0
    assert not (server.data / "server.json").exists()


def test_a_second_server_on_the_same_data_is_refused_at_once_by_name(start):
    first = start().wait_until_ready()
    Api(first.address).store("kept")
    second = run_serve(first.data, "--listen", "127.0.0.1:0")
    assert second.returncode == 1
    assert f"process {first.process.pid}" in second.stderr and str(first.data) in second.stderr
    assert Api(first.address).count() == 1
    assert json.loads((first.data / "server.json").read_text())["pid"] == first.process.pid
    assert first.terminate() == 0


def test_a_port_that_is_taken_is_named(start, tmp_path):
    first = start().wait_until_ready()
    second = run_serve(tmp_path / "other", "--listen", "127.0.0.1:%d" % first.address[1])
    assert second.returncode == 1 and str(first.address[1]) in second.stderr and "in use" in second.stderr
    assert first.terminate() == 0


@pytest.mark.parametrize("listen", ["0.0.0.0:0", "[::]:0", "10.0.0.1:8788", "192.168.1.5:80", "example.com:80",
                                    "[fe80::1]:80", "128.0.0.1:0"])
def test_a_listener_that_is_not_loopback_is_refused_with_the_reason(tmp_path, listen):
    done = run_serve(tmp_path / "data", "--listen", listen)
    assert done.returncode == 2
    assert "loopback" in done.stderr and listen in done.stderr
    assert "keys" in done.stderr or "TLS" in done.stderr
    assert not (tmp_path / "data" / "spine.db").exists()


@pytest.mark.parametrize("listen", ["", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", ":8788",
                                    "::1:8788", "[::1]", "127.0.0.1:-1"])
def test_a_listener_that_is_no_address_is_refused(tmp_path, listen):
    done = run_serve(tmp_path / "data", "--listen", listen)
    assert done.returncode == 2 and done.stderr.startswith("spine: ")
    assert not (tmp_path / "data" / "spine.db").exists()


@pytest.mark.parametrize("option, value", [("--webhook-hosts", "a b"), ("--alert-webhook", "nonsense"),
                                           ("--alert-webhook", "http://example.com/hook")])
def test_a_configuration_that_is_wrong_makes_nothing(tmp_path, option, value):
    done = run_serve(tmp_path / "data", option, value)
    assert done.returncode == 2 and option in done.stderr
    assert not (tmp_path / "data").exists()


@plain_http
@pytest.mark.parametrize("listen", ["localhost:0", "127.0.0.1:0", "127.0.0.5:0", "[::1]:0"])
def test_loopback_addresses_are_served(tmp_path, listen):
    if listen.startswith("["):
        try:
            with socket.socket(socket.AF_INET6) as probe:
                probe.bind(("::1", 0))
        except OSError:
            pytest.skip("this machine has no IPv6 loopback")
    server = Server(tmp_path / "data", listen=listen).wait_until_ready()
    host, port = server.url.removeprefix("http://").rsplit(":", 1)
    api = Api((host.strip("[]"), int(port)))
    assert api.ok("GET", "/healthz") == {"status": "ok"}
    assert server.terminate() == 0


@needs_embedded_store("the number of the schema is in its file")
def test_a_newer_store_is_refused_by_name_and_left_untouched(start):
    server = start().wait_until_ready()
    Api(server.address).store("a")
    assert server.terminate() == 0
    database = open_database(server.data / "spine.db")
    database.execute("PRAGMA user_version = 77")
    database.close()
    before = (server.data / "spine.db").read_bytes()
    done = run_serve(server.data, "--listen", "127.0.0.1:0")
    assert done.returncode == 1 and "schema 77" in done.stderr and "newer" in done.stderr
    assert (server.data / "spine.db").read_bytes() == before


def test_a_data_directory_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    done = run_serve(tmp_path / "file" / "data", "--listen", "127.0.0.1:0")
    assert done.returncode == 1 and str(tmp_path / "file") in done.stderr


def test_the_log_is_json_where_nobody_watches(start):
    server = start().wait_until_ready()
    assert server.terminate() == 0
    lines = [json.loads(line) for line in server.log.read_text().splitlines()]
    assert [line for line in lines if line.get("url") == server.url]
    assert all({"level", "message"} <= set(line) or {"level", "msg"} <= set(line) for line in lines), lines[0]


# --- What is left after it ended -------------------------------------------------------------------


@pytest.mark.parametrize("end", ["terminate", "kill"])
def test_everything_is_there_after_a_restart(start, end):
    server = start().wait_until_ready()
    api = Api(server.address)
    api.store("one", tags=["t"], metadata={"k": 1})
    api.patch("ms-1", content="two")
    api.store("three", supersedes="ms-1", pinned=True)
    api.store("secret")
    api.forget("ms-3")
    paths = ["/v1/memories/ms-1", "/v1/memories/ms-1/versions", "/v1/memories/ms-2", "/v1/memories/ms-3",
             "/v1/memories?state=any", "/v1/memories?tag=t&state=any"]
    before = [api.call("GET", path).data for path in paths]
    getattr(server, end)()
    server = start(data=server.data).wait_until_ready()
    api = Api(server.address)
    assert [api.call("GET", path).data for path in paths] == before
    assert api.store()["id"] == "ms-4"
    assert server.terminate() == 0


# --- Draining --------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_0_and_closes_idle_connections(start, number):
    server = start().wait_until_ready()
    idle = socket.create_connection(server.address, timeout=TIMEOUT_S)
    used = Api(server.address)
    used.store("a")
    server.process.send_signal(number)
    assert server.process.wait(TIMEOUT_S) == 0
    assert read_all(idle) == b""
    assert used.connection.sock.recv(100) == b""
    with pytest.raises(OSError):
        socket.create_connection(server.address, timeout=1)


@pytest.mark.parametrize("round_", range(8))
def test_requests_that_were_sent_before_the_signal_are_answered_and_no_connection_is_reset(start, round_):
    """Everybody sends, then the signal comes at once: the server has not read all of it by then."""
    server = start("--threads", str(1 + round_ % 2)).wait_until_ready()
    peers = [socket.create_connection(server.address, timeout=TIMEOUT_S) for _ in range(64)]
    wait_until(lambda: Api(server.address).ok("GET", "/v1/status")["http"]["connections"] >= 64,
               "all connections are accepted")
    for number, peer in enumerate(peers):
        body = json.dumps({"content": f"memory {number}"}).encode()
        peer.sendall(b"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (len(body),
            body))
    server.process.send_signal(signal.SIGTERM)
    acknowledged = {}
    for number, peer in enumerate(peers):
        answer = parse_raw(read_all(peer))  # read_all raises where the connection was reset
        assert answer.status in (201, 503), answer
        if answer.status == 201:
            assert answer.json["content"] == f"memory {number}"
            acknowledged[answer.json["id"]] = answer.data
        peer.close()
    assert server.process.wait(TIMEOUT_S) == 0
    server = start(data=server.data).wait_until_ready()
    api = Api(server.address)
    assert api.count() == len(acknowledged)
    for memory_id, data in acknowledged.items():
        assert api.call("GET", f"/v1/memories/{memory_id}").data == data
    assert server.terminate() == 0


@plain_http
def test_connections_that_nobody_has_accepted_yet_are_answered_too(start):
    server = start("--threads", "1").wait_until_ready()
    os.kill(server.process.pid, signal.SIGSTOP)
    peers = [socket.create_connection(server.address, timeout=TIMEOUT_S) for _ in range(100)]
    for peer in peers:
        peer.sendall(b"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Length: 15\r\n\r\n{\"content\":\"a\"}")
    server.process.send_signal(signal.SIGTERM)
    os.kill(server.process.pid, signal.SIGCONT)
    statuses = []
    for peer in peers:
        statuses.append(parse_raw(read_all(peer)).status)
        peer.close()
    assert set(statuses) <= {201, 503}
    assert server.process.wait(TIMEOUT_S) == 0
    server = start(data=server.data).wait_until_ready()
    assert Api(server.address).count() == statuses.count(201)
    assert server.terminate() == 0


def test_a_drain_under_load_loses_nothing_that_was_acknowledged(start):
    server = start().wait_until_ready()
    acknowledged, running = [], threading.Barrier(9)

    def write(number):
        api, count = Api(server.address, f"load-{number}"), 0
        running.wait()
        try:
            while True:
                count += 1
                answer = api.call("POST", "/v1/memories", {"content": f"{number}/{count}"})
                if answer.status != 201:
                    break
                acknowledged.append((number, answer.json["id"], answer.data))
        except (OSError, Exception):  # noqa: B014: the connection was closed
            return

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    running.wait()
    wait_until(lambda: len(acknowledged) > 200, "the load is on")
    assert server.terminate() == 0
    for thread in threads:
        thread.join()
    server = start(data=server.data).wait_until_ready()
    connections = [Api(server.address, f"load-{number}") for number in range(8)]
    for number, memory_id, data in acknowledged:
        assert connections[number].call("GET", f"/v1/memories/{memory_id}").data == data
    assert server.terminate() == 0


def test_a_server_that_cannot_start_says_so_once_and_exits(tmp_path):
    with pytest.raises(StartError):
        Server(tmp_path / "data", "--no-such-option").wait_until_ready()


def read_until(stream, last):
    lines = []
    for line in stream:
        lines.append(line.strip())
        if last in line:
            return lines
    raise AssertionError(f"it ended before it said {last!r}: {lines}")


@pytest.mark.parametrize("called, says", [("bin/spine", "bin/spine"), ("spine-2", "spine-2"), ("my spine", "spine")])
def test_what_to_do_next_works_as_it_is_printed_on_any_port_and_by_any_name(tmp_path, called, says):
    (tmp_path / "bin").mkdir()
    for name in (Path(called).name, "spine"):
        (tmp_path / "bin" / name).is_symlink() or (tmp_path / "bin" / name).symlink_to(binary().resolve())
    environment = clean_environment(HOME=str(tmp_path), PATH=f"{tmp_path}/bin:{os.environ['PATH']}")
    process = subprocess.Popen(
        [called, "serve", "--listen", "127.0.0.1:0", "--data", str(tmp_path / "data")], cwd=tmp_path,
        executable=tmp_path / "bin" / Path(called).name,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=clean_environment(), text=True,
    )
    try:
        commands = [line for line in read_until(process.stdout, "in a browser") if line.startswith(("export", f"{says} "))]
        assert len(commands) == 4, commands
        script = "\n".join(commands).replace(" demo", " demo --fast")
        done = subprocess.run(["sh", "-euc", script], capture_output=True, text=True, env=environment, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "Retry-After" in done.stdout
        url = json.loads((tmp_path / "data" / "server.json").read_text())["url"]
        assert f"On the server at {url}" in done.stdout
    finally:
        process.terminate()
        assert process.wait() == 0
        process.stdout.close()
