"""What was shown or sent as a secret is not left in the server's memory."""

import re
import time

import pytest

from keys import Keyed

# What sanitizers reserve for themselves is larger than any memory, and holds no text.
LARGEST = 1 << 30


def held(pid, secret):
    """Where the bytes stand in the memory of the process: the names of its mappings."""
    places = []
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            match = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw\S* \S+ \S+ \S+ *(.*)", line)
            if match is None:
                continue
            start, end = int(match[1], 16), int(match[2], 16)
            if end - start > LARGEST:
                continue
            memory.seek(start)
            try:
                data = memory.read(end - start)
            except OSError:
                continue
            places += [f"{match[3] or 'anonymous'}+{found.start():x}" for found in re.finditer(re.escape(secret), data)]
    return places


def until_wiped(pid, secret):
    """A thread may still be about to end what it has answered already: waits for that."""
    for _ in range(50):
        places = held(pid, secret)
        if not places:
            return []
        time.sleep(0.05)
    return places


@pytest.fixture
def keyed(tmp_path):
    running = Keyed(tmp_path / "data", "--no-sandbox")
    try:
        with open(f"/proc/{running.server.process.pid}/mem", "rb"):
            pass
    except PermissionError:
        running.server.kill()
        pytest.skip("this system lets nobody look into a process, not even into a child")
    yield running
    assert running.server.terminate() == 0, running.server.log_tail()


def secret_of(key):
    return key.split("_", 2)[2].encode()


def test_the_way_of_looking_finds_what_is_there(keyed):
    answer = keyed.ask("POST", "/v1/memories", {"content": "zqmarkerzq in the index of words"}, keyed.root)
    assert answer.status == 201 and keyed.ask("GET", "/v1/memories/search?q=zqmarkerzq", key=keyed.root).status < 500
    assert held(keyed.server.process.pid, b"zqmarkerzq"), "memories are kept in memory, and are found there"


@pytest.mark.parametrize("name", ["short", "a long name \u00e9 " + "x" * 110])
def test_a_key_that_was_made_is_gone(keyed, name):
    made = keyed.make(keyed.root, name=name)
    assert until_wiped(keyed.server.process.pid, secret_of(made["key"])) == []


def test_a_key_that_was_rotated_is_gone(keyed):
    made = keyed.make(keyed.root, name="turns")
    new = keyed.ask("POST", f"/v1/keys/{made['id']}/rotate", {}, keyed.root).json["key"]
    assert until_wiped(keyed.server.process.pid, secret_of(new)) == []


def test_a_key_that_was_sent_is_gone_whatever_was_answered(keyed):
    key = keyed.key()
    pid = keyed.server.process.pid
    for call in (("GET", "/v1/memories"), ("POST", "/v1/memories", {"content": "x"}), ("POST", "/v1/memories", {"content": "y" * 200000}),
                 ("POST", "/v1/memories", {"wrong": 1}), ("GET", "/nowhere"), ("GET", "/v1/keys"), ("POST", "/v1/agents/ann/receive", {"wait_s": 0.1})):
        keyed.ask(*call, key=key)
    wrong = key[:-4] + "AAAA"
    assert keyed.ask("GET", "/v1/memories", key=wrong).status == 401
    assert until_wiped(pid, secret_of(key)) == [] and until_wiped(pid, secret_of(wrong)) == []


def test_signing_in_leaves_neither_the_key_nor_the_cookie(keyed):
    key = keyed.key()
    answer = keyed.ask("POST", "/v1/session", {"key": key})
    assert answer.status == 201, answer
    cookie = answer.headers["Set-Cookie"].split("=", 1)[1].split(";")[0]
    assert keyed.ask("GET", "/v1/session", headers={"Cookie": f"spine_session={cookie}"}).json["key"]
    pid = keyed.server.process.pid
    assert until_wiped(pid, secret_of(key)) == []
    assert until_wiped(pid, cookie.split(".")[1].encode()) == []
