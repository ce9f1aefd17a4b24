"""Nodes that speak https with each other, also where each wants a certificate of its clients."""

import socket

import pytest
from api import wait_until
from certificates import Authority, wanted
from cluster import (
    NEEDS_POSTGRES, contents, log_of, receiver, send, space_of, store, wait_for_each_other, waiting_at,
)

pytestmark = [*NEEDS_POSTGRES, pytest.mark.skipif(wanted(), reason="these nodes have certificates of their own")]
NAMES = "IP:127.0.0.1,DNS:localhost"


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    one = Authority(tmp_path_factory.mktemp("authority"))
    one.sign("node", NAMES)
    one.sign("client", NAMES)
    return one


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


@pytest.fixture
def join_https(join, authority):
    """Starts nodes that the others know by a name: join_https(), join_https("--option")."""
    context = authority.client()
    context.load_cert_chain(authority.path("client.pem"), authority.path("client.key"))

    def start(*options, trusts=authority):
        port = free_port()
        return join(*authority.serving("node", "--ca-file", str(trusts.file), "--advertise", f"https://localhost:{port}"),
                    *options, context=context, listen=f"127.0.0.1:{port}")

    return start


@pytest.fixture(params=["any client", "clients with a certificate"])
def two(request, join_https, authority):
    options = ("--tls-client-ca", str(authority.file)) if request.param == "clients with a certificate" else ()
    nodes = [join_https(*options) for _ in range(2)]
    wait_for_each_other(nodes)
    return nodes


def test_what_is_passed_on_goes_over_https(two):
    for owner, other in (two, two[::-1]):
        assert owner.url.startswith("https://localhost:")
        space = space_of(owner, two)
        store(other, space, "kept")
        assert contents(owner, space) == ["kept"]
        waiting = receiver(other, space)
        wait_until(lambda owner=owner: waiting_at(owner) == 1, "it waits at the owner")
        sent = send(owner, space)
        answer = waiting.result()
        assert answer.status == 200 and [handoff["id"] for handoff in answer.json["handoffs"]] == [sent["id"]], answer
        assert answer.headers["Spine-Owner"] == owner.url and answer.headers["Spine-Node"] == other.id


def test_a_key_is_enough_at_any_node(two):
    first, second = two
    root = first.insist("POST", "/v1/keys", {"name": "root"}, 201).json["key"]
    wait_until(lambda: second.ask("GET", "/v1/memories", space="x").status == 401, "both need keys")
    wait_until(lambda: second.ask("GET", "/v1/memories", key=root, space="x").status == 200, "the key is known")
    space = space_of(second, two, root)
    store(first, space, "kept", key=root)
    assert contents(second, space, root) == ["kept"]
    assert first.ask("GET", "/v1/memories", space=space).status == 401
    reader = second.insist("POST", "/v1/keys", {"name": "reader", "scopes": ["read"], "space": space}, 201, key=root).json
    wait_until(lambda: first.ask("GET", "/v1/memories", key=reader["key"], space=space).status == 200, "known at the first")
    assert first.ask("POST", "/v1/memories", {"content": "x"}, reader["key"], space).status == 403


def test_nothing_is_passed_on_to_who_cannot_be_trusted(join_https, authority, tmp_path):
    good, doubter = nodes = [join_https(), join_https(trusts=Authority(tmp_path))]
    wait_for_each_other(nodes)
    space = space_of(good, [good])
    answer = wait_until(lambda: (got := doubter.ask("GET", "/v1/memories", space=space)).status != 200 and got, "refused")
    assert answer.status == 503 and answer.json["code"] == "no_owner" and answer.headers["Retry-After"] == "1", answer
    told = [line for line in log_of(doubter) if line["msg"] == "a request could not be passed on"]
    assert told and good.url == told[0]["to"] and "certificate is not trusted" in told[0]["error"], told
    assert "127.0.0.1" not in answer.json["detail"] and "localhost" not in answer.json["detail"]
