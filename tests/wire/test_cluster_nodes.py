"""Nodes of a cluster as whoever runs them sees them: how they are started, and what is told of them."""

import configparser
import subprocess
from pathlib import Path

import pytest
import server
from api import wait_until
from cluster import NEEDS_POSTGRES, contents, log_of, store

pytestmark = NEEDS_POSTGRES

UNIT = Path(__file__).resolve().parents[2] / "deploy" / "systemd" / "memory-spine.service"
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
    assert f"{first.id} and {second.id} are both told to be at {first.url}" in " ".join(first.spine("cluster").split())


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
