"""Keys of a cluster: what was answered of a key holds at every node from the answer on."""

import contextlib
import http.client
import time

import pytest
import stores
from cluster import NEEDS_POSTGRES, space_of, store, wait_for_each_other

pytestmark = NEEDS_POSTGRES

LEASE_S = 5


@pytest.fixture
def three(join):
    nodes = [join() for _ in range(3)]
    wait_for_each_other(nodes)
    return nodes


def make(node, by=None, **fields):
    return node.insist("POST", "/v1/keys", {"name": "of a test", **fields}, 201, key=by).json


def read(node, space, key=None):
    return node.ask("GET", "/v1/memories", key=key, space=space).status


def write(node, space, key=None):
    return node.ask("POST", "/v1/memories", {"content": "x"}, key, space).status


@contextlib.contextmanager
def renewals_wait(database, node):
    """Whatever its node does meanwhile, it learns nothing of the others; it goes on until its lease is over."""
    other = stores.Postgres(database.url)
    assert not other.run("BEGIN")
    assert not other.run(f"SELECT FROM spine.node WHERE id = '{node.id}' FOR UPDATE")
    try:
        yield
    finally:
        other.run("ROLLBACK")
        other.close()


def test_keys_hold_everywhere_and_end_everywhere(three):
    """Nothing is waited for here: each answer of a key comes when all nodes know it."""
    first, second, third = three
    began = time.monotonic()
    root = make(first)["key"]
    assert [read(node, "x") for node in three] == [401] * 3
    assert [read(node, "x", root) for node in three] == [200] * 3
    space = space_of(third, three, root)
    for _ in range(10):
        made = make(second, root, scopes=["read"], space=space)
        assert [read(node, space, made["key"]) for node in three] == [200] * 3
        assert [write(node, space, made["key"]) for node in three] == [403] * 3
        new = second.insist("POST", f"/v1/keys/{made['id']}/rotate", {"grace_s": 0}, key=root).json["key"]
        assert [read(node, space, made["key"]) for node in three] == [401] * 3
        assert [read(node, space, new) for node in three] == [200] * 3
        first.insist("POST", f"/v1/keys/{made['id']}/revoke", {"reason": "over"}, key=root)
        assert [read(node, space, new) for node in three] == [401] * 3
    assert time.monotonic() - began < 31 * LEASE_S, "nobody waits for a lease to end"


def test_what_is_open_with_a_key_ends_with_it_at_another_node(three):
    first, second, third = three
    root = make(first)["key"]
    space = space_of(third, three, root)
    made = make(second, root, scopes=["read"], space=space)
    connection = http.client.HTTPConnection(*second.address, timeout=60)
    connection.request("GET", "/v1/events", headers={"Spine-Space": space, "Authorization": f"Bearer {made['key']}"})
    stream = connection.getresponse()
    assert stream.status == 200
    first.insist("POST", f"/v1/keys/{made['id']}/revoke", {"reason": "over"}, key=root)
    text = stream.read().decode()
    assert "event: problem" in text and "unauthorized" in text, text


def test_keys_of_a_space_that_is_deleted_end_everywhere(three):
    first, second, third = three
    root = make(first)["key"]
    space = space_of(third, three, root)
    store(first, space, "kept", key=root)
    made = make(first, root, space=space)
    assert [read(node, space, made["key"]) for node in three] == [200] * 3
    first.insist("DELETE", f"/v1/spaces/{space}?confirm={space}", key=root)
    assert [read(node, space, made["key"]) for node in three] == [401] * 3


def test_a_revocation_is_answered_when_no_node_goes_by_the_key_any_more(join, database):
    """Also where one cannot hear of it: its lease is waited for."""
    first, second = nodes = [join(), join()]
    wait_for_each_other(nodes)
    root = make(first)["key"]
    space, elsewhere = space_of(second, nodes, root), space_of(first, nodes, root)
    made = make(first, root, space=space, scopes=["read", "write"])
    assert write(second, space, made["key"]) == 201
    with renewals_wait(database, second):
        first.insist("POST", f"/v1/keys/{made['id']}/revoke", {"reason": "over"}, key=root, space=elsewhere)
        assert (read(second, space, made["key"]), write(second, space, made["key"])) in ((503, 503), (401, 401))
    # When it has a lease again it knows.
    second.insist("GET", "/v1/memories", status=401, key=made["key"], space=space)


def test_the_first_key_is_answered_when_every_node_needs_one(join, database):
    first, second = nodes = [join(), join()]
    wait_for_each_other(nodes)
    space, elsewhere = space_of(second, nodes), space_of(first, nodes)
    assert write(second, space) == 201
    with renewals_wait(database, second):
        made = first.insist("POST", "/v1/keys", {"name": "root"}, 201, space=elsewhere).json
        assert (read(second, space), write(second, space)) in ((503, 503), (401, 401))
    second.insist("GET", "/v1/memories", status=401, space=space)
    second.insist("GET", "/v1/memories", key=made["key"], space=space)
