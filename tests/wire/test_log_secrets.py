"""What people and agents wrote, and what opens doors, is never in the log: marks are planted wherever a text can be given, at
every level of the log, and looked for in all that the server printed, also when it ends by a failure."""

import base64
import contextlib
import http.client
import itertools
import os
import re
import signal
import subprocess

import pytest

from api import Api, raw, wait_until
from delivery import Desk
from mcp import Mcp
from server import Server, binary, plain_binary
from test_webhook import Hook
from trigger import ABORT, trigger

LEVELS = ("debug", "info", "warn", "error")


class Marks:
    """Each is another word, so that a failing test says which place leaks. All hold MARK."""

    def __init__(self):
        self.numbers = itertools.count(1)
        self.given = {}

    def __call__(self, place):
        mark = f"zqMARK{next(self.numbers):03d}zq"
        self.given[mark] = place
        return mark

    def secret(self, place):
        mark = base64.b64encode(self(place).encode().ljust(32, b"q")).decode()
        self.given[mark] = place
        return "whsec_" + mark

    def found_in(self, text):
        return {place for mark, place in self.given.items() if mark in text} | set(re.findall(r".*zqMARK.*", text)[:3])


def plant_memories(api, mark):
    made = api.store(mark("content"), summary=mark("summary"), tags=[mark("tag")], metadata={mark("a name"): mark("metadata")},
                     headers={"Idempotency-Key": mark("Idempotency-Key")})
    api.patch(made["id"], content=mark("patched content"))
    api.call("GET", f"/v1/memories?query={mark('query')}")
    api.call("GET", f"/v1/memories?{mark('parameter')}={mark('value')}")
    api.call("GET", f"/v1/{mark('path')}")
    api.call("POST", "/v1/memories", {"content": mark("refused content"), "importance": mark("bad value")})
    api.call("POST", "/v1/memories", {"content": mark("unknown"), mark("unknown field"): mark("unknown value")})
    api.call("POST", "/v1/memories", b'{"content": "' + mark("broken JSON").encode())
    api.call("POST", "/v1/memories", b'{"' + (key := mark("double name").encode()) + b'": 1, "' + key + b'": 2}')
    api.call("POST", "/v1/memories", mark("no JSON").encode(), {"Content-Type": mark("media type")})
    api.call("POST", "/v1/tokens", {"text": mark("text to count"), "tokenizer": mark("tokenizer")})
    api.call("GET", "/v1/memories", headers={"Spine-Space": mark("space") + "!"})
    api.forget(made["id"])


def plant_keys(api, mark):
    for name in ("Authorization", "Cookie", "X-Api-Key", "Proxy-Authorization", "Spine-Key", "traceparent", "If-Match"):
        api.call("GET", "/v1/memories", headers={name: f"Bearer {mark(name)}"})
        api.call("POST", "/v1/nothing", {"x": 1}, headers={name: f"Bearer {mark(name + ' of an error')}"})
    for headers in ({"Host": mark("Host")}, {"Origin": f"http://{mark('Origin')}.example"}, {"Host": f"{mark('name in Host')}:{mark('port in Host')}"},
                    {"Sec-Fetch-Site": "cross-site", "Referer": f"http://{mark('Referer')}.example"}):
        assert api.call("GET", "/v1/memories", headers=headers).status in (403, 421)
    for request in (b"GET /%s HTTP/9.9\r\n\r\n", b"%s / HTTP/1.1\r\nHost: localhost\r\n\r\n",
                    b"GET / HTTP/1.1\r\nHost: localhost\r\nBad Header %s: x\r\n\r\n",
                    b"GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: %s\r\nContent-Length: x\r\n\r\n"):
        raw(api.address, request % mark("raw request").encode())


def plant_work(desk, mark):
    envelope = desk.pack("worker", mark("task summary"), constraints={"must": [mark("constraint")]}, intent=mark("intent"),
                         state=mark("state"), task_id=mark("task"))
    if not envelope:
        return
    desk.deliver(envelope, 202, max_attempts=1)
    one = desk.take("worker")
    desk.call("POST", f"/v1/handoffs/{one['id']}/progress", {"lease": one["lease"], "note": mark("progress")})
    desk.call("POST", f"/v1/handoffs/{one['id']}/nack", {"lease": one["lease"], "reason": mark("nack")})
    wait_until(lambda: desk.state(one) == "parked", "it is parked")
    for verb in ("ack", "complete", "reject", "nack"):
        other = desk.deliver(desk.pack("second", mark(f"summary of {verb}")), 202).json
        got = desk.take("second")
        if verb == "complete":
            desk.settle("ack", got)
        desk.call("POST", f"/v1/handoffs/{other['id']}/{verb}",
                  {"lease": got["lease"], "reason": mark(f"reason of {verb}"), "result": {"text": mark(f"result of {verb}")}})
        desk.call("POST", f"/v1/handoffs/{other['id']}/ack", {"lease": mark("lease")})
    desk.call("POST", f"/v1/handoffs/{one['id']}/cancel", {"reason": mark("cancel")})
    desk.call("PUT", f"/v1/channels/{mark('channel').lower()}", {"description": mark("description")})
    desk.call("PUT", "/v1/routes/r", {"when": {"task": mark("rule")}, "to": "worker"})


def plant_webhooks(desk, mark):
    """An agent that rejects in its own words, one that answers nonsense, one that fails; and an address that cannot be."""
    hook = Hook()
    for agent, answer in (("w1", {"body": {"reject": mark("webhook's reject")}}),
                          ("w2", {"status": 500, "body": mark("webhook's error").encode()}),
                          ("w3", {"body": b'{"' + mark("webhook's nonsense").encode(), "Content_Type": "application/json"}),
                          ("w4", {"body": b'{"%(m)s": 1, "%(m)s": 2}' % {b"m": mark("webhook's double name").encode()},
                                  "Content_Type": "application/json"})):
        url = hook.url + "&token=" + mark("query of a webhook")
        desk.ok("PUT", f"/v1/agents/{agent}", {"webhook": url, "webhook_secret": mark.secret("webhook_secret")})
        hook.answers.put(answer)
        sent = desk.deliver(desk.pack(agent, mark(f"work for {agent}")), 202, max_attempts=1).json
        hook.next()
        wait_until(lambda sent=sent: desk.state(sent) not in ("queued", "leased"), "it is settled")
    hook.close()
    desk.call("PUT", "/v1/agents/w5", {"webhook": f"http://user:{mark('password')}@127.0.0.1:1/", "webhook_secret": "whsec_" + mark("bad secret")})
    desk.ok("PUT", "/v1/agents/w6", {"webhook": "http://127.0.0.1:1/" + mark("path of a webhook"), "webhook_secret": mark.secret("secret")})
    sent = desk.deliver(desk.pack("w6", mark("work for nobody")), 202, max_attempts=1).json
    wait_until(lambda: desk.state(sent) == "parked", "it is parked")


def plant_mcp(server, mark):
    client = Mcp(server.address, "default", agent="mcp-agent")
    for name, arguments in (("memory_store", {"content": mark("MCP content")}), ("memory_search", {"query": mark("MCP query")}),
                            (mark("MCP tool"), {mark("MCP argument"): 1}), ("memory_store", {"content": 5, mark("MCP name"): mark("MCP value")})):
        client.call("tools/call", {"name": name, "arguments": arguments})
    client.call(mark("MCP method"), {mark("MCP param"): mark("MCP value of a param")})
    client.call("resources/read", {"uri": "spine://" + mark("MCP resource")})
    client.call("prompts/get", {"name": mark("MCP prompt"), "arguments": {"x": mark("MCP text")}})


@pytest.fixture(scope="module", params=LEVELS)
def played(request, tmp_path_factory):
    """A server at that level, with everything planted; and what it has printed."""
    mark, root = Marks(), tmp_path_factory.mktemp("log")
    mark.level = request.param
    closed = "http://127.0.0.1:1"
    server = Server(root / "data", "--log-level", request.param, "--alert-webhook", f"{closed}/services/{mark('alert webhook')}?key={mark('alert key')}",
                    "--otlp-endpoint", f"{closed}/{mark('otlp path')}?token={mark('otlp token')}", "--otlp-interval", "1ms").wait_until_ready()
    desk = Desk(server.address, "default")
    plant_memories(desk, mark)
    plant_keys(Api(server.address), mark)
    plant_work(desk, mark)
    plant_webhooks(desk, mark)
    plant_mcp(server, mark)
    # A write that the store refuses in the midst.
    with trigger(server.data, "INSERT ON memory_version", ABORT):
        assert desk.call("POST", "/v1/memories", {"content": mark("undone")}).status == 500
    if request.param in ("debug", "info", "warn"):
        wait_until(lambda: "alert webhook" in server.log.read_text() and "spans cannot" in server.log.read_text(), "posts have failed")
    return server, mark


def test_nothing_that_was_given_is_in_the_log(played):
    server, mark = played
    assert len(mark.given) > 80
    assert server.terminate() == 0
    text = server.log.read_text()
    assert not mark.found_in(text)
    if mark.level != "error":
        for code, header in (("host_not_allowed", "Host"), ("origin_not_allowed", "Origin"), ("origin_not_allowed", "Sec-Fetch-Site")):
            assert any(code in line and header in line for line in text.splitlines()), "what was refused, and for which header, is said"


@pytest.mark.parametrize("end", [signal.SIGSEGV, signal.SIGABRT])
def test_a_server_that_ends_by_a_signal_of_a_bug_prints_no_content(tmp_path, end):
    mark, server = Marks(), Server(tmp_path / "data", "--log-level", "debug", program=plain_binary()).wait_until_ready()
    plant_memories(Desk(server.address, "default"), mark)
    server.process.send_signal(end)
    assert server.process.wait(30) == -end
    assert not mark.found_in(server.log.read_text())


def test_a_server_without_memory_prints_no_content(tmp_path):
    """From here on it gets none any more; it says so, and ends."""
    mark, server = Marks(), Server(tmp_path / "data", "--log-level", "debug", program=plain_binary()).wait_until_ready()
    api = Api(server.address)
    plant_memories(api, mark)
    subprocess.run(["prlimit", f"--pid={server.process.pid}", "--as=1000000"], check=True)
    with contextlib.suppress(OSError, http.client.HTTPException):
        for _ in range(20):
            api.call("POST", "/v1/memories/batch", {"memories": [{"content": mark("large") + "x" * 200000}] * 40})
    assert server.process.wait(30) == -signal.SIGABRT
    text = server.log.read_text(errors="replace")
    assert "out of memory" in text
    assert not mark.found_in(text)


def test_what_is_wrong_with_a_setting_does_not_print_a_secret(tmp_path):
    mark = Marks()
    for options in (["--alert-webhook", f"http://user:{mark('password of the alert webhook')}@127.0.0.1/"],
                    ["--otlp-endpoint", f"ftp://user:{mark('password of the endpoint')}@127.0.0.1/"]):
        done = subprocess.run([str(binary()), "serve", "--data", str(tmp_path / "d"), "--listen", "127.0.0.1:0", *options],
                              capture_output=True, text=True, timeout=30, env={**os.environ})
        assert done.returncode == 2, done.stderr
        assert not mark.found_in(done.stderr + done.stdout)
