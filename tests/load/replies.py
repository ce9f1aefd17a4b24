"""Clients that ask for much at once and do not read it: what the server takes for them, and whether it gives it back.

300 memories of 256 KiB are stored; 30 clients ask for all of them, again and again, and read nothing. The resident memory
must stay below --most-mib while they are there, and come back to near what it was when they have gone. Good clients are
served meanwhile. Exits with 1 where that is not so.
"""

from __future__ import annotations

import argparse
import http.client
import json
import shutil
import socket
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent.parent)]

from server import Server  # noqa: E402

BACK_MIB = 32  # over what it was: what the process may keep, and those who stay
BACK_WITHIN_S = 30.0


def resident_mib(server: Server) -> float:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:")) / 1024


def ask(server: Server, method: str, path: str, body: object = None) -> tuple[int, object]:
    connection = http.client.HTTPConnection(*server.address, timeout=60)
    connection.request(method, path, body and json.dumps(body), {"Content-Type": "application/json"})
    response = connection.getresponse()
    answer = response.status, json.loads(response.read())
    connection.close()
    return answer


def greedy(server: Server, ids: list[str]) -> socket.socket:
    peer = socket.socket()
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    peer.connect(server.address)
    body = json.dumps({"ids": ids}).encode()
    peer.sendall((b"POST /v1/memories/fetch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                  b"Content-Length: %d\r\n\r\n" % len(body) + body) * 3)
    return peer


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=30)
    parser.add_argument("--memories", type=int, default=300)
    parser.add_argument("--most-mib", type=float, default=700, help="the limit on replies, 256, caches of 128 and 16, and the rest")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="spine-replies-"))
    wrong = []
    try:
        server = Server(folder / "data", "--log-level", "error").wait_until_ready()
        ids = [ask(server, "POST", "/v1/memories", {"content": f"{number} " + "a" * 256000})[1]["id"]
               for number in range(options.memories)]
        ask(server, "POST", "/v1/memories/fetch", {"ids": ids})
        before, most = resident_mib(server), 0.0
        peers = [greedy(server, ids) for _ in range(options.clients)]
        # Who comes meanwhile and stays has its memory behind that of the others, which must go back all the same.
        staying = [socket.create_connection(server.address) for _ in range(300)]
        for peer in staying:
            peer.sendall(b"POST /v1/agents/nobody/receive HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                         b"Content-Length: 14\r\n\r\n{\"wait_s\": 60}")
        until = time.monotonic() + 5
        slowest = 0.0
        while time.monotonic() < until:
            began = time.monotonic()
            if ask(server, "GET", "/v1/memories/" + ids[0])[0] != 200:
                wrong.append("a good client was refused")
            slowest = max(slowest, time.monotonic() - began)
            most = max(most, resident_mib(server))
        for peer in peers:
            peer.close()
        began = time.monotonic()
        while resident_mib(server) > before + BACK_MIB and time.monotonic() - began < BACK_WITHIN_S:
            time.sleep(0.1)
        after = resident_mib(server)
        print(f"{options.clients} clients that do not read {options.memories} memories of 256 KiB: {before:.0f} MiB before, {most:.0f} at "
              f"the most, {after:.0f} after {time.monotonic() - began:.1f} s; a good client waited {slowest * 1000:.0f} ms at the most")
        if most > options.most_mib:
            wrong.append(f"more than {options.most_mib:.0f} MiB")
        if after > before + BACK_MIB:
            wrong.append(f"{after - before:.0f} MiB were not given back within {BACK_WITHIN_S:.0f} s")
        for peer in staying:
            peer.close()
        if server.terminate() != 0:
            wrong.append("the server did not end well: " + server.log_tail())
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for one in wrong:
        print("  " + one)
    print(f"{0 if wrong else 1} passed, {1 if wrong else 0} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
