"""Nodes of a cluster as whoever runs them sees them: how they are started, and what is told of them."""

import configparser
import contextlib
import os
import re
import signal
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import server
import wrong_clock
from api import wait_until
from cluster import (
    NEEDS_POSTGRES, Node, Waiting, contents, figure, log_of, pack, space_of, store, wait_for_each_other, waiting_at,
)

pytestmark = NEEDS_POSTGRES

UNIT = Path(__file__).resolve().parents[2] / "deploy" / "systemd" / "memory-spine.service"
WITHOUT_OWNER = "spine_cluster_shards_without_owner"
TWIN = "another node is told to be at this node's URL"


@pytest.mark.parametrize("url", [
    "http://", "https://", "10.0.0.5:8788", "http://h:1/path", "http://h:1/", "http://h:1?x", "http://h:1#x", "http://u@h:1",
    "http://h:x", "http://h:70000", "http:///", "http://0.0.0.0:8788", "http://[::]:8788", "ftp://h:1", "http://a b",
])
def test_what_is_advertised_must_be_a_url_without_a_path(tmp_path, url):
    command = [server.binary(), "serve", "--store", "postgres://127.0.0.1:1/spine", "--data", tmp_path / "node",
               "--listen", "127.0.0.1:0", "--advertise", url]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2 and f'--advertise is "{url}"; expected the URL' in done.stderr, done


def test_two_nodes_with_the_same_url_are_named_in_both_logs_and_in_the_cluster(join):
    first = join()
    second = join("--advertise", first.url)

    def told(node):
        return [line for line in log_of(node) if line["msg"].startswith(TWIN)]

    for node, other in ((first, second), (second, first)):
        (line,) = wait_until(lambda node=node: told(node), "it is in the log")
        assert (line["url"], line["node"]) == (first.url, other.id), line
        assert {one["id"]: one["same_url_as"] for one in node.cluster()["nodes"]} == {
            first.id: second.id, second.id: first.id}
    one, other = sorted((first.id, second.id))
    assert f"{one} and {other} are both told to be at {first.url}" in " ".join(first.spine("cluster").split())


def test_a_node_that_was_killed_and_is_started_on_another_directory_is_no_other_node(join):
    killed = join("--advertise", "http://127.0.0.1:1")
    killed.server.process.kill()
    killed.server.process.wait()
    again = join("--advertise", "http://127.0.0.1:1")
    assert killed.id in again.live(), "its lease has not ended"
    wait_until(lambda: again.live() == {again.id}, "its lease is over")
    assert not [line for line in log_of(again) if line["msg"].startswith(TWIN)]
    assert [node["same_url_as"] for node in again.cluster()["nodes"]] == [None] * len(again.cluster()["nodes"])


def test_a_node_without_a_database_at_its_start_is_started_again_until_there_is_one(tmp_path):
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str
    unit.read(UNIT)
    command = [server.binary(), "serve", "--store", "postgres://127.0.0.1:1/spine", "--data", tmp_path / "node",
               "--listen", "127.0.0.1:0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1 and "PostgreSQL cannot be reached" in done.stderr, done
    # systemd starts it again for that code, and does not stop after the fifth time.
    assert unit["Service"]["Restart"] == "on-failure"
    assert str(done.returncode) not in unit["Service"]["RestartPreventExitStatus"].split()
    assert unit["Unit"]["StartLimitIntervalSec"] == "0"


def test_a_node_that_became_too_old_while_it_ran_owns_nothing_and_says_so(join, database):
    node = join()
    store(node, "here", "kept")
    database.run("UPDATE spine.version SET schema = 1000, oldest = 1000, oldest_name = '9.9'")
    told = wait_until(lambda: (got := node.ask("GET", "/readyz")).status == 503 and got, "it is not ready")
    assert told.json["reason"] == "too_old", told
    refused = node.ask("GET", "/v1/memories", space="here")
    assert (refused.status, refused.json["code"]) == (503, "no_owner"), refused
    wait_until(lambda: database.run("SELECT count(*) FROM spine.node") == "0", "its row is gone")
    assert database.run("SELECT count(*) FROM spine.shard WHERE owner IS NOT NULL") == "0"
    (line,) = [line for line in log_of(node) if "is too old for the database" in line["msg"]]
    assert line["needs"] == "9.9", line
    assert node.ask("GET", "/v1/cluster").json["nodes"] == []
    database.run("UPDATE spine.version SET schema = 1, oldest = 1")
    assert contents(node, "here") == ["kept"]
    assert node.server.terminate() == 0


def ranges(numbers):
    runs = []
    for n in sorted(numbers):
        if runs and runs[-1][1] == n - 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    return ", ".join(f"{a}-{b}" if b > a else f"{a}" for a, b in runs)


def test_the_command_names_the_shards_of_each_node_and_those_of_nobody(join):
    nodes = [join(), join()]
    wait_for_each_other(nodes)
    for number in range(40):
        store(nodes[0], f"space-{number}", "kept")
    told = wait_until(lambda: (told := nodes[0].cluster()) and all(s["state"] != "moving" for s in told["shards"]) and told,
                      "all have their parts")
    text = nodes[0].spine("cluster")
    for node in nodes:
        own = [shard["shard"] for shard in told["shards"] if shard["owner"] == node.id]
        assert own and f"{node.id} owns {ranges(own)}\n" in text, text
    idle = [shard["shard"] for shard in told["shards"] if shard["owner"] is None]
    assert f"{len(idle)} shards have no space, and are nobody's until one is asked for: {ranges(idle)}\n" in text, text


@contextlib.contextmanager
def standby(postgres, name):
    """What streams the log of PostgreSQL, and says that it has replayed it."""
    url, programs = f"{postgres.url}?application_name={name}", Path(postgres.psql).parent
    # PostgreSQL refuses root, and pytest's directories are root's alone.
    user = ["setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory(prefix="spine-standby-") as directory:
        Path(directory).chmod(0o777)
        data = f"{directory}/data"
        subprocess.run([*user, programs / "pg_basebackup", "-D", data, "-d", url, "-R", "-c", "fast"], check=True)
        process = subprocess.Popen([*user, programs / "postgres", "-D", data, "-k", directory, "-c", "listen_addresses=",
                                    "-c", "max_connections=300"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield
        finally:
            process.send_signal(signal.SIGQUIT)
            process.wait()


def test_how_far_the_standbys_of_postgres_are_behind_is_told(join, postgres, tmp_path):
    node = join()
    assert wait_until(lambda: node.cluster()["standbys"] is not None, "they were asked for")
    assert node.cluster()["standbys"] == [] and "PostgreSQL has no standby.\n" in node.spine("cluster")
    with standby(postgres, "other"):
        one = wait_until(lambda: (got := node.cluster()["standbys"]) and got[0]["state"] == "streaming"
                         and got[0]["lag_ms"] is not None and got[0], "it follows", 60)
        assert (one["name"], one["sync_state"]) == ("other", "async")
        assert one["lag_ms"] >= 0 and one["lag_bytes"] >= 0
        assert re.search(r"^other +streaming +async +\d+ms +\d+B$", node.spine("cluster"), re.MULTILINE)
        text = node.ask("GET", "/metrics").data.decode()
        assert re.search(r'^spine_cluster_standby_lag_seconds\{standby="other"\} [\d.e-]+$', text, re.MULTILINE), text
        assert re.search(r'^spine_cluster_standby_lag_bytes\{standby="other"\} \d+$', text, re.MULTILINE), text
        told_to_plain_user(postgres, tmp_path)


def told_to_plain_user(postgres, tmp_path):
    """Who has not the role sees that there is something, and nothing of it."""
    postgres.run("CREATE DATABASE plain")
    postgres.run("CREATE ROLE plain LOGIN")
    postgres.run("GRANT CREATE ON DATABASE plain TO plain")
    where = urlsplit(postgres.url)
    plain = Node(tmp_path / "plain", f"postgres://plain@{where.hostname}:{where.port}/plain")
    try:
        assert "PostgreSQL's standbys are not known" in plain.spine("cluster")
        assert plain.cluster()["standbys"] is None
        assert "spine_cluster_standby_lag_bytes{" not in plain.ask("GET", "/metrics").data.decode()
        postgres.run("GRANT pg_monitor TO plain")
        wait_until(lambda: plain.cluster()["standbys"], "it may see them")
    finally:
        plain.server.discard()


def pause(node):
    """The signal is taken by one thread, which stops the others a moment later."""
    pid = node.server.process.pid
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: all(") T " in thread.read_text() for thread in Path(f"/proc/{pid}/task").glob("*/stat")), "all stand still")


def unread_bytes(port):
    """What has come for a server and was not read by it."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(int(row[4].split(":")[1], 16) for row in rows if int(row[1].split(":")[1], 16) == port and row[3] == "01")


@pytest.mark.parametrize("method, path, body, headers, told", [
    ("POST", "/v1/keys", {"name": "ops"}, {}, (500, "outcome_unknown", False)),
    ("POST", "/v1/keys/key-1/rotate", {}, {}, (500, "outcome_unknown", False)),
    ("PATCH", "/v1/memories/ms-1", {"content": "new"}, {"If-Match": '"ms-1@1"'}, (500, "outcome_unknown", False)),
    ("PATCH", "/v1/memories/ms-1", {"content": "new"}, {}, (503, "no_owner", True)),
    ("POST", "/v1/agents/worker/receive", {}, {}, (503, "no_owner", True)),
    ("GET", "/v1/memories", None, {}, (503, "no_owner", True)),
])
def test_what_may_be_done_by_a_node_that_died_is_asked_again_only_where_that_does_no_harm(join, method, path, body, headers, told):
    first, second = nodes = [join(), join()]
    wait_for_each_other(nodes)
    space = space_of(first, nodes)
    store(second, space, "old")

    def lease_left_ms():
        return next((node["lease_left_ms"] for node in second.cluster()["nodes"] if node["id"] == first.id), 0)

    wait_until(lambda: lease_left_ms() > 4000, "it has just renewed its lease")
    pause(first)
    waiting = Waiting(second, method, path, body, space, headers=headers)
    wait_until(lambda: unread_bytes(first.address[1]) > 0, "it is at the owner")
    first.server.kill()
    answer = waiting.result()
    assert (answer.status, answer.json["code"], answer.json["retryable"]) == told, answer


def test_making_a_key_in_the_database_beside_servers_says_what_to_do(join, database):
    nodes = [join(), join()]

    def key(*arguments):
        return subprocess.run([server.binary(), "key", *arguments, "--store", database.url], capture_output=True, text=True,
                              check=False, timeout=60)

    first = min(nodes, key=lambda node: node.id)
    told = f"2 servers use this database (the first is {first.id} at {first.url}): stop all of them and try again"
    create = key("create", "root", "--scope", "admin")
    assert create.returncode == 1 and told in create.stderr and "spine key create --url URL" in create.stderr, create
    reset = key("reset", "--yes")
    assert reset.returncode == 1 and told in reset.stderr and "--url" not in reset.stderr, reset
    # What it says can be done.
    subprocess.run([server.binary(), "key", "create", "root", "--url", first.url], capture_output=True, text=True, check=True)
    for node in nodes:
        assert node.server.terminate() == 0
    assert key("create", "rescue").returncode == 0


def test_the_doctor_tells_how_the_cluster_is_and_a_database_that_is_away(join, postgres, database):
    nodes = [join(), join()]
    wait_for_each_other(nodes)
    store(nodes[0], "here", "kept")

    def doctor(command="doctor"):
        return subprocess.run([server.binary(), command, "--url", nodes[0].url, "--space", "here"], capture_output=True,
                              text=True, check=False, timeout=60, env=server.clean_environment())

    well = wait_until(lambda: (got := doctor()).returncode == 0 and got, "all is well")
    assert re.search(r"^ok +cluster +2 nodes live, and every space has an owner$", well.stdout, re.MULTILINE), well.stdout
    assert "on the disk of PostgreSQL's machine" in well.stdout
    postgres.run(f"ALTER DATABASE {database.name} ALLOW_CONNECTIONS false")
    postgres.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database.name}'")
    wait_until(lambda: nodes[0].ask("GET", "/readyz").status == 503, "it is not ready")
    away = doctor()
    assert away.returncode == 1 and re.search(f"{nodes[0].url} answers, and is not ready: no_(lease|database)$", away.stdout,
                                              re.MULTILINE), away.stdout
    assert "start it" not in away.stdout
    told = doctor("status")
    assert told.returncode == 5 and "the server is not ready: no_" in told.stderr, told
    postgres.run(f"ALTER DATABASE {database.name} ALLOW_CONNECTIONS true")


def test_a_sender_that_waits_when_the_database_goes_is_not_told_that_nothing_was_stored(join, postgres, database):
    node = join()
    body = {"envelope_id": pack(node, "here"), "wait_s": 60}
    waiting = Waiting(node, "POST", "/v1/handoffs", body, "here")
    wait_until(lambda: waiting_at(node) == 1, "the sender waits")
    postgres.run(f"ALTER DATABASE {database.name} ALLOW_CONNECTIONS false")
    postgres.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database.name}'")
    told = waiting.result()
    postgres.run(f"ALTER DATABASE {database.name} ALLOW_CONNECTIONS true")
    assert told.status == 503 and told.json["retryable"], told
    assert told.json["detail"] == "the database does not answer just now; what it had begun before it waited is kept", told
    assert [handoff["state"] for handoff in node.insist("GET", "/v1/handoffs", space="here").json["handoffs"]] == ["queued"]


def test_a_node_has_been_up_since_it_was_started_and_not_since_a_space_was_asked_for(join):
    node = join()
    status = [node.insist("GET", "/v1/status", space=space).json for space in ("here", "there", "elsewhere")]
    assert len({told["started_at"] for told in status}) == 1, status


def test_a_node_whose_wall_clock_is_minutes_off_takes_and_passes_on_as_any_other(join, tmp_path):
    """Its time is the database's, also where it says when it has passed something on."""
    (tmp_path / "boot").write_text("boot-first\n")
    (tmp_path / "shift").write_text("7200\n")
    shim = wrong_clock.environment(wrong_clock.build(tmp_path), tmp_path / "shift", tmp_path / "boot")
    right, wrong = nodes = [join(), join(program=server.plain_binary(), **shim)]
    wait_for_each_other(nodes)
    of_right, of_wrong = space_of(right, nodes), space_of(wrong, [wrong, right])
    offset_ms = {node["id"]: node["clock_offset_ms"] for node in right.cluster()["nodes"]}[wrong.id]
    assert -7203000 < offset_ms < -7197000
    for space, through in ((of_right, wrong), (of_wrong, right)):
        store(through, space, "kept")
        assert through.ask("GET", "/v1/memories", space=space).status == 200


def test_what_a_node_has_not_seen_for_long_it_does_not_tell_as_if_it_were_so(join, postgres, database):
    nodes = [join(), join()]
    wait_for_each_other(nodes)
    node, live, unknown = nodes[0], 'spine_cluster_nodes{state="live"}', 'spine_cluster_nodes{state="unknown"}'
    for number in range(8):
        store(node, f"space-{number}", "kept")
    told = node.cluster()
    assert 0 <= told["seen_ms_ago"] < 5000, told
    assert (figure(node, live), figure(node, unknown), figure(node, WITHOUT_OWNER)) == (2, 0, 0)
    postgres.run(f"ALTER DATABASE {database.name} ALLOW_CONNECTIONS false")
    postgres.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database.name}'")
    told = wait_until(lambda: (told := node.cluster()) and told["seen_ms_ago"] > 5000 and told, "it has seen nothing for a lease")
    assert {one["state"] for one in told["nodes"]} == {"unknown"} and len(told["nodes"]) == 2
    assert {one["lease_left_ms"] for one in told["nodes"]} == {0}
    assert {shard["state"] for shard in told["shards"]} == {"unknown"}
    assert told["standbys"] is None
    assert (figure(node, live), figure(node, unknown), figure(node, WITHOUT_OWNER)) == (0, 2, None)
    assert figure(node, "spine_cluster_shards_owned") == 0
    says = r"this node has not reached the database for [0-9]+ s; what follows is from then"
    done = subprocess.run([server.binary(), "cluster", "--url", node.url], capture_output=True, text=True, check=False, timeout=60,
                          env=server.clean_environment())
    text = done.stdout
    assert done.returncode == 5 and re.match(says, text), done
    done = subprocess.run([server.binary(), "cluster", "--url", node.url, "--json"], capture_output=True, text=True, check=False,
                          timeout=60, env=server.clean_environment())
    assert done.returncode == 5 and re.search(says, done.stderr) and done.stdout.startswith("{"), done
    done = subprocess.run([server.binary(), "doctor", "--url", node.url], capture_output=True, text=True, check=False, timeout=60,
                          env=server.clean_environment())
    assert re.search(r"this node has not reached the database for [0-9]+ s: what it knows of the others is from then", done.stdout)
    assert "nodes live" not in done.stdout and " is unknown" not in done.stdout, done.stdout
    assert "64 shards of which it is not known who has them: 0-63" in text, text
    postgres.run(f"ALTER DATABASE {database.name} ALLOW_CONNECTIONS true")
    wait_for_each_other(nodes)
    assert node.cluster()["seen_ms_ago"] < 5000 and figure(node, live) == 2
