"""Nodes of a cluster over one PostgreSQL, which is started for the tests of a file."""

import contextlib
import glob
import itertools
import json
import os
import re
import signal
import subprocess
import threading
import uuid
import zlib
from pathlib import Path

import certificates
import pytest
import stores
from api import wait_until
from keys import ask
from server import ROOT, Server, binary, clean_environment

SHARDS = 64
_numbers = itertools.count(1)


def has_postgres():
    return bool(glob.glob("/usr/lib/postgresql/*/bin/postgres"))


NEEDS_POSTGRES = [
    pytest.mark.skipif(not has_postgres(), reason="PostgreSQL is not installed"),
    pytest.mark.skipif(stores.SERVER is not None, reason="starts a PostgreSQL of its own, wherever it is run"),
]


class Postgres:
    """PostgreSQL on a free port."""

    def __init__(self):
        self.process = subprocess.Popen(
            [ROOT / "scripts" / "with-postgres", "sh", "-c", "echo $SPINE_TEST_POSTGRES; cat >/dev/null"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        self.url = self.process.stdout.readline().strip()
        self.psql = sorted(glob.glob("/usr/lib/postgresql/*/bin/psql"))[-1]

    def run(self, sql, database="postgres"):
        url = self.url.rsplit("/", 1)[0] + "/" + database
        done = subprocess.run([self.psql, "-qAtX", url, "-c", sql], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    @contextlib.contextmanager
    def frozen(self):
        """All of it stands still: its connections stay, and nothing answers. Must not be asked meanwhile."""
        pid = int((Path(self.run("SHOW data_directory")) / "postmaster.pid").read_text().split()[0])
        stopped = [pid]
        os.kill(pid, signal.SIGSTOP)  # it makes no more children
        stopped += map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
        try:
            for child in stopped[1:]:
                os.kill(child, signal.SIGSTOP)
            yield
        finally:
            for one in stopped:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(one, signal.SIGCONT)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Database:
    """An empty database."""

    def __init__(self, postgres):
        self.postgres = postgres
        self.name = f"cluster{next(_numbers)}"
        self.url = postgres.url.rsplit("/", 1)[0] + "/" + self.name
        postgres.run(f"CREATE DATABASE {self.name}")

    def run(self, sql):
        return self.postgres.run(sql, self.name)


class Node:
    """One server over the database. `id` and `url` as the others know it. context: what a client of it goes over TLS with."""

    def __init__(self, data: Path, database: str, *options: str, context=None, **server):
        if certificates.wanted():
            options = ("--ca-file", str(certificates.authority().file), *options)
        self.advertised = dict(itertools.pairwise(options)).get("--advertise")
        self.context = context
        self.server = Server(data, "--store", database, *options, **server).wait_until_ready()
        self.id = self.ask("GET", "/healthz").headers["Spine-Node"]
        self.key = None

    @property
    def url(self):
        return self.advertised or self.server.url

    @property
    def address(self):
        return self.server.address

    def ask(self, method, path, body=None, key=None, space=None, headers=None, **more):
        sent = {"Spine-Space": space, **(headers or {})}
        return ask(self.address, method, path, body, key, sent, context=self.context, **more)

    def spine(self, *arguments):
        """What a command prints that talks to this node."""
        trust = {"SPINE_CA_FILE": str(certificates.authority().file)} if certificates.wanted() else {}
        done = subprocess.run([binary(), *arguments, "--url", self.url], capture_output=True, text=True, timeout=60,
                              env=clean_environment(**trust), check=True)
        return done.stdout

    def cluster(self, key=None):
        answer = self.ask("GET", "/v1/cluster", key=key)
        assert answer.status == 200, answer
        return answer.json

    def live(self, key=None):
        """Which nodes it takes for alive."""
        return {node["id"] for node in self.cluster(key)["nodes"] if node["state"] == "live"}

    def insist(self, method, path, body=None, status=200, seconds=20, headers=None, key=None, space=None):
        """Asks as a client does that tries again where it may."""
        sent = {"Spine-Space": space, "Idempotency-Key": str(uuid.uuid4()) if method == "POST" else None, **(headers or {})}

        def once():
            try:
                answer = ask(self.address, method, path, body, key, sent, context=self.context)
            except OSError:
                return None
            if answer.status == 503 and answer.json["retryable"]:
                return None
            return answer
        answer = wait_until(once, f"{method} {path} is answered", seconds)
        assert answer.status == status, answer
        return answer

    def owner(self, space, key=None):
        """The URL of the node that has the space."""
        return self.insist("GET", "/v1/memories", space=space, key=key).headers["Spine-Owner"]


def wait_for_each_other(nodes, key=None):
    ids = {node.id for node in nodes}
    for node in nodes:
        wait_until(lambda node=node: node.live(key) == ids, f"{node.id} sees {ids}")


def space_of(node, nodes, key=None, but=()):
    """The name of a space that this node owns."""
    for number in itertools.count(zlib.crc32(node.id.encode()) % 1000):
        if f"space-{number}" not in but and nodes[0].owner(f"space-{number}", key) == node.url:
            return f"space-{number}"


def log_of(node):
    lines = []
    for line in node.server.log.read_text(errors="replace").splitlines():
        try:
            lines.append(json.loads(line))
        except ValueError:
            lines.append({"msg": line})
    return lines


# --- What is asked of them ---


def store(node, space, content, **more):
    return node.insist("POST", "/v1/memories", {"content": content}, 201, space=space, **more)


def contents(node, space, key=None):
    answer = node.insist("GET", "/v1/memories?page_size=1000", space=space, key=key)
    return sorted(memory["content"] for memory in answer.json["memories"])


def pack(node, space, to="worker", key=None):
    body = {"from": "sender", "target_agent": to, "task_summary": "do the work", "include_recent": 0}
    return node.insist("POST", "/v1/envelopes", body, 201, space=space, key=key).json["id"]


def send(node, space, to="worker", key=None):
    return node.insist("POST", "/v1/handoffs", {"envelope_id": pack(node, space, to, key)}, 202, space=space, key=key).json


class Waiting(threading.Thread):
    """A request that waits."""

    def __init__(self, node, method, path, body=None, space=None, key=None, headers=None):
        super().__init__(daemon=True)
        self.do = lambda: node.ask(method, path, body, key, space, headers)
        self.answer = None
        self.start()

    def run(self):
        self.answer = self.do()

    def result(self):
        self.join(60)
        assert self.answer is not None, "no answer"
        return self.answer


def receiver(node, space, wait_s=30, key=None):
    body = {"wait_s": wait_s, "format": "none"}
    return Waiting(node, "POST", "/v1/agents/worker/receive", body, space, key)


def figure(node, name):
    """What /metrics has of it; None: nothing."""
    text = node.ask("GET", "/metrics").data.decode()
    found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
    return float(found[1]) if found else None


def waiting_at(node, key=None):
    text = node.ask("GET", "/metrics", key=key).data.decode()
    return sum(int(n) for n in re.findall(r"^spine_waiting_calls(?:\{[^}]*\})? (\d+)$", text, re.MULTILINE))
