"""verify_webhook: what the server has signed is taken, everything else is refused."""

import base64
import hashlib
import hmac
import http.server
import json
import threading
import time

import pytest

from memory_spine.errors import SpineError
from memory_spine.webhooks import WebhookError, verify_webhook

KEY = bytes(range(24))
SECRET = "whsec_" + base64.b64encode(KEY).decode()
BODY = '{"id":"ho-12","prompt":"häh"}'.encode()


def signed(body=BODY, key=KEY, message="ho-12.1", at=None):
    timestamp = str(int(time.time()) if at is None else at)
    mac = hmac.new(key, f"{message}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return {
        "Webhook-Id": message,
        "webhook-timestamp": timestamp,
        "WEBHOOK-SIGNATURE": "v1," + base64.b64encode(mac).decode(),
    }


def refused(code, headers, body=BODY, secret=SECRET, **options):
    with pytest.raises(WebhookError) as caught:
        verify_webhook(headers, body, secret, **options)
    assert caught.value.code == code and isinstance(caught.value, SpineError)
    assert secret not in str(caught.value)


def test_what_was_signed_is_given_back():
    assert verify_webhook(signed(), BODY, SECRET) == {"id": "ho-12", "prompt": "häh"}
    assert verify_webhook(signed(), BODY.decode(), SECRET)["id"] == "ho-12"
    assert verify_webhook(signed(), bytearray(BODY), SECRET)["id"] == "ho-12"


def test_the_example_of_standard_webhooks_is_verified():
    headers = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    assert verify_webhook(headers, '{"test": 2432232314}', secret, tolerance_s=1e12) == {"test": 2432232314}


def test_one_of_several_signatures_is_enough():
    headers = signed()
    headers["WEBHOOK-SIGNATURE"] = "v2,xyz v1,bm9wZQ== " + headers["WEBHOOK-SIGNATURE"]
    assert verify_webhook(headers, BODY, SECRET)["id"] == "ho-12"


@pytest.mark.parametrize(
    "change",
    [
        {"body": BODY + b" "},
        {"headers": {**signed(), "Webhook-Id": "ho-12.2"}},
        {"headers": {**signed(), "webhook-timestamp": str(int(time.time()) - 1)}},
        {"headers": signed(key=bytes(24))},
        {"headers": {**signed(), "WEBHOOK-SIGNATURE": "v1,"}},
        {"headers": {**signed(), "WEBHOOK-SIGNATURE": signed()["WEBHOOK-SIGNATURE"].replace("v1,", "v2,")}},
        {"headers": {**signed(), "WEBHOOK-SIGNATURE": "v1,ä"}},
    ],
)
def test_what_was_changed_is_refused(change):
    refused("webhook_signature", **{"headers": signed(), **change})


@pytest.mark.parametrize("name", list(signed()))
def test_a_header_that_is_missing_is_refused(name):
    refused("webhook_headers", {key: value for key, value in signed().items() if key != name})
    refused("webhook_headers", {**signed(), name: ""})


@pytest.mark.parametrize("timestamp", ["soon", "-5", "1.5", "٣", "9" * 400])
def test_a_timestamp_that_is_none_is_refused(timestamp):
    refused("webhook_headers", {**signed(), "webhook-timestamp": timestamp})


@pytest.mark.parametrize("seconds", [-301, 302])
def test_what_is_too_old_or_from_the_future_is_refused(seconds):
    at = int(time.time()) + seconds
    refused("webhook_timestamp", signed(at=at))
    assert verify_webhook(signed(at=at), BODY, SECRET, tolerance_s=400)["id"] == "ho-12"


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff"])
def test_a_body_that_is_no_object_is_refused(body):
    refused("webhook_body", signed(body), body)


@pytest.mark.parametrize("secret", ["", "whsec_", SECRET[6:], "whsec_" + "AAAA" * 7, "whsec_****" + SECRET[10:]])
def test_what_is_no_secret_is_a_mistake_of_the_callers(secret):
    with pytest.raises(ValueError) as caught:
        verify_webhook(signed(), BODY, secret)
    assert not isinstance(caught.value, SpineError)
    assert len(secret) < 10 or secret not in str(caught.value)


def test_the_servers_own_posts_are_verified(spine):
    """From the registration to the result, against the real server."""
    seen, secret = [], []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            seen.append(verify_webhook(self.headers, body, secret[0]))
            answer = json.dumps({"result": {"words": 2}}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as receiver:
        threading.Thread(target=receiver.serve_forever, args=(0.01,), daemon=True).start()
        agent = spine.register_agent("worker", webhook=f"http://127.0.0.1:{receiver.server_address[1]}/")
        secret.append(agent.webhook_secret)
        sent = spine.deliver_handoff(spine.agent_handoff("worker", "Count the words of 'two words'."), timeout=20)
        receiver.shutdown()
    assert seen[0]["id"] == sent.id and "two words" in seen[0]["prompt"]
