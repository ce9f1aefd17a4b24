"""Webhooks: agents that have their handoffs posted to them. The receiver is a real HTTP server, in this process."""

import base64
import email.utils
import hashlib
import hmac
import http.server
import json
import os
import queue
import socket
import subprocess
import threading
import time
from datetime import datetime
from pathlib import Path

import pytest
from api import TIMEOUT_S, wait_until
from collector import Collector
from delivery import Desk
from test_alerts import Receiver
from test_life import run_serve

KEY = bytes(range(32))
SECRET = "whsec_" + base64.b64encode(KEY).decode()


class Post:
    """A request that came, and the answer that it gets when somebody gives it."""

    def __init__(self, path, headers, body):
        self.path, self.headers, self.body = path, headers, body
        self.json = json.loads(body)
        self.given = queue.Queue()

    def answer(self, status=200, body=b"", **headers):
        self.given.put((status, body if isinstance(body, bytes) else json.dumps(body).encode(), headers))


class Hook:
    """A receiver of webhooks. Without `answers` each request waits for its Post.answer()."""

    def __init__(self, host="127.0.0.1"):
        self.posts = queue.Queue()
        self.answers = queue.Queue()
        self.is_closed = False
        hook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self):
                post = Post(self.path, self.headers, self.rfile.read(int(self.headers["Content-Length"])))
                if hook.is_closed:
                    raise OSError("a later attempt, on a connection that was kept")
                if not hook.answers.empty():
                    post.answer(**hook.answers.get())
                hook.posts.put(post)
                status, body, headers = post.given.get(timeout=TIMEOUT_S)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.send_header("Content-Length", len(body))
                self.end_headers()
                self.wfile.write(body)

            def handle(self):
                try:
                    super().handle()
                except (OSError, queue.Empty):
                    pass    # the server has cut it

            def log_message(self, *_):
                pass

        class Listener(http.server.ThreadingHTTPServer):
            daemon_threads = True
            address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

        self.listener = Listener((host, 0), Handler)
        self.port = self.listener.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/hook?from=spine"
        threading.Thread(target=self.listener.serve_forever, args=(0.01,), daemon=True).start()

    def next(self):
        return self.posts.get(timeout=TIMEOUT_S)

    def close(self):
        self.is_closed = True
        self.listener.shutdown()
        self.listener.server_close()


@pytest.fixture
def hook():
    hook = Hook()
    yield hook
    hook.close()


def set_hook(desk, hook, agent="worker", status=200, **settings):
    url = hook if isinstance(hook, str) else hook.url
    answer = desk.call("PUT", f"/v1/agents/{agent}", {"webhook": url, "webhook_secret": SECRET, **settings})
    assert answer.status == status, answer
    return answer.json


def wait_for_state(desk, handoff, *states):
    return wait_until(lambda: (seen := desk.look(handoff))["state"] in states and seen, f"{handoff['id']} is {states}")


def seconds_until_due(handoff):
    due, changed = (datetime.fromisoformat(handoff[name].replace("Z", "+00:00")) for name in ("due_at", "changed_at"))
    return (due - changed).total_seconds()


def answered(desk, hook, *, agent="worker", settings=None, **answer):
    """A handoff whose one attempt was answered so, when it is settled or waits for the next."""
    set_hook(desk, hook, agent, **(settings or {}))
    handoff = desk.send(agent)
    hook.next().answer(**answer)
    return wait_until(lambda: (seen := desk.look(handoff))["state"] != "leased" and seen, "the answer is settled")


# --- What is posted ----------------------------------------------------------------------------------


def test_a_handoff_is_posted_as_receive_would_give_it_and_a_2xx_acks_it(desk, hook):
    set_hook(desk, hook)
    desk.ok("PUT", "/v1/agents/poller", {})
    handoff = desk.deliver(desk.pack(summary="count the words"), 202).json
    post = hook.next()
    assert (post.path, post.headers["Content-Type"]) == ("/hook?from=spine", "application/json")
    assert post.headers["User-Agent"].startswith("memory-spine/") and post.headers["Spine-Space"] == desk.space
    got = post.json
    assert (got["id"], got["lease"]) == (handoff["id"], f"{handoff['id']}.1")
    assert (got["attempt"], got["redelivered"]) == (1, False)
    assert (got["state"], got["receiver"]) == ("leased", "webhook")
    assert got["envelope"]["task"]["summary"] == "count the words" and "count the words" in got["prompt"]
    assert desk.state(handoff) == "leased"
    post.answer(204)
    wait_for_state(desk, handoff, "acked")
    assert desk.events(handoff) == ["queued", "leased", "acked"]
    desk.send("poller")
    assert list(desk.receive("poller", format="both")[0]) == list(got)


def test_a_post_is_signed_as_standard_webhooks_has_it(desk, hook):
    before = int(time.time())
    set_hook(desk, hook)
    handoff = desk.send()
    post = hook.next()
    headers = post.headers
    assert (headers["webhook-id"], headers["Spine-Handoff"]) == (f"{handoff['id']}.1", handoff["id"])
    assert before <= int(headers["webhook-timestamp"]) <= int(time.time())
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + post.body
    expected = base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == "v1," + expected
    post.answer()
    wait_for_state(desk, handoff, "acked")


def test_a_post_continues_the_trace_of_the_envelope(desk, hook):
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    body = {"from": "sender", "target_agent": "worker", "task_summary": "x", "include_recent": 0}
    set_hook(desk, hook)
    for sent in (trace, None):
        envelope = desk.ok("POST", "/v1/envelopes", body, {"traceparent": sent}, status=201)["id"]
        handoff = desk.deliver(envelope, 202).json
        post = hook.next()
        assert post.headers["traceparent"] == sent
        post.answer()
        wait_for_state(desk, handoff, "acked")


def test_an_agent_that_reads_only_version_1_gets_it(desk, hook):
    set_hook(desk, hook, accepts=["1"])
    desk.send()
    post = hook.next()
    assert post.json["envelope"]["version"] == 1
    post.answer()


def test_a_sender_that_waits_gets_the_ack_of_the_webhook(desk, hook):
    set_hook(desk, hook)
    hook.answers.put({"body": {"status": "fine"}})
    assert desk.deliver(desk.pack(), 200, wait_s=20).json["state"] == "acked"


def test_a_broadcast_reaches_a_webhook(desk, hook):
    set_hook(desk, hook)
    desk.ok("PUT", "/v1/channels/news", {})
    desk.ok("POST", "/v1/channels/news/publish", {"envelope_id": desk.pack(), "receivers": ["worker"]})
    post = hook.next()
    assert post.json["channel"] == "news"
    post.answer()


# --- What the answer means ---------------------------------------------------------------------------


@pytest.mark.parametrize("result", [{"words": 7}, "done", 0, None, [1, "é"]])
def test_a_result_in_the_answer_completes_the_handoff(desk, hook, result):
    seen = answered(desk, hook, body={"result": result, "gaps": ["g"], "input_tokens": 12})
    assert (seen["state"], seen["result"], seen["gaps"], seen["input_tokens"]) == ("completed", result, ["g"], 12)


def test_a_result_in_the_answer_is_remembered_unless_it_says_otherwise(desk, hook):
    seen = answered(desk, hook, body={"result": "from the hook"})
    memory = desk.get(seen["result_memory"])
    assert (memory["content"], memory["kind"], memory["agent"]) == ("from the hook", "output", "worker")
    assert desk.ids("query=hook") == [memory["id"]], "the index knows it"
    seen = answered(desk, hook, body={"result": "between us", "remember": False})
    assert (seen["result"], seen["result_memory"]) == ("between us", None)
    assert desk.ids("kind=output") == [memory["id"]]


def test_a_post_has_the_results_that_came_after_packing(desk, hook):
    desk.deliver(desk.pack("first"), 202)
    taken = desk.take("first")
    set_hook(desk, hook)
    envelope = desk.pack("worker", parent=taken["envelope_id"])
    desk.settle("complete", taken, result="came later")
    desk.deliver(envelope, 202)
    post = hook.next()
    assert [news["event"] for news in post.json["since"]] == ["result"] and "came later" in post.json["prompt"]
    post.answer()


@pytest.mark.parametrize("body", [b"", b"OK", b"{\"ok\":true}", b"[1]", b"\"x\"", b"{broken"])
def test_any_other_body_of_a_2xx_is_an_ack(desk, hook, body):
    assert answered(desk, hook, status=202, body=body, Content_Type="text/plain")["state"] == "acked"


def test_a_work_lease_in_the_answer_lets_the_agent_complete_later(desk, hook):
    set_hook(desk, hook)
    handoff = desk.send()
    post = hook.next()
    post.answer(202, {"work_lease_s": 60})
    seen = wait_until(lambda: (seen := desk.look(handoff))["work_lease"] and seen, "it is at work")
    assert 55 < seconds_until_due(seen) <= 60
    assert desk.settle("progress", post.json, note="half")["progress"] == "half"
    assert desk.settle("complete", post.json, result=5)["state"] == "completed"


@pytest.mark.parametrize("answer, reason", [
    ({"status": 410}, "HTTP 410"),
    ({"status": 422, "body": {"detail": "x"}}, "HTTP 422"),
    ({"status": 200, "body": {"reject": "not my trade"}}, "not my trade"),
    ({"status": 500, "body": {"reject": "not my trade"}}, "not my trade"),
    ({"status": 200, "body": {"reject": True, "result": 5}}, "rejected without a reason"),
])
def test_a_rejection_is_final(desk, hook, answer, reason):
    seen = answered(desk, hook, **answer)
    assert (seen["state"], seen["attempt"], seen["reason"]) == ("parked", 1, reason)


@pytest.mark.parametrize("answer, reason", [
    ({"status": 503}, "HTTP 503"),
    ({"status": 404}, "HTTP 404"),
    ({"status": 302, "Location": "/elsewhere"}, "HTTP 302, and redirects are not followed"),
    ({"body": b"x" * 65537}, "the answer is larger than 65536 bytes"),
    ({"body": b"{\"result\":", "Content_Type": "application/json; charset=utf-8"},
     "the answer says that it is JSON, and is not"),
    ({"body": {"work_lease_s": "long"}}, "the answer's work_lease_s"),
    ({"body": {"result": 1, "gaps": 5}}, "the answer's result is too large, or its gaps are not a list"),
])
def test_everything_else_is_a_failed_attempt_with_its_reason(desk, hook, answer, reason):
    seen = answered(desk, hook, settings={"max_attempts": 1}, **answer)
    assert seen["state"] == "parked" and seen["reason"].startswith(reason), seen
    assert hook.posts.empty()


def test_an_answer_of_64_kib_is_read(desk, hook):
    text = "x" * (65536 - len('{"result": ""}'))
    assert answered(desk, hook, body={"result": text})["result"] == text


CREDENTIAL = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_the_guard_blanks_credentials_in_an_answer(desk, hook):
    seen = answered(desk, hook, body={"result": {"token": CREDENTIAL}, "gaps": [f"not {CREDENTIAL}"]})
    assert CREDENTIAL in str(seen["result"]), "the guard is off"
    desk.ok("PUT", "/v1/space", {"guard": "redact"})
    seen = answered(desk, hook, body={"result": {"token": CREDENTIAL, "n": 1}, "gaps": [f"not {CREDENTIAL}"]})
    assert seen["state"] == "completed" and seen["result"]["n"] == 1 and CREDENTIAL not in str(seen), seen
    assert "[redacted" in seen["result"]["token"] and seen["gaps"][0].startswith("not [redacted")
    memory = desk.get(seen["result_memory"])["content"]
    assert "[redacted" in memory and CREDENTIAL not in memory
    seen = answered(desk, hook, body={"reject": f"what is {CREDENTIAL}"})
    assert seen["state"] == "parked" and seen["reason"].startswith("what is [redacted") and CREDENTIAL not in str(seen)


def test_where_the_guard_refuses_an_answer_with_credentials_is_a_failed_attempt(desk, hook):
    set_hook(desk, hook, max_attempts=1)
    for body in ({"result": {"token": CREDENTIAL}}, {"gaps": [CREDENTIAL]}):
        handoff = desk.deliver(desk.pack(constraints={"credentials": "refuse"}), 202).json
        hook.next().answer(body=body)
        seen = wait_for_state(desk, handoff, "parked")
        assert seen["reason"].startswith("the answer holds what looks like a credential (")
        assert next(iter(body)) in seen["reason"] and CREDENTIAL not in str(seen) and "result" not in seen


def test_a_failed_attempt_is_posted_again_under_a_new_lease(desk, hook):
    set_hook(desk, hook, max_attempts=2)
    handoff = desk.send()
    first = hook.next()
    first.answer(500)
    second = hook.next()
    assert (second.json["attempt"], second.json["redelivered"], second.json["reason"]) == (2, True, "HTTP 500")
    assert (first.headers["webhook-id"], second.headers["webhook-id"]) == (f"{handoff['id']}.1", f"{handoff['id']}.2")
    assert first.headers["Spine-Handoff"] == second.headers["Spine-Handoff"] == handoff["id"]
    second.answer(500)
    assert wait_for_state(desk, handoff, "parked")["reason"] == "HTTP 500"
    assert desk.agent()["breaker"]["failures"] == 1


def test_when_the_attempts_are_used_up_the_fallback_takes_over(desk, hook):
    set_hook(desk, hook, max_attempts=1, fallbacks=["helper"])
    handoff = desk.send()
    hook.next().answer(500)
    assert desk.take("helper")["id"] == handoff["id"]


@pytest.mark.parametrize("value, seconds", [
    ("7", 7), ("999999", 3600), ("-5", None), ("soon", None),
    (lambda: email.utils.formatdate(time.time() + 600, usegmt=True), 600),
])
def test_retry_after_sets_when_the_next_attempt_is(desk, hook, value, seconds):
    seen = answered(desk, hook, status=503, Retry_After=value() if callable(value) else value)
    assert (seen["attempt"], seen["reason"]) == (2, "HTTP 503")
    if seconds is None:
        assert 1 <= seconds_until_due(seen) <= 2
    else:
        assert seconds - 2 <= seconds_until_due(seen) <= seconds


def test_nobody_listening_is_a_failed_attempt(desk):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        set_hook(desk, f"http://127.0.0.1:{closed.getsockname()[1]}/", max_attempts=1)
        assert wait_for_state(desk, desk.send(), "parked")["reason"] == "connection refused"


def test_a_receiver_that_says_nothing_is_given_up_after_the_timeout(start, hook):
    server = start("--webhook-timeout", "100ms").wait_until_ready()
    desk = Desk(server.address)
    set_hook(desk, hook, max_attempts=1)
    handoff = desk.send()
    hook.next()
    assert wait_for_state(desk, handoff, "parked")["reason"] == "no answer within 0.1 s"
    assert server.terminate() == 0


def test_the_post_ends_when_the_sender_stops_waiting(server, desk, hook):
    set_hook(desk, hook)
    assert desk.deliver(desk.pack(), 504, wait_s=0.2).json["code"] == "ack_timeout"
    hook.next()
    said = f'"space":"{desk.space}","handoff":"ho-1","reason":"no answer within 0.'
    wait_until(lambda: said in server.log.read_text(), "the server has given the post up")


def test_receivers_that_say_nothing_hold_up_neither_spans_nor_alerts(start, hook):
    collector, receiver = Collector(), Receiver()
    server = start("--otlp-endpoint", collector.url, "--otlp-interval", "1ms", "--alert-webhook", receiver.url,
                   "--drain-timeout", "100ms").wait_until_ready()
    desk = Desk(server.address)
    for number in range(17):
        set_hook(desk, hook, f"silent-{number}")
        for _ in range(4):
            desk.send(f"silent-{number}")
    for _ in range(64):    # as many as are under way at a time
        hook.next()
    collector.wait(17 * 4 * 2 + 64)
    desk.send("other", max_attempts=1)
    desk.settle("nack", desk.take("other"), reason="no")
    receiver.wait_for("handoff_failed", "firing")
    assert server.terminate() == 0
    collector.close()
    receiver.close()


SLOW_NAMES = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **ret)
{
	int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) = dlsym(RTLD_NEXT, "getaddrinfo");

	if (name && strcmp(name, "slow.example") == 0)
		sleep(60);
	return real(name, service, hints, ret);
}
"""


def test_a_name_that_nobody_answers_for_holds_up_nobody_else(start, hook, tmp_path):
    if Path(os.environ.get("SPINE_BIN", "")).parent.name in ("asan", "tsan"):
        pytest.skip("the libraries of the sanitizers want to be loaded first")
    library = tmp_path / "slow.so"
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-x", "c", "-", "-o", str(library)], check=True,
                   input=SLOW_NAMES, text=True)
    server = start("--webhook-hosts", "slow.example", "--webhook-timeout", "100ms",
                   LD_PRELOAD=str(library)).wait_until_ready()
    desk = Desk(server.address)
    set_hook(desk, "http://slow.example/", "slow", max_attempts=1)
    set_hook(desk, hook)
    slow = desk.send("slow")
    began = time.monotonic()
    assert wait_for_state(desk, slow, "parked")["reason"] == "no answer within 0.1 s"
    desk.send()
    hook.next().answer()
    assert server.terminate() == 0 and time.monotonic() - began < 30


def test_an_agent_may_settle_by_the_api_while_it_is_posted_to(desk, hook):
    set_hook(desk, hook)
    handoff = desk.send()
    post = hook.next()
    desk.settle("complete", post.json, result="by the api")
    post.answer(500)
    wait_until(lambda: desk.send() and hook.next().answer() is None, "the next is posted")
    assert (desk.look(handoff)["state"], desk.look(handoff)["result"]) == ("completed", "by the api")


# --- Which agents ------------------------------------------------------------------------------------


def test_what_was_queued_before_is_posted_when_the_webhook_is_set(desk, hook):
    handoffs = [desk.send(ack_timeout_s=300) for _ in range(10)]
    for _ in handoffs:
        hook.answers.put({})
    set_hook(desk, hook)
    for handoff in handoffs:
        wait_for_state(desk, handoff, "acked")


def test_a_space_that_is_deleted_posts_nothing_any_more(desk, hook):
    """Also where one of the same name begins anew, with an agent of the same name."""
    for number in range(10):
        set_hook(desk, hook, f"agent-{number}")
    set_hook(desk, hook)
    hook.answers.put({"status": 200})
    wait_for_state(desk, desk.send(), "acked")
    assert hook.next()
    desk.ok("DELETE", f"/v1/spaces/{desk.space}?confirm={desk.space}")
    handoff = desk.send()
    assert desk.agent()["webhook"] is None
    assert desk.take()["id"] == handoff["id"]
    assert hook.posts.empty()


def test_another_webhook_gets_the_next_handoff(desk, hook):
    other = Hook()
    set_hook(desk, hook)
    desk.send()
    hook.next().answer()
    set_hook(desk, other)
    desk.send()
    other.next().answer()
    assert hook.posts.empty()
    other.close()


def test_without_the_webhook_the_agent_fetches_again(desk, hook):
    set_hook(desk, hook)
    desk.ok("PUT", "/v1/agents/worker", {})
    handoffs = {desk.send()["id"] for _ in range(6)}
    assert {handoff["id"] for handoff in desk.receive(max=10)} == handoffs
    assert hook.posts.empty()


def test_taking_the_webhook_away_leaves_the_queue_to_others(desk, hook):
    set_hook(desk, hook)
    handoffs = [desk.send() for _ in range(12)]
    under_way = [hook.next() for _ in range(4)]
    desk.ok("PUT", "/v1/agents/worker", {})
    for post in under_way:
        post.answer()
    for handoff in handoffs[:4]:
        wait_for_state(desk, handoff, "acked")
    for handoff in handoffs[4:]:
        desk.settle("ack", desk.take())
        assert desk.events(handoff) == ["queued", "leased", "acked"]
    assert hook.posts.empty()


def test_four_are_under_way_at_a_time_and_another_agent_is_not_held_up(desk, hook):
    other = Hook()
    set_hook(desk, hook)
    set_hook(desk, other, "second")
    handoffs = [desk.send() for _ in range(6)]
    posts = [hook.next() for _ in range(4)]
    quick = desk.send("second")
    other.next().answer()
    wait_for_state(desk, quick, "acked")
    queue_now = desk.agent()["queue"]
    assert (queue_now["leased"], queue_now["queued"]) == (4, 2) and hook.posts.empty()
    posts[0].answer()
    fifth = hook.next()
    for post in [*posts[1:], fifth]:
        post.answer()
    hook.next().answer()
    for handoff in handoffs:
        wait_for_state(desk, handoff, "acked")
    other.close()


def test_64_are_under_way_at_a_time_and_every_agent_has_its_turn(desk, hook):
    agents = [f"agent-{number}" for number in range(17)]
    for agent in agents:
        set_hook(desk, hook, agent)
    handoffs = [desk.send(agent, ack_timeout_s=300) for agent in agents for _ in range(4)]
    posts = [hook.next() for _ in range(64)]
    leased = sum(desk.agent(agent)["queue"]["leased"] for agent in agents)
    assert leased == 64 and hook.posts.empty()
    for post in posts:
        post.answer()
    for _ in handoffs[64:]:
        hook.next().answer()
    for handoff in handoffs:
        wait_for_state(desk, handoff, "acked")


def test_many_handoffs_all_arrive_once(desk, hook):
    set_hook(desk, hook)
    for _ in range(200):
        hook.answers.put({"body": {"result": 1}})
    handoffs = [desk.send()["id"] for _ in range(200)]
    posted = [hook.next().json["id"] for _ in handoffs]
    assert sorted(posted) == sorted(handoffs)
    wait_until(lambda: not any(desk.agent()["queue"].values()), "all are settled")


# --- The secret --------------------------------------------------------------------------------------


def test_a_secret_is_made_kept_and_told_where_the_webhook_is_registered(desk):
    settings = {"webhook": "http://127.0.0.1:1/"}
    put = desk.ok("PUT", "/v1/agents/worker", settings)
    assert len(base64.b64decode(put["webhook_secret"].removeprefix("whsec_"), validate=True)) == 32
    assert desk.agent()["webhook_secret"] is None
    assert desk.ok("GET", "/v1/agents")["agents"][0]["webhook_secret"] is None
    again = desk.ok("PUT", "/v1/agents/worker", {**settings, "max_attempts": 5, "webhook_secret": None})
    assert again["webhook_secret"] == put["webhook_secret"]
    assert desk.ok("PUT", "/v1/agents/worker", {})["webhook_secret"] is None
    assert desk.ok("PUT", "/v1/agents/worker", settings)["webhook_secret"] == put["webhook_secret"]
    assert set_hook(desk, settings["webhook"])["webhook_secret"] == SECRET
    other = desk.ok("PUT", "/v1/agents/other", settings)
    assert other["webhook_secret"] not in (put["webhook_secret"], SECRET)


def test_the_same_idempotency_key_tells_the_same_secret(desk):
    body, key = {"webhook": "http://127.0.0.1:1/"}, {"Idempotency-Key": "k"}
    said = [desk.ok("PUT", "/v1/agents/worker", body, key)["webhook_secret"] for _ in range(2)]
    assert said[0] == said[1]


@pytest.mark.parametrize("secret", [5, "", "whsec_", "secret", SECRET.removeprefix("whsec_"), SECRET[:-1], SECRET + "=",
                                    "whsec_" + base64.b64encode(b"x" * 23).decode(),
                                    "whsec_" + base64.b64encode(b"x" * 65).decode()])
def test_what_is_no_secret_is_refused_and_not_repeated(desk, secret):
    problem = desk.refused(422, "invalid_field", "PUT", "/v1/agents/worker",
                           {"webhook": "http://127.0.0.1:1/", "webhook_secret": secret}, field="webhook_secret")
    assert not secret or str(secret) not in problem["detail"] or secret in (5, "whsec_", "secret")


@pytest.mark.parametrize("size", [24, 64])
def test_keys_of_24_to_64_bytes_are_taken(desk, size):
    secret = "whsec_" + base64.b64encode(b"k" * size).decode()
    put = desk.ok("PUT", "/v1/agents/worker", {"webhook": "http://127.0.0.1:1/", "webhook_secret": secret})
    assert put["webhook_secret"] == secret


# --- Which hosts -------------------------------------------------------------------------------------


@pytest.mark.parametrize("url", [
    "http://example.com/hook", "http://10.0.0.1/", "http://0.0.0.0/", "http://128.0.0.1/", "http://169.254.169.254/",
    "http://[::]/", "http://[::ffff:127.0.0.1]/", "http://localhost.example.com/", "http://127.0.0.1.example.com/",
    "https://localhost@example.com/", "http://user:word@127.0.0.1/", "http://user@localhost/", "http://",
    "http:///path", "http://127.0.0.1:99999/", "http://127.0.0.1\x00.example.com/", "http://127.0.0.1 /",
    "http://localhost./",
])
def test_a_host_that_is_not_this_machine_is_refused_and_nothing_is_registered(desk, url):
    problem = desk.refused(422, "invalid_field", "PUT", "/v1/agents/worker", {"webhook": url}, field="webhook")
    assert "webhook" in problem["detail"]
    if url == "http://example.com/hook":
        assert "example.com" in problem["detail"] and "--webhook-hosts" in problem["detail"]
    desk.refused(404, "agent_not_found", "GET", "/v1/agents/worker")


@pytest.mark.parametrize("url", ["http://127.0.0.1/", "https://localhost:1/x?y#z", "http://127.1.2.3:80",
                                 "http://[::1]:5/", "http://LOCALHOST/"])
def test_the_names_of_this_machine_are_taken(desk, url):
    assert desk.ok("PUT", "/v1/agents/worker", {"webhook": url})["webhook"] == url


def test_the_operators_list_adds_hosts(start):
    server = start("--webhook-hosts", "hooks.example.com, *.example.org,[fd00::1]").wait_until_ready()
    desk = Desk(server.address)
    for url in ["https://hooks.example.com/a", "http://HOOKS.example.com:80/", "http://a.example.org/",
                "http://a.b.example.org", "http://[fd00::1]/", "http://127.0.0.1:1/"]:
        desk.ok("PUT", "/v1/agents/worker", {"webhook": url})
    for url in ["http://example.com/", "http://example.org/", "http://evilexample.org/", "http://xhooks.example.com/",
                "http://a.example.org.net/"]:
        desk.refused(422, "invalid_field", "PUT", "/v1/agents/worker", {"webhook": url}, field="webhook")
    assert server.terminate() == 0


@pytest.mark.parametrize("hosts", ["http://example.com", "example.com:80", "a b", "*example.com", "a.*.b", "exämple"])
def test_a_list_of_hosts_that_is_none_is_refused_at_start(tmp_path, hosts):
    done = run_serve(tmp_path / "data", "--listen", "127.0.0.1:0", "--webhook-hosts", hosts)
    assert done.returncode in (1, 2) and "--webhook-hosts" in done.stderr and "example" in done.stderr
    assert not (tmp_path / "data" / "spine.db").exists()


def test_a_webhook_that_is_not_allowed_any_more_fails_with_the_reason(start):
    server = start("--webhook-hosts", "*").wait_until_ready()
    desk = Desk(server.address)
    desk.ok("PUT", "/v1/agents/worker", {"webhook": "http://hooks.example.com/", "max_attempts": 1})
    assert server.terminate() == 0
    server = start(data=server.data).wait_until_ready()
    desk = Desk(server.address)
    assert "hooks.example.com" in wait_for_state(desk, desk.send(), "parked")["reason"]
    assert server.terminate() == 0
    assert "cannot be posted to" in server.log.read_text()


def test_a_proxy_of_the_environment_is_not_asked(start, hook):
    trap = Hook()
    proxy = f"http://127.0.0.1:{trap.port}"
    server = start(http_proxy=proxy, all_proxy=proxy, ALL_PROXY=proxy, no_proxy="", NO_PROXY="").wait_until_ready()
    desk = Desk(server.address)
    set_hook(desk, hook)
    handoff = desk.send()
    hook.next().answer()
    wait_for_state(desk, handoff, "acked")
    assert trap.posts.empty() and server.terminate() == 0
    trap.close()


# --- The server's life -------------------------------------------------------------------------------


def test_webhooks_go_on_after_a_restart(start, hook):
    server = start().wait_until_ready()
    desk = Desk(server.address, "elsewhere")
    set_hook(desk, hook)
    assert server.terminate() == 0
    server = start(data=server.data).wait_until_ready()
    desk = Desk(server.address, "elsewhere")
    handoff = desk.send()
    post = hook.next()
    assert post.headers["Spine-Space"] == "elsewhere"
    post.answer()
    wait_for_state(desk, handoff, "acked")
    assert server.terminate() == 0


def test_what_was_being_posted_when_the_server_was_killed_is_posted_again_at_once(start, hook):
    server = start().wait_until_ready()
    desk = Desk(server.address)
    set_hook(desk, hook)
    handoffs = [desk.send() for _ in range(6)]
    for _ in range(4):
        hook.next()
    server.kill()
    server = start(data=server.data).wait_until_ready()
    desk = Desk(server.address)
    began = time.monotonic()
    again = [hook.next() for _ in range(4)]
    assert time.monotonic() - began < 10    # and not after the lease of 40 s
    assert {post.json["id"] for post in again} == {handoff["id"] for handoff in handoffs[:4]}
    assert all(post.json["redelivered"] and post.json["attempt"] == 1 for post in again)
    for post in again:
        post.answer()
    for _ in handoffs[4:]:
        hook.next().answer()
    for handoff in handoffs:
        wait_for_state(desk, handoff, "acked")
    assert server.terminate() == 0


def test_a_drain_lets_what_is_under_way_end_and_posts_nothing_new(start, hook):
    server = start().wait_until_ready()
    desk = Desk(server.address)
    set_hook(desk, hook)
    handoffs = [desk.send() for _ in range(5)]
    posts = [hook.next() for _ in range(4)]
    ending = threading.Thread(target=server.terminate)
    ending.start()
    wait_until(lambda: "draining" in server.log.read_text(), "the server drains")
    for post in posts:
        post.answer(200, {"result": "in time"})
    ending.join(TIMEOUT_S)
    assert server.process.returncode == 0 and hook.posts.empty()
    server = start(data=server.data).wait_until_ready()
    desk = Desk(server.address)
    assert [desk.look(handoff).get("result") for handoff in handoffs[:4]] == ["in time"] * 4
    last = hook.next()
    assert last.json["id"] == handoffs[4]["id"]
    last.answer()
    assert server.terminate() == 0


def test_what_does_not_end_within_the_drain_is_cut_and_given_back(start, hook):
    server = start("--drain-timeout", "100ms").wait_until_ready()
    desk = Desk(server.address)
    set_hook(desk, hook)
    handoff = desk.send()
    hook.next()
    assert server.terminate() == 0
    assert "webhooks were cut" in server.log.read_text()
    server = start(data=server.data).wait_until_ready()
    desk = Desk(server.address)
    post = hook.next()
    assert (post.json["id"], post.json["attempt"], post.json["redelivered"]) == (handoff["id"], 1, True)
    assert desk.events(handoff)[:4] == ["queued", "leased", "released", "leased"]
    post.answer()
    wait_for_state(desk, handoff, "acked")
    assert server.terminate() == 0
