"""Keys and pages in a browser: what a page of another origin may not do with any key, what a cookie promises, and headers that
say twice who asks."""

import pytest

from api import parse_raw, raw
from keys import Keyed, ask
from server import Server

PAGE = "http://localhost:3000"
APP = "https://app.example"


@pytest.fixture
def keyed(tmp_path):
    running = Keyed(tmp_path / "data", "--allow-origin", APP)
    yield running
    running.server.discard()


def test_a_page_of_another_origin_waives_nothing_whatever_key_it_has(keyed):
    admin = keyed.key(space="team", scopes=["admin"])
    body = {"target_agent": "bob", "task_summary": "x", "task": "t", "constraints": {"region": "eu", "language": "c"}}
    assert keyed.ask("POST", "/v1/envelopes", body, admin).status == 201
    waive = "/v1/tasks/t/waive"
    for origin in (PAGE, APP, "http://127.0.0.1:1"):
        for person in (None, "Ada"):
            said = keyed.refused(403, "origin_not_allowed", "POST", waive, {"key": "region", "reason": "x"}, admin,
                                 headers={"Origin": origin, "Spine-Person": person}, field="Origin")
            assert "dashboard" in said["detail"], said
        assert keyed.ask("GET", "/v1/tasks/t", key=admin, headers={"Origin": origin}).status == 200, "everything else it may"
    own = {"Origin": f"http://127.0.0.1:{keyed.address[1]}", "Host": f"127.0.0.1:{keyed.address[1]}"}
    assert keyed.ask("POST", waive, {"key": "region", "reason": "x"}, admin, own).status == 201
    assert keyed.ask("POST", waive, {"key": "language", "reason": "x"}, admin).status == 201, "what is no page says no origin"


@pytest.mark.parametrize("host", ["spine.example", "SPINE.EXAMPLE", "127.0.0.1", "localhost:{port}"])
def test_behind_https_the_cookie_goes_over_https_only_whatever_the_host_is_called(tmp_path, host):
    server = Server(tmp_path / "data", "--public-url", "https://spine.example", "--insecure").wait_until_ready()
    key = ask(server.address, "POST", "/v1/keys", {"name": "first"}).json["key"]
    answer = ask(server.address, "POST", "/v1/session", {"key": key}, headers={"Host": host.format(port=server.address[1])})
    assert answer.status == 201 and "; Secure" in answer.headers["Set-Cookie"], answer
    server.discard()


def test_a_public_url_of_plain_http_is_plain(tmp_path):
    server = Server(tmp_path / "data", "--public-url", "https://spine.example,http://inside.example", "--insecure").wait_until_ready()
    key = ask(server.address, "POST", "/v1/keys", {"name": "first"}).json["key"]
    for host, is_secure in (("inside.example", False), ("spine.example", True)):
        answer = ask(server.address, "POST", "/v1/session", {"key": key}, headers={"Host": host})
        assert answer.status == 201 and ("; Secure" in answer.headers["Set-Cookie"]) is is_secure, answer
    server.discard()


@pytest.mark.parametrize("name", ["Spine-Agent", "Spine-Space", "Spine-Task", "Spine-Person"])
def test_who_asks_and_where_is_said_once(keyed, name):
    for second in ("one", "other"):
        head = f"GET /v1/memories HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {keyed.root}\r\n{name}: one\r\n{name}: {second}\r\nConnection: close\r\n\r\n"
        answer = parse_raw(raw(keyed.address, head.encode()))
        assert answer.status == 400 and answer.json["code"] == "duplicate_header", answer
