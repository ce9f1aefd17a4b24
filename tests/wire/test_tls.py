"""HTTPS: what is spoken and what is not, whose certificates are taken, and new certificates while it runs."""

import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import threading
import time
import warnings

import pytest
from api import TIMEOUT_S, Answer, parse_raw, wait_until
from certificates import Authority, wanted
from cli import Cli
from delivery import waiting_calls
from test_life import run_serve

pytestmark = pytest.mark.skipif(wanted(), reason="these servers have certificates of their own")
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
TLS_1_1, TLS_1_2, TLS_1_3 = ssl.TLSVersion.TLSv1_1, ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    one = Authority(tmp_path_factory.mktemp("authority"))
    one.sign("server")
    one.sign("client")
    return one


@pytest.fixture
def serve(start, authority):
    def run(*options):
        return start(*authority.serving("server"), *options).wait_until_ready()

    return run


def plain(server):
    return socket.create_connection(server.address, timeout=TIMEOUT_S)


def connect(server, context):
    return context.wrap_socket(plain(server), server_hostname="127.0.0.1")


def read_all(peer):
    received = b""
    while chunk := peer.recv(65536):
        received += chunk
    return received


def ask(server, context, data=HEALTH):
    with connect(server, context) as peer:
        peer.sendall(data)
        return parse_raw(read_all(peer))


def call(server, context, method, path, body=None, headers=None):
    connection = http.client.HTTPSConnection(*server.address, timeout=TIMEOUT_S, context=context)
    try:
        connection.request(method, path, body, {"Content-Type": "application/json", **(headers or {})})
        response = connection.getresponse()
        return Answer(response.status, response.headers, response.read())
    finally:
        connection.close()


def log_lines(server, message):
    lines = [json.loads(line) for line in server.log.read_text().splitlines() if line.startswith("{")]
    return [line for line in lines if line["msg"] == message]


# --- What is spoken ---


@pytest.mark.parametrize("version, name", [(TLS_1_2, "TLSv1.2"), (TLS_1_3, "TLSv1.3")])
def test_tls_1_2_and_1_3_are_spoken_with_ciphers_that_authenticate(serve, authority, version, name):
    server = serve()
    assert server.url.startswith("https://127.0.0.1:")
    with connect(server, authority.client(minimum_version=version, maximum_version=version)) as peer:
        assert peer.version() == name
        assert "GCM" in peer.cipher()[0] or "CHACHA20" in peer.cipher()[0]
        assert peer.compression() is None
        peer.sendall(HEALTH)
        answer = parse_raw(read_all(peer))
    assert answer.status == 200 and answer.json == {"status": "ok"}
    assert server.terminate() == 0


def test_tls_1_1_is_refused(serve, authority):
    server = serve()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns of the old version
        context = authority.client(minimum_version=TLS_1_1, maximum_version=TLS_1_1)
    context.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.raises(ssl.SSLError, match="(?i)protocol.version"):
        ask(server, context)
    assert ask(server, authority.client()).status == 200


def test_weak_ciphers_of_tls_1_2_are_refused(serve, authority):
    context = authority.client(maximum_version=TLS_1_2)
    context.set_ciphers("ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA384")
    with pytest.raises(ssl.SSLError):
        ask(serve(), context)


def test_http_1_1_is_agreed_upon_and_a_client_that_wants_another_protocol_only_is_told(serve, authority):
    server = serve()
    both, other = authority.client(), authority.client()
    both.set_alpn_protocols(["h2", "http/1.1"])
    with connect(server, both) as peer:
        assert peer.selected_alpn_protocol() == "http/1.1"
    other.set_alpn_protocols(["h2"])
    with pytest.raises(ssl.SSLError, match="(?i)no.application.protocol"):
        connect(server, other)


def test_plain_http_on_the_port_is_told_to_use_https(serve, authority):
    server = serve()
    with plain(server) as peer:
        peer.sendall(HEALTH)
        answer = parse_raw(read_all(peer))
    assert answer.status == 400 and answer.json["code"] == "tls_expected" and "https://" in answer.json["detail"]
    with plain(server) as peer:  # neither: nothing is said
        peer.sendall(b"\x00\x01\x02garbage")
        assert read_all(peer) == b""


def test_a_client_may_resume_its_session(serve, authority):
    server, context = serve(), authority.client(maximum_version=TLS_1_2)
    with connect(server, context) as peer:
        peer.sendall(HEALTH)
        read_all(peer)
        session = peer.session
    with context.wrap_socket(plain(server), server_hostname="127.0.0.1", session=session) as peer:
        assert peer.session_reused


class Typed:
    """openssl s_client, which renegotiates when it reads R, and asks for new keys when it reads K."""

    def __init__(self, server, authority, version):
        self.process = subprocess.Popen(
            ["openssl", "s_client", "-connect", "%s:%d" % server.address, "-CAfile", str(authority.file), version, "-crlf"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.until("Verify return code: 0 (ok)")

    def until(self, words):
        for line in self.process.stdout:
            if words.lower() in line.lower():
                return
        raise AssertionError(f"it never said {words}")

    def type(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.kill()
        self.process.wait()


def test_renegotiation_is_refused(serve, authority):
    server = serve()
    client = Typed(server, authority, "-tls1_2")
    client.type("R\n")
    client.until("no renegotiation")
    client.end()
    assert ask(server, authority.client()).status == 200


def test_new_keys_of_tls_1_3_are_taken(serve, authority):
    server = serve()
    client = Typed(server, authority, "-tls1_3")
    client.type("K\n")
    client.until("KEYUPDATE")
    client.type("GET /healthz HTTP/1.1\nHost: localhost\nConnection: close\n\n")
    client.until("HTTP/1.1 200 OK")
    client.end()
    assert server.terminate() == 0


# --- Bytes ---


def test_large_requests_and_answers_go_through_whole(serve, authority):
    server, context = serve(), authority.client()
    content = "".join(chr(0x4E00 + number % 5000) for number in range(80000))
    stored = [call(server, context, "POST", "/v1/memories", json.dumps({"content": content + str(number)}))
              for number in range(8)]
    assert [one.status for one in stored] == [201] * 8
    ids = [one.json["id"] for one in stored]
    answer = call(server, context, "POST", "/v1/memories/fetch", json.dumps({"ids": ids * 4}))
    assert answer.status == 200, answer
    assert answer.json["memories"][0]["content"] == content + "0"
    assert call(server, context, "POST", "/v1/memories", b"x" * (9 << 20)).status == 413


def test_a_body_in_chunks_and_a_request_byte_by_byte_are_taken(serve, authority):
    server, context = serve(), authority.client()
    pieces = [b'{"content":"', b"a" * 70000, b'"}']
    connection = http.client.HTTPSConnection(*server.address, timeout=TIMEOUT_S, context=context)
    connection.request("POST", "/v1/memories", iter(pieces), {"Content-Type": "application/json"}, encode_chunked=True)
    assert connection.getresponse().status == 201
    connection.close()
    with connect(server, context) as peer:
        for byte in HEALTH:  # a record of its own each
            peer.sendall(bytes([byte]))
        assert parse_raw(read_all(peer)).status == 200


def test_pipelined_requests_are_answered_in_order(serve, authority):
    request = HEALTH.replace(b"Connection: close\r\n", b"")
    with connect(serve(), authority.client()) as peer:
        peer.sendall(request * 500 + HEALTH)
        assert read_all(peer).count(b"HTTP/1.1 200 OK") == 501


def test_a_reader_that_does_not_read_is_cut_off_and_holds_up_nobody(serve, authority):
    server, context = serve("--write-timeout", "500ms"), authority.client()
    stored = call(server, context, "POST", "/v1/memories", json.dumps({"content": "a" * 250000})).json["id"]
    slow = socket.socket()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    slow.settimeout(TIMEOUT_S)
    slow.connect(server.address)
    slow = context.wrap_socket(slow, server_hostname="127.0.0.1")
    request = b"GET /v1/memories/%s HTTP/1.1\r\nHost: localhost\r\n\r\n" % stored.encode()
    slow.sendall(request * 60)
    began = time.monotonic()
    assert ask(server, context).status == 200 and time.monotonic() - began < 5
    wait_until(lambda: call(server, context, "GET", "/v1/status").json["http"]["connections"] == 1, "it is cut off")
    slow.close()
    assert server.terminate() == 0


# --- Slow and silent ---


def test_a_handshake_that_does_not_end_is_given_up(serve, authority):
    server, context = serve("--header-timeout", "400ms"), authority.client()
    silent, begun = plain(server), plain(server)
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    hello = context.wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
    with pytest.raises(ssl.SSLWantReadError):
        hello.do_handshake()
    begun.sendall(outgoing.read()[:100])  # the rest never comes
    assert ask(server, context).status == 200
    for peer in (silent, begun):
        assert peer.recv(1) == b""
    figures = call(server, context, "GET", "/metrics").data.decode()
    assert "\nspine_tls_handshakes_total 2\n" in figures and "\nspine_tls_handshakes_failed_total 2\n" in figures
    assert server.terminate() == 0


def test_many_handshakes_that_stand_still_hold_up_nobody(serve, authority):
    server, context = serve(), authority.client()
    peers = [plain(server) for _ in range(300)]
    for peer in peers:
        peer.sendall(b"\x16\x03\x01\x02\x00\x01")
    began = time.monotonic()
    assert ask(server, context).status == 200
    assert time.monotonic() - began < 5
    for peer in peers:
        peer.close()
    assert server.terminate() == 0


def test_one_beyond_the_limit_is_told_so_over_tls(serve, authority):
    server, context = serve("--max-connections", "2"), authority.client()
    held = [connect(server, context) for _ in range(2)]
    answer = ask(server, context)
    assert answer.status == 503 and answer.headers["Retry-After"], answer
    for peer in held:
        peer.close()
    assert server.terminate() == 0


def test_a_drain_answers_what_was_accepted(serve, authority):
    server, context = serve(), authority.client()
    idle, waiting = connect(server, context), connect(server, context)
    begun = plain(server)  # its handshake has not begun
    body = json.dumps({"wait_s": 30}).encode()
    waiting.sendall(b"POST /v1/agents/a/receive HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    wait_until(lambda: waiting_calls(call(server, context, "GET", "/metrics").data.decode()) == 1, "it waits")
    assert server.terminate() == 0
    assert b"HTTP/1.1 200 OK" in read_all(waiting)
    assert read_all(idle) == b"" and begun.recv(1) == b""


# --- Whose certificates are taken ---


def mutual(authority):
    context = authority.client()
    context.load_cert_chain(authority.folder / "client.pem", authority.folder / "client.key")
    return context


def test_clients_without_a_certificate_of_the_authority_are_refused(serve, authority, tmp_path):
    server = serve("--tls-client-ca", str(authority.file))
    assert ask(server, mutual(authority)).status == 200
    with pytest.raises((ssl.SSLError, ConnectionResetError), match="(?i)certificate.required|reset"):
        ask(server, authority.client())
    with pytest.raises((ssl.SSLError, ConnectionResetError), match="(?i)handshake.failure|reset"):
        ask(server, authority.client(maximum_version=TLS_1_2))
    stranger = Authority(tmp_path)
    cert, key = stranger.sign("client")
    context = authority.client()
    context.load_cert_chain(cert, key)
    with pytest.raises((ssl.SSLError, ConnectionResetError), match="(?i)unknown.ca|reset"):
        ask(server, context)
    assert server.terminate() == 0


def test_a_certificate_of_the_client_may_be_optional_but_not_of_a_stranger(serve, authority, tmp_path):
    server = serve("--tls-client-ca", str(authority.file), "--tls-client", "optional")
    assert ask(server, mutual(authority)).status == 200
    assert ask(server, authority.client()).status == 200
    cert, key = Authority(tmp_path).sign("client")
    context = authority.client()
    context.load_cert_chain(cert, key)
    with pytest.raises((ssl.SSLError, ConnectionResetError)):
        ask(server, context)


def test_sessions_are_resumed_with_a_certificate_of_the_client_too(serve, authority):
    server, context = serve("--tls-client-ca", str(authority.file)), mutual(authority)
    context.maximum_version = TLS_1_2
    with connect(server, context) as peer:
        session = peer.session
    with context.wrap_socket(plain(server), server_hostname="127.0.0.1", session=session) as peer:
        peer.sendall(HEALTH)
        assert parse_raw(read_all(peer)).status == 200


# --- The files ---


def test_files_that_cannot_be_used_are_named_and_nothing_is_made(authority, tmp_path):
    cert, key = authority.path("server.pem"), authority.path("server.key")
    open_key = tmp_path / "open.key"
    open_key.write_bytes((authority.folder / "server.key").read_bytes())
    open_key.chmod(0o604)
    empty = tmp_path / "empty.pem"
    empty.write_text("")
    locked = tmp_path / "locked.key"
    subprocess.run(["openssl", "ec", "-aes128", "-passout", "pass:secret", "-in", key, "-out", str(locked)], check=True,
                   capture_output=True)
    other_key = str(authority.folder / "client.key")
    cases = [
        (("--tls-cert", cert), "--tls-key is missing"),
        (("--tls-key", key), "--tls-cert is missing"),
        (("--tls-client-ca", cert), "--tls-cert is missing"),
        (("--tls-cert", cert, "--tls-key", str(tmp_path / "none.key")), "none.key cannot be read"),
        (("--tls-cert", str(empty), "--tls-key", key), "empty.pem holds no certificate"),
        (("--tls-cert", cert, "--tls-key", str(open_key)), "chmod o-rwx"),
        (("--tls-cert", cert, "--tls-key", str(locked)), "passphrase"),
        (("--tls-cert", cert, "--tls-key", other_key), "client.key"),
        (("--tls-cert", cert, "--tls-key", key, "--tls-client-ca", str(empty)), "empty.pem holds no certificate"),
    ]
    for options, words in cases:
        done = run_serve(tmp_path / "data", *options)
        assert done.returncode == 2 and words in done.stderr, (options, done.stderr)
        assert not (tmp_path / "data").exists()


def test_a_new_certificate_is_shown_after_sighup_and_a_bad_one_is_not(serve, tmp_path):
    authority = Authority(tmp_path)
    authority.sign("server")
    server, context = serve_own(serve, authority), authority.client()

    def shown():
        with connect(server, context) as peer:
            return peer.getpeercert()["serialNumber"]

    first = shown()
    open_before = connect(server, context)
    authority.sign("server")
    os.kill(server.process.pid, signal.SIGHUP)
    wait_until(lambda: log_lines(server, "the certificate was read again"), "it was read again")
    second = shown()
    assert second != first
    (authority.folder / "server.pem").write_text("nothing")
    os.kill(server.process.pid, signal.SIGHUP)
    refused = wait_until(lambda: log_lines(
        server, "the certificate could not be read again; the one before stays in use"), "it was refused")
    assert "server.pem" in refused[0]["error"] and refused[0]["level"] == "error"
    assert shown() == second
    open_before.sendall(HEALTH)  # what was open goes on
    assert parse_raw(read_all(open_before)).status == 200
    assert server.terminate() == 0


def test_a_certificate_that_has_expired_is_said_by_the_log_and_by_the_doctor(serve, tmp_path):
    authority = Authority(tmp_path)
    authority.sign("server", days=-1)
    server = serve_own(serve, authority)
    expired = "the certificate has expired, and clients refuse it; put a new one in its place, then send SIGHUP"
    assert [line["level"] for line in log_lines(server, expired)] == ["warn"]
    (tmp_path / "home").mkdir()
    spine = Cli(tmp_path / "home", SPINE_URL=server.url, SPINE_CA_FILE=str(authority.file))
    told = spine("doctor")
    assert told.code == 1 and "not valid now: renew it" in told.out and "docs/bad-day.md" in told.out, told.out
    assert "start it" not in told.out
    authority.sign("server")
    os.kill(server.process.pid, signal.SIGHUP)
    wait_until(lambda: log_lines(server, "the certificate was read again"), "it was read again")
    assert len(log_lines(server, expired)) == 1 and spine("status").code == 0
    assert server.terminate() == 0


def serve_own(serve, authority):
    return serve(*authority.serving("server"))


def test_new_certificates_under_load_lose_no_request(serve, tmp_path):
    authority = Authority(tmp_path)
    authority.sign("server")
    server, context = serve_own(serve, authority), authority.client()
    stop, failures, done = threading.Event(), [], [0] * 4

    def work(number):
        while not stop.is_set():
            try:  # a connection for a few requests each: half of the work is handshakes
                connection = http.client.HTTPSConnection(*server.address, timeout=TIMEOUT_S, context=context)
                for _ in range(3):
                    connection.request("POST", "/v1/memories", json.dumps({"content": "under load"}),
                                       {"Content-Type": "application/json", "Spine-Space": f"load-{number}"})
                    response = connection.getresponse()
                    response.read()
                    if response.status != 201:
                        failures.append(response.status)
                    done[number] += 1
                connection.close()
            except (OSError, http.client.HTTPException) as error:
                failures.append(error)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for round_ in range(10):
        before = sum(done)
        authority.sign("server")
        os.kill(server.process.pid, signal.SIGHUP)
        wait_until(lambda: len(log_lines(server, "the certificate was read again")) == round_ + 1 and
                   sum(done) > before + 10, "it was read again, and work goes on")
    stop.set()
    for worker in workers:
        worker.join()
    assert failures == []
    stored = sum(call(server, context, "GET", "/v1/status", headers={"Spine-Space": f"load-{number}"}).json["memories"]
                 for number in range(4))
    assert stored == sum(done)
    assert server.terminate() == 0
