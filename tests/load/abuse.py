"""Clients that mean harm, or are broken, beside good ones: what each of their connections costs, and how long the good wait.

Each attack is measured by itself, on a server of its own, plain and with TLS: the resident memory of the server for each
connection of the attack, and the 99th percentile of good clients' requests (half of them read, half of them write) while
it goes on, beside what it is without. Exits with 1 where a connection costs more than MOST_KIB, where the good wait more
than SLOWER times as long (and SLACK_MS: what the scheduler of a busy machine adds by itself), or where the server does not
end cleanly with every descriptor closed. --markdown prints the figures as bench/results/abuse.md has them.

Server, attackers and good clients share the machine. What attackers cost by being there is in the figures.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import multiprocessing
import os
import resource
import shutil
import socket
import ssl
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent.parent)]

import certificates  # noqa: E402
from server import Server  # noqa: E402

MOST_KIB = 64.0
SLOWER = 2.0
SLACK_MS = 5.0
GOOD_CLIENTS = 4
HEAD = b"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def resident_kib(server: Server) -> int:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))


def descriptors(server: Server) -> int:
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


# --- Good clients ---


def good_client(address: tuple[str, int], authority: str | None, seconds: float, results: multiprocessing.Queue) -> None:
    times, failures = [], []
    if authority:
        connection = http.client.HTTPSConnection(*address, timeout=60, context=ssl.create_default_context(cafile=authority))
    else:
        connection = http.client.HTTPConnection(*address, timeout=60)
    until = time.monotonic() + seconds
    body = json.dumps({"content": "what a good client remembers"})
    count = 0
    while time.monotonic() < until:
        began = time.monotonic()
        if count % 2:
            connection.request("POST", "/v1/memories", body, {"Content-Type": "application/json", "Spine-Space": "good"})
        else:
            connection.request("GET", "/v1/memories?limit=1", headers={"Spine-Space": "good"})
        response = connection.getresponse()
        response.read()
        times.append((time.monotonic() - began) * 1000)
        if response.status not in (200, 201):
            failures.append(response.status)
        count += 1
        time.sleep(0.005)
    results.put((times, failures))


def good_ms(server: Server, authority: str | None, seconds: float) -> tuple[float, float]:
    """The median and the 99th percentile."""
    results: multiprocessing.Queue = multiprocessing.Queue()
    clients = [multiprocessing.Process(target=good_client, args=(server.address, authority, seconds, results))
               for _ in range(GOOD_CLIENTS)]
    for client in clients:
        client.start()
    answers = [results.get(timeout=seconds + 120) for _ in clients]
    for client in clients:
        client.join()
    times = sorted(ms for one, _ in answers for ms in one)
    failures = [status for _, some in answers for status in some]
    assert not failures, f"good clients were refused: {failures[:5]}"
    return times[len(times) // 2], times[int(len(times) * 0.99)]


# --- Attacks: each opens its connections, and may go on with them until it is told to stop ---


class Attack:
    def __init__(self, server: Server, count: int, authority: certificates.Authority | None) -> None:
        self.server = server
        self.context = authority.client() if authority else None
        self.peers: list[socket.socket] = []
        self.stopping = threading.Event()
        self.thread: threading.Thread | None = None
        self.count = count

    def connect(self, receive_bytes: int = 0, handshake: bool = True) -> socket.socket:
        peer = socket.socket()
        if receive_bytes:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        peer.settimeout(60)
        peer.connect(self.server.address)
        if self.context and handshake:
            peer = self.context.wrap_socket(peer, server_hostname="127.0.0.1")
        self.peers.append(peer)
        return peer

    def goes_on(self, step: Callable[[socket.socket], None], every_s: float) -> None:
        """Does it for each connection, over and over."""

        def run() -> None:
            while not self.stopping.wait(every_s):
                for peer in self.peers:
                    with contextlib.suppress(OSError):
                        step(peer)

        self.thread = threading.Thread(target=run)
        self.thread.start()

    def close(self) -> None:
        self.stopping.set()
        if self.thread:
            self.thread.join()
        for peer in self.peers:
            peer.close()


def silent(attack: Attack) -> None:
    for _ in range(attack.count):
        attack.connect(handshake=False)


def idle(attack: Attack) -> None:
    for _ in range(attack.count):
        attack.connect()


def half_hello(attack: Attack) -> None:
    """The first half of a TLS handshake's first message; without TLS, of a request line."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname="localhost").do_handshake()
    hello = outgoing.read() if attack.context else b"GET /healthz HTT"
    for _ in range(attack.count):
        attack.connect(handshake=False).sendall(hello[: len(hello) // 2])


def slow_heads(attack: Attack) -> None:
    for _ in range(attack.count):
        attack.connect().sendall(HEAD + b"X-Padding: ")
    attack.goes_on(lambda peer: peer.sendall(b"a"), 1)


def large_heads(attack: Attack) -> None:
    for _ in range(attack.count):
        attack.connect().sendall(HEAD + b"X-Padding: " + b"a" * 40000)


def slow_bodies(attack: Attack) -> None:
    for _ in range(attack.count):
        attack.connect().sendall(HEAD + b"Content-Length: 8000000\r\n\r\n{")
    attack.goes_on(lambda peer: peer.sendall(b"a"), 1)


def slow_chunks(attack: Attack) -> None:
    for _ in range(attack.count):
        attack.connect().sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    attack.goes_on(lambda peer: peer.sendall(b"1\r\na\r\n"), 1)


def endless_bodies(attack: Attack) -> None:
    """As much as the server takes, on few connections; a new one for each that is refused."""
    chunk = b"10000\r\n" + b"a" * 65536 + b"\r\n"
    attack.count = min(attack.count, 8)

    def one() -> None:
        while not attack.stopping.is_set():
            with contextlib.suppress(OSError):
                peer = attack.connect()
                attack.peers.remove(peer)
                with peer:
                    peer.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
                    while not attack.stopping.wait(0.005):
                        peer.sendall(chunk)

    threads = [threading.Thread(target=one) for _ in range(attack.count)]
    for thread in threads:
        thread.start()
    attack.thread = threading.Thread(target=lambda: [thread.join() for thread in threads])
    attack.thread.start()


def never_reading(attack: Attack) -> None:
    """Each asks for a megabyte again and again, and reads nothing."""
    attack.count = min(attack.count, 200)
    connection = (http.client.HTTPSConnection(*attack.server.address, context=attack.context) if attack.context
                  else http.client.HTTPConnection(*attack.server.address))
    connection.request("POST", "/v1/memories", json.dumps({"content": "a" * 250000}), {"Content-Type": "application/json"})
    stored = json.loads(connection.getresponse().read())["id"]
    connection.close()
    request = b"GET /v1/memories/%s HTTP/1.1\r\nHost: localhost\r\n\r\n" % stored.encode()
    for _ in range(attack.count):
        attack.connect(receive_bytes=4096).sendall(request * 20)


# The attack, how many connections of --count, whether what it costs is bounded for each connection.
ATTACKS: list[tuple[str, Callable[[Attack], None], float, bool]] = [
    ("silent", silent, 1.0, True),
    ("idle", idle, 1.0, True),
    ("half a first message", half_hello, 0.5, True),
    ("slow heads", slow_heads, 0.5, True),
    ("heads of 40 KB that do not end", large_heads, 0.2, True),
    ("slow bodies", slow_bodies, 0.5, True),
    ("slow chunks", slow_chunks, 0.5, True),
    ("endless bodies", endless_bodies, 1.0, False),
    ("never reading", never_reading, 1.0, False),
]


class Row:
    def __init__(self, name: str, with_tls: bool) -> None:
        self.name = name
        self.way = "TLS" if with_tls else "plain"
        self.count = 0
        self.kib = self.peak_mib = self.p50 = self.p99 = self.p99_before = 0.0
        self.wrong: list[str] = []


def open_connections(server: Server, authority: certificates.Authority | None) -> int:
    connection = (http.client.HTTPSConnection(*server.address, context=authority.client()) if authority
                  else http.client.HTTPConnection(*server.address))
    connection.request("GET", "/v1/status")
    status = json.loads(connection.getresponse().read())
    connection.close()
    return status["http"]["connections"] - 1


def measure(folder: Path, entry: tuple, count: int, seconds: float, authority: certificates.Authority | None) -> Row:
    name, begin, share, is_bounded = entry
    row = Row(name, authority is not None)
    options = ["--tls-cert", str(authority.folder / "server.pem"), "--tls-key", str(authority.folder / "server.key")] \
        if authority else []
    server = Server(folder / f"{begin.__name__}-{row.way}", *options, "--header-timeout", "120s", "--body-timeout", "120s",
                    "--idle-timeout", "120s", "--log-level", "error").wait_until_ready()
    trusted = str(authority.file) if authority else None
    good_ms(server, trusted, 0.5)  # warms up
    _, row.p99_before = good_ms(server, trusted, seconds)
    before, open_before = resident_kib(server), descriptors(server)
    attack = Attack(server, max(int(count * share), 1), authority)
    begin(attack)
    row.count = attack.count
    if is_bounded:
        deadline = time.monotonic() + 60
        while open_connections(server, authority) < attack.count and time.monotonic() < deadline:
            time.sleep(0.05)
    row.kib = (resident_kib(server) - before) / attack.count
    row.p50, row.p99 = good_ms(server, trusted, seconds)
    row.peak_mib = resident_kib(server) / 1024
    attack.close()
    judge(row, is_bounded)
    deadline = time.monotonic() + 30
    while descriptors(server) > open_before and time.monotonic() < deadline:
        time.sleep(0.05)
    if descriptors(server) > open_before:
        row.wrong.append(f"{descriptors(server) - open_before} descriptors were not closed")
    code = server.terminate()
    if code != 0:
        row.wrong.append(f"the server ended with {code}: {server.log_tail()}")
    return row


def judge(row: Row, is_bounded: bool) -> None:
    if is_bounded and row.kib > MOST_KIB:
        row.wrong.append(f"a connection costs {row.kib:.1f} KiB, more than {MOST_KIB:.0f}")
    if row.p99 > SLOWER * row.p99_before + SLACK_MS:
        row.wrong.append(f"good clients wait {row.p99:.1f} ms, {row.p99_before:.1f} without")


def show(rows: list[Row], markdown: bool) -> None:
    if markdown:
        print("| attack | | connections | KiB each | server, MiB | good p50, ms | good p99, ms | without, ms |")
        print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for row in rows:
        fields = (row.name, row.way, row.count, f"{row.kib:.1f}", f"{row.peak_mib:.0f}", f"{row.p50:.2f}", f"{row.p99:.1f}",
                  f"{row.p99_before:.1f}")
        print("| " + " | ".join(map(str, fields)) + " |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10000, help="connections of the largest attacks")
    parser.add_argument("--seconds", type=float, default=5.0, help="how long good clients are measured")
    parser.add_argument("--only", default="", help="attacks whose name has this in it")
    parser.add_argument("--plain", action="store_true", help="without those over TLS")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    folder = Path(tempfile.mkdtemp(prefix="spine-abuse-"))
    (folder / "certificates").mkdir()
    authority = certificates.Authority(folder / "certificates")
    authority.sign("server")
    rows = []
    try:
        for way in [None] if options.plain else [None, authority]:
            for entry in ATTACKS:
                if options.only in entry[0]:
                    rows.append(measure(folder, entry, options.count, options.seconds, way))
                    show(rows[-1:], False)
                    for wrong in rows[-1].wrong:
                        print(f"  {wrong}")
                    sys.stdout.flush()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if options.markdown:
        show(rows, True)
    failed = sum(1 for row in rows if row.wrong)
    print(f"{len(rows) - failed} passed, {failed} failed")
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
