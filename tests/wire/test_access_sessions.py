"""Sessions of the dashboard: what ends with one, and what one key can do to those of others."""

import http.client
import json
import socket
import time

import pytest

from api import wait_until
from keys import Keyed
from test_access import later, streams, waiting
from test_access_inbox import Team

SESSIONS_OF_A_KEY, SESSIONS = 32, 1024


@pytest.fixture(scope="module")
def keyed(tmp_path_factory):
    running = Keyed(tmp_path_factory.mktemp("keyed") / "data")
    yield running
    assert running.server.terminate() == 0, running.server.log_tail()


@pytest.fixture
def own(tmp_path):
    running = Keyed(tmp_path / "data")
    yield running
    running.server.discard()


def page(keyed, cookie=None):
    """What a browser sends with a call of the server's own page."""
    sent = {"Origin": f"http://127.0.0.1:{keyed.address[1]}", "Sec-Fetch-Site": "same-origin"}
    return {**sent, "Cookie": cookie} if cookie else sent


def sign_in(keyed, key, over=None):
    """The cookie. over: that of a session which the browser has already."""
    answer = keyed.ask("POST", "/v1/session", {"key": key}, headers=page(keyed, over))
    assert answer.status == 201, answer
    return answer.headers["Set-Cookie"].split(";")[0]


def is_in(keyed, cookie):
    return keyed.ask("GET", "/v1/session", headers=page(keyed, cookie)).json["key"] is not None


def sign_out(keyed, cookie, key):
    assert keyed.ask("DELETE", "/v1/session", headers=page(keyed, cookie)).status == 204


def sign_in_over(keyed, cookie, key):
    assert sign_in(keyed, key, over=cookie) != cookie


def push_out(keyed, cookie, key):
    for _ in range(SESSIONS_OF_A_KEY):
        sign_in(keyed, key)


ENDS = [sign_out, sign_in_over, push_out]


@pytest.mark.parametrize("end", ENDS)
def test_a_call_that_waits_ends_with_its_session_and_takes_nothing(keyed, end):
    team = Team(keyed)
    key = team.keys["bob"]
    cookie, other = sign_in(keyed, key), sign_in(keyed, team.keys["cid"])
    join = later(keyed, "POST", "/v1/agents/bob/receive", {"wait_s": 30}, headers=page(keyed, cookie))
    kept = later(keyed, "POST", "/v1/agents/cid/receive", {"wait_s": 30}, headers=page(keyed, other))
    wait_until(lambda: waiting(keyed) == 2, "both wait")
    began = time.monotonic()
    end(keyed, cookie, key)
    answer = join()
    assert answer.status == 401 and answer.json["code"] == "unauthorized" and time.monotonic() - began < 10, answer
    assert "session" in answer.json["detail"], answer
    sent = team.send("ann", "bob")["id"]
    assert team.get("ann", f"/v1/handoffs/{sent}")["state"] == "queued"
    team.send("ann", "cid")
    assert len(kept().json["handoffs"]) == 1, "sessions of others go on"
    assert not is_in(keyed, cookie) and is_in(keyed, other)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("path", ["/v1/events", "/v1/agents/bob/stream"])
def test_a_stream_ends_with_its_session(keyed, end, path):
    key = keyed.key(space="streams", agent="bob")
    cookie = sign_in(keyed, key)
    connection = http.client.HTTPConnection(*keyed.address, timeout=20)
    connection.request("GET", path, headers=page(keyed, cookie))
    response = connection.getresponse()
    assert response.status == 200 and response.readline()
    end(keyed, cookie, key)
    text = response.read().decode()
    assert "event: problem" in text and "unauthorized" in text, text
    connection.close()


@pytest.mark.parametrize("end", ENDS)
def test_a_body_that_is_still_coming_when_its_session_ends_is_not_carried_out(keyed, end):
    key = keyed.key(space=f"half-{end.__name__}")
    cookie = sign_in(keyed, key)
    body = b'{"content":"half sent"}'
    head = "".join(f"{name}: {value}\r\n" for name, value in page(keyed, cookie).items())
    with socket.create_connection(keyed.address, timeout=20) as peer:
        peer.sendall(f"POST /v1/memories HTTP/1.1\r\nHost: 127.0.0.1:{keyed.address[1]}\r\n{head}Content-Type: application/json\r\n"
                     f"Expect: 100-continue\r\nContent-Length: {len(body)}\r\n\r\n".encode())
        assert peer.recv(65536).startswith(b"HTTP/1.1 100"), "the head is read, and lets it in"
        peer.sendall(body[:5])
        end(keyed, cookie, key)
        peer.sendall(body[5:])
        assert peer.recv(65536).startswith(b"HTTP/1.1 401")
    assert keyed.ask("GET", "/v1/memories", key=key).json["memories"] == []


def test_signing_in_anew_ends_the_session_before_but_a_wrong_key_does_not(keyed):
    key = keyed.key(space="anew")
    first = sign_in(keyed, key)
    assert keyed.ask("POST", "/v1/session", {"key": "spk_1_" + "x" * 43}, headers=page(keyed, first)).status == 401
    assert is_in(keyed, first)
    second = sign_in(keyed, keyed.key(space="other"), over=first)
    assert not is_in(keyed, first) and is_in(keyed, second)


def test_a_key_signs_out_none_of_another_however_often_it_signs_in(own):
    admin = sign_in(own, own.root)
    key = own.key(space="team", agent="ann", scopes=["receive"])
    cookies = [sign_in(own, key) for _ in range(SESSIONS_OF_A_KEY + 3)]
    assert [is_in(own, cookie) for cookie in cookies] == [False] * 3 + [True] * SESSIONS_OF_A_KEY
    for _ in range(SESSIONS):
        sign_in(own, key)
    assert is_in(own, admin)


def test_the_keys_of_one_space_sign_out_none_of_another(own):
    """A space's administrator makes as many keys as it likes."""
    others = [sign_in(own, own.root)] + [sign_in(own, own.key(space="quiet")) for _ in range(20)]
    admin = own.key(space="loud", scopes=["admin"])
    for _ in range(SESSIONS // SESSIONS_OF_A_KEY + 2):
        key = own.make(admin, name="many")["key"]
        for _ in range(SESSIONS_OF_A_KEY):
            last = sign_in(own, key)
    assert all(is_in(own, cookie) for cookie in others) and is_in(own, last)
    assert is_in(own, sign_in(own, own.key(space="quiet"))), "there is room for who comes later"
    assert all(is_in(own, cookie) for cookie in others)
