"""Clients that mean harm, or are broken, beside good ones: what each of their connections costs, and how long the good wait.

Each attack is measured by itself, on a server of its own, plain and with TLS: the resident memory of the server for each
connection of the attack, and the 99th percentile of good clients' requests (half of them read, half of them write) while
it goes on. Two things keep what else the machine does out of the judgement:

  beside   a second server that nobody attacks. The good clients ask both in turns, at the same time
  own      of the time of a request what is the server's own: the time in which none of its threads stood in the kernel's queue for
           a core, or what its busiest thread has run meanwhile, where that is more (schedstat). Whoever has much to do stands in that
           queue for long where others want the cores, too

Exits with 1 where a connection costs more than MOST_KIB, where in each of TRIES the good wait more than SLOWER times as long as at the second
server (and SLACK_MS), or where the server does not end cleanly with every descriptor closed. What is compared is the server's
own time; where the second server shows that the cores are free, the whole time as well. --markdown prints the figures as bench/results/abuse.md
has them.
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
# Linux puts a thread that runs aside at a tick at the earliest, every 4 ms in Debian's kernel (CONFIG_HZ=250). One tick more is
# chance; on a quiet machine it is many times a p99.
SLACK_MS = 5.0
GOOD_CLIENTS = 4
TRIES = 3
HEAD = b"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def resident_kib(server: Server) -> int:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))


def settled_kib(server: Server) -> int:
    """What was sent before may not have been looked at yet."""
    last, now = 0, resident_kib(server)
    while now > last + 256:
        last = now
        time.sleep(0.2)
        now = resident_kib(server)
    return now


def descriptors(server: Server) -> int:
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


def https(server: Server, authority: certificates.Authority | None) -> http.client.HTTPConnection:
    if authority:
        return http.client.HTTPSConnection(*server.address, context=authority.client())
    return http.client.HTTPConnection(*server.address)


KEYS: dict[int, str] = {}  # by the server's process


def make_key(server: Server, authority: certificates.Authority | None) -> None:
    """From now on the server needs one."""
    connection = https(server, authority)
    connection.request("POST", "/v1/keys", json.dumps({"name": "good"}), {"Content-Type": "application/json"})
    KEYS[server.process.pid] = json.loads(connection.getresponse().read())["key"]
    connection.close()


def headers_of(server: Server) -> dict[str, str]:
    key = KEYS.get(server.process.pid)
    return {"Authorization": f"Bearer {key}"} if key else {}


# --- Good clients ---


class Good:
    """What the good clients saw of one server: for each request how long it took, and what of it was the server's own."""

    def __init__(self, times: list[tuple[float, float]]) -> None:
        self.times = sorted(wall for wall, _ in times)
        self.own_times = sorted(own for _, own in times)

    @property
    def p50(self) -> float:
        return self.times[len(self.times) // 2]

    @property
    def p99(self) -> float:
        return self.times[int(len(self.times) * 0.99)]

    @property
    def own_p99(self) -> float:
        return self.own_times[int(len(self.own_times) * 0.99)]


class Cores:
    """What the threads of a server, and this process, have run, and have stood in the kernel's queue for a core: milliseconds."""

    def __init__(self, pid: int) -> None:
        threads = [f"/proc/{pid}/task/{thread}/schedstat" for thread in os.listdir(f"/proc/{pid}/task")]
        self.files = [os.open(path, os.O_RDONLY) for path in [*threads, "/proc/self/schedstat"]]
        self.last = [[0.0, 0.0] for _ in self.files]

    def now(self) -> list[list[float]]:
        for number, file in enumerate(self.files):
            with contextlib.suppress(ProcessLookupError):  # a thread that has ended stays at what it had
                self.last[number] = [int(field) / 1e6 for field in os.pread(file, 100, 0).split()[:2]]
        return list(self.last)


def own_ms(wall: float, before: list[list[float]], after: list[list[float]]) -> float:
    """What of a request's time is the server's own: while none stood in the queue for a core, or else what its busiest thread has run."""
    ran = max(new[0] - old[0] for old, new in zip(before[:-1], after[:-1]))
    queued = sum(new[1] - old[1] for old, new in zip(before, after))
    return max(wall - queued, ran)


def one_request(connection: http.client.HTTPConnection, cores: Cores, count: int, who: dict[str, str]) -> tuple[tuple[float, float], int]:
    before, began = cores.now(), time.monotonic()
    if count % 2:
        body = json.dumps({"content": "what a good client remembers"})
        connection.request("POST", "/v1/memories", body, {"Content-Type": "application/json", "Spine-Space": "good", **who})
    else:
        connection.request("GET", "/v1/memories?page_size=1", headers={"Spine-Space": "good", **who})
    response = connection.getresponse()
    response.read()
    wall = (time.monotonic() - began) * 1000
    return (wall, own_ms(wall, before, cores.now())), response.status


def good_client(addresses: list[tuple[str, int]], pids: list[int], keys: list[dict[str, str]], authority: str | None, seconds: float,
                results: multiprocessing.Queue) -> None:
    """Asks the servers in turns, each as often as the other."""
    times: list[list[tuple[float, float]]] = [[] for _ in addresses]
    cores = [Cores(pid) for pid in pids]
    failures, count, until = [], 0, time.monotonic() + seconds
    context = ssl.create_default_context(cafile=authority) if authority else None
    connections = [http.client.HTTPSConnection(*address, timeout=60, context=context) if context
                   else http.client.HTTPConnection(*address, timeout=60) for address in addresses]
    while time.monotonic() < until:
        for connection, of_server, list_of, who in zip(connections, cores, times, keys):
            took, status = one_request(connection, of_server, count, who)
            list_of.append(took)
            if status not in (200, 201):
                failures.append(status)
        count += 1
        time.sleep(0.002)
    results.put((times, failures))


def good_clients(servers: list[Server], authority: str | None, seconds: float) -> list[Good]:
    results: multiprocessing.Queue = multiprocessing.Queue()
    addresses, pids = [server.address for server in servers], [server.process.pid for server in servers]
    keys = [headers_of(server) for server in servers]
    clients = [multiprocessing.Process(target=good_client, args=(addresses, pids, keys, authority, seconds, results))
               for _ in range(GOOD_CLIENTS)]
    for client in clients:
        client.start()
    answers = [results.get(timeout=seconds + 120) for _ in clients]
    for client in clients:
        client.join()
    failures = [status for _, some in answers for status in some]
    assert not failures, f"good clients were refused: {failures[:5]}"
    return [Good([took for times, _ in answers for took in times[which]]) for which in range(len(servers))]


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
        attack.connect().sendall(HEAD + b"X-Padding: " + b"a" * 36000)


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


def large_pages(attack: Attack, times: int) -> None:
    """The largest answer that needs no key, of a server that has keys."""
    for _ in range(attack.count):
        attack.connect(receive_bytes=4096).sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * times)


def stranger_not_reading(attack: Attack) -> None:
    large_pages(attack, 1)


def stranger_not_reading_many(attack: Attack) -> None:
    large_pages(attack, 20)


# The attack, how many connections of --count, whether what it costs is bounded for each connection. What begins with "stranger" is
# against a server with keys.
ATTACKS: list[tuple[str, Callable[[Attack], None], float, bool]] = [
    ("silent", silent, 1.0, True),
    ("idle", idle, 1.0, True),
    ("half a first message", half_hello, 0.5, True),
    ("slow heads", slow_heads, 0.5, True),
    ("heads of 36 KB that do not end", large_heads, 0.2, True),
    ("slow bodies", slow_bodies, 0.5, True),
    ("slow chunks", slow_chunks, 0.5, True),
    ("endless bodies", endless_bodies, 1.0, False),
    ("never reading", never_reading, 1.0, False),
    ("stranger asks for a large page, does not read", stranger_not_reading, 0.2, True),
    ("stranger asks for a large page twenty times, does not read", stranger_not_reading_many, 0.2, True),
]


class Row:
    def __init__(self, name: str, with_tls: bool) -> None:
        self.name = name
        self.way = "TLS" if with_tls else "plain"
        self.count = 0
        self.kib = self.peak_mib = 0.0
        self.good = self.beside = Good([(0.0, 0.0)])
        self.tries = 0
        self.wrong: list[str] = []


def open_connections(server: Server, authority: certificates.Authority | None) -> int:
    connection = https(server, authority)
    connection.request("GET", "/v1/status", headers=headers_of(server))
    status = json.loads(connection.getresponse().read())
    connection.close()
    return status["http"]["connections"] - 1


def start_server(folder: Path, name: str, authority: certificates.Authority | None) -> Server:
    options = authority.serving("server") if authority else ()
    return Server(folder / name, *options, "--header-timeout", "120s", "--body-timeout", "120s", "--idle-timeout", "120s",
                  "--log-level", "error").wait_until_ready()


def measure(folder: Path, entry: tuple, count: int, seconds: float, authority: certificates.Authority | None) -> Row:
    name, begin, share, is_bounded = entry
    row = Row(name, authority is not None)
    server, beside = (start_server(folder, f"{begin.__name__}-{row.way}{which}", authority) for which in ("", "-beside"))
    trusted = str(authority.file) if authority else None
    if name.startswith("stranger"):
        make_key(server, authority)
        make_key(beside, authority)
    good_clients([server, beside], trusted, seconds)  # warms up: every thread has its files open
    before, open_before = resident_kib(server), descriptors(server)
    attack = Attack(server, max(int(count * share), 1), authority)
    begin(attack)
    row.count = attack.count
    if is_bounded:
        deadline = time.monotonic() + 60
        while open_connections(server, authority) < attack.count and time.monotonic() < deadline:
            time.sleep(0.05)
    row.kib = (settled_kib(server) - before) / attack.count
    while row.tries < TRIES and (row.tries == 0 or is_slow(row)):  # what is slow because of the attack is slow each time
        row.good, row.beside = good_clients([server, beside], trusted, seconds)
        row.tries += 1
    row.peak_mib = resident_kib(server) / 1024
    attack.close()
    judge(row, is_bounded)
    deadline = time.monotonic() + 30
    while descriptors(server) > open_before and time.monotonic() < deadline:
        time.sleep(0.05)
    if descriptors(server) > open_before:
        row.wrong.append(f"{descriptors(server) - open_before} descriptors were not closed")
    for one in (server, beside):
        code = one.terminate()
        if code != 0:
            row.wrong.append(f"the server ended with {code}: {one.log_tail()}")
    return row


def is_slow(row: Row) -> bool:
    """By what is the server's own; by all of it where the server beside it shows that the cores are free."""
    own, is_quiet = row.beside.own_p99, row.beside.p99 <= SLOWER * row.beside.own_p99 + SLACK_MS
    return row.good.own_p99 > SLOWER * own + SLACK_MS or (is_quiet and row.good.p99 > SLOWER * row.beside.p99 + SLACK_MS)


def judge(row: Row, is_bounded: bool) -> None:
    if is_bounded and row.kib > MOST_KIB:
        row.wrong.append(f"a connection costs {row.kib:.1f} KiB, more than {MOST_KIB:.0f}")
    if is_slow(row):
        row.wrong.append(f"good clients wait {row.good.p99:.1f} ms, and {row.beside.p99:.1f} at the server beside it; of it their own: "
                         f"{row.good.own_p99:.1f} and {row.beside.own_p99:.1f}")


def show(rows: list[Row], markdown: bool) -> None:
    if markdown:
        print("| attack | | connections | KiB each | server, MiB | good p50, ms | beside, ms | good p99, ms | beside, ms | own p99, ms | beside, ms | requests |")
        print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for row in rows:
        fields = (row.name, row.way, row.count, f"{row.kib:.1f}", f"{row.peak_mib:.0f}", f"{row.good.p50:.2f}", f"{row.beside.p50:.2f}",
                  f"{row.good.p99:.1f}", f"{row.beside.p99:.1f}", f"{row.good.own_p99:.1f}",
                  f"{row.beside.own_p99:.1f}", len(row.good.times))
        print("| " + " | ".join(map(str, fields)) + " |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10000, help="connections of the largest attacks")
    parser.add_argument("--seconds", type=float, default=5.0, help="how long good clients are measured")
    parser.add_argument("--only", default="", help="attacks whose name has this in it")
    parser.add_argument("--way", choices=("plain", "tls", "both"), default="both")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    folder = Path(tempfile.mkdtemp(prefix="spine-abuse-"))
    (folder / "certificates").mkdir()
    authority = certificates.Authority(folder / "certificates")
    authority.sign("server")
    rows = []
    try:
        for way in {"plain": [None], "tls": [authority], "both": [None, authority]}[options.way]:
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
