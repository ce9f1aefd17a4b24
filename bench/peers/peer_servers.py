"""The queue servers that we are compared with: each started by itself on a free port of 127.0.0.1, with its data in a
directory of its own, and set so that it syncs before it acknowledges; stopped and removed afterwards.

They come from Debian's packages (`scripts/deps bench`). What Debian would run as a service is not used.
"""

from __future__ import annotations

import os
import pwd
import resource
import shutil
import signal
import socket
import stat
import subprocess
import time
from pathlib import Path
from typing import Callable

START_TIMEOUT_S = 90.0
STOP_TIMEOUT_S = 30.0
POLL_S = 0.02
FILES_MAX = 16384
CONNECTIONS_MAX = 1200


class PeerError(Exception):
    """A server did not start, or could not be made to sync."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def raise_file_limit() -> None:
    """More than a thousand connections: on both sides, so children inherit it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES_MAX if hard == resource.RLIM_INFINITY else min(FILES_MAX, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


class Peer:
    """One server. A kind of server is a subclass that says how it is started."""

    name = ""
    title = ""
    stop_signal = signal.SIGTERM

    def __init__(self, data: Path) -> None:
        """`data` must not exist."""
        raise_file_limit()
        self.data = data
        self.port = free_port()
        self.log = data / "server.log"
        self.processes: list[subprocess.Popen[bytes]] = []
        data.mkdir(parents=True)

    # What a kind of server says.

    def command(self) -> list[str]:
        raise NotImplementedError

    def prepare(self) -> None:
        """Makes what must be there before it starts."""

    def environment(self) -> dict[str, str]:
        return {}

    def user(self) -> str | None:
        """Who runs it; None: who runs this."""
        return None

    def ready(self) -> bool:
        return answers(self.port)

    def server_pid(self) -> int:
        return self.processes[-1].pid

    # What all of them do.

    def __enter__(self) -> Peer:
        try:
            self.prepare()
            process = self.spawn(self.command())
            self.wait_until(self.ready, process)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def spawn(self, command: list[str]) -> subprocess.Popen[bytes]:
        """Each is the leader of a session, so that what it starts goes with it, and ends when this program ends,
        however that happens."""
        user = self.user()
        inherited = {name: os.environ[name] for name in ("PATH", "LANG", "TZ") if name in os.environ}
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                ["setpriv", "--pdeathsig", self.stop_signal.name.removeprefix("SIG"), *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.data,
                env={**inherited, "HOME": str(self.data), **self.environment()},
                start_new_session=True,
                user=user,
                group=pwd.getpwnam(user).pw_gid if user else None,
                extra_groups=[] if user else None,
            )
        self.processes.append(process)
        return process

    def wait_until(self, is_so: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        while not is_so():
            if process.poll() is not None or time.monotonic() > deadline:
                ended = "ended" if process.poll() is not None else f"was not ready after {START_TIMEOUT_S:.0f} s"
                raise PeerError(f"{self.name} {ended}; its log ends: {self.log_tail()}")
            time.sleep(POLL_S)

    def log_tail(self) -> str:
        return self.log.read_text(errors="replace")[-800:].strip() if self.log.exists() else ""

    def stop(self) -> None:
        for process in reversed(self.processes):
            for sign in (self.stop_signal, signal.SIGKILL):
                if self.end_group(process, sign):
                    break
        self.processes.clear()
        shutil.rmtree(self.data, ignore_errors=True)

    @staticmethod
    def end_group(process: subprocess.Popen[bytes], sign: int) -> bool:
        """Whether all of them have gone, not only the leader."""
        deadline = time.monotonic() + STOP_TIMEOUT_S
        try:
            os.killpg(process.pid, sign)
            while time.monotonic() < deadline:
                process.poll()
                os.killpg(process.pid, 0)
                time.sleep(POLL_S)
        except ProcessLookupError:
            return True
        return False


class Redis(Peer):
    """Every write is in the append-only file, and synced, before its answer goes out. No snapshots beside it, and the
    file is written anew at a gigabyte instead of at 64 MB, which would be every second."""

    name = "redis"
    title = "Redis Streams"
    stop_signal = signal.SIGKILL

    def command(self) -> list[str]:
        options = {
            "bind": "127.0.0.1",
            "port": str(self.port),
            "dir": str(self.data),
            "save": "",
            "appendonly": "yes",
            "appendfsync": "always",
            "auto-aof-rewrite-min-size": "1gb",
            "maxclients": "10000",
        }
        return ["redis-server", *(word for name, value in options.items() for word in (f"--{name}", value))]


class RabbitMQ(Peer):
    """One node; quorum queues sync their log before they confirm. The port mapper of Erlang is one of its own, because
    the usual one would stay behind and listen everywhere."""

    name = "rabbitmq"
    title = "RabbitMQ quorum queue"
    stop_signal = signal.SIGKILL

    def prepare(self) -> None:
        self.mapper_port = free_port()
        mapper = self.spawn(["epmd", "-address", "127.0.0.1", "-port", str(self.mapper_port)])
        self.wait_until(lambda: answers(self.mapper_port), mapper)
        (self.data / "rabbitmq.conf").write_text(
            f"listeners.tcp.1 = 127.0.0.1:{self.port}\nnum_acceptors.tcp = 10\nlog.file.level = warning\n"
        )
        (self.data / "enabled_plugins").write_text("[].\n")

    def command(self) -> list[str]:
        return ["/usr/lib/rabbitmq/bin/rabbitmq-server"]

    def environment(self) -> dict[str, str]:
        return {
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "ERL_EPMD_PORT": str(self.mapper_port),
            "RABBITMQ_NODENAME": "bench@localhost",
            "RABBITMQ_DIST_PORT": str(free_port()),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
            "RABBITMQ_CONFIG_FILE": str(self.data / "rabbitmq.conf"),
            "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.data / "enabled_plugins"),
            "RABBITMQ_MNESIA_BASE": str(self.data / "mnesia"),
            "RABBITMQ_LOG_BASE": str(self.data / "log"),
            "RABBITMQ_PID_FILE": str(self.data / "pid"),
            "RUNNING_UNDER_SYSTEMD": "true",  # the script then becomes the server instead of waiting for it
        }


class PostgreSQL(Peer):
    """Its defaults for durability (fsync, synchronous_commit, full_page_writes), room for a thousand connections and
    for the log between checkpoints, and a vacuum that looks every second."""

    name = "postgres"
    title = "PostgreSQL SKIP LOCKED"
    stop_signal = signal.SIGQUIT  # its quickest way out

    @staticmethod
    def programs() -> Path:
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
        if not found:
            raise PeerError("there is no PostgreSQL in /usr/lib/postgresql")
        return found[-1].parent

    def user(self) -> str | None:
        return "postgres" if os.geteuid() == 0 else None  # it refuses to be run by root

    def let_in(self, user: str) -> None:
        """Another user needs a way to the data: through what is above them, of which only the nearest is ours."""
        shutil.chown(self.data, user)
        self.data.parent.chmod(0o755)
        for directory in self.data.parents:
            if directory.stat().st_mode & stat.S_IXOTH == 0:
                raise PeerError(f"{self.name} runs as the user {user}, who cannot enter it: chmod o+x {directory}")

    def prepare(self) -> None:
        if user := self.user():
            self.let_in(user)
        options = ["--username=bench", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]
        made = self.spawn([str(self.programs() / "initdb"), "-D", str(self.data / "pg"), *options])
        if made.wait(START_TIMEOUT_S) != 0:
            raise PeerError(f"initdb failed: {self.log_tail()}")
        self.processes.remove(made)

    def command(self) -> list[str]:
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": "",
            "max_connections": str(CONNECTIONS_MAX),
            "shared_buffers": "512MB",
            "max_wal_size": "8GB",
            "checkpoint_timeout": "15min",
            "autovacuum_naptime": "1s",
            "logging_collector": "off",
        }
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        return [str(self.programs() / "postgres"), "-D", str(self.data / "pg"), *options]

    def ready(self) -> bool:
        asked = [str(self.programs() / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(asked, check=False).returncode == 0


class Beanstalkd(Peer):
    """A log, synced at every write."""

    name = "beanstalkd"
    title = "beanstalkd -f0"
    stop_signal = signal.SIGKILL

    def command(self) -> list[str]:
        return ["beanstalkd", "-l", "127.0.0.1", "-p", str(self.port), "-b", str(self.data), "-f0"]


class Nats(Peer):
    """Its version in Debian cannot be told to sync before it answers. The store's directory is marked so that the file
    system does it at every write (chattr +S, which what is made inside inherits)."""

    name = "nats"
    title = "NATS JetStream, synced"
    stop_signal = signal.SIGKILL

    def prepare(self) -> None:
        store = self.data / "store"
        store.mkdir()
        if subprocess.run(["chattr", "+S", str(store)], check=False).returncode != 0:
            raise PeerError(f"chattr +S {store} failed: this file system cannot do it")
        (self.data / "nats.conf").write_text(
            f'listen: "127.0.0.1:{self.port}"\njetstream {{ store_dir: "{store}" }}\n'
        )

    def command(self) -> list[str]:
        return ["nats-server", "-c", str(self.data / "nats.conf")]


PEERS: dict[str, type[Peer]] = {kind.name: kind for kind in (Redis, RabbitMQ, PostgreSQL, Beanstalkd, Nats)}
