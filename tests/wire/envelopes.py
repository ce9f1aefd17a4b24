"""What the tests of envelopes share: calls in a space of their own, and the digest of an envelope."""

import hashlib
import http.client
import json
import re

import pytest

WORDS = "gateway retry payment backoff jitter timeout error policy analysis strategy config handler queue worker ключ 设计 🚀".split()


class Api:
    def __init__(self, server, space):
        self.connection = http.client.HTTPConnection(*server.address)
        self.space = space

    def text(self, method, path, body=None, **headers):
        data = None if body is None else (body if isinstance(body, bytes) else json.dumps(body).encode())
        headers = {"Spine-Space": self.space, "Content-Type": "application/json", **headers}
        self.connection.request(method, path, data, headers)
        response = self.connection.getresponse()
        return response.status, response.headers["Content-Type"], response.read().decode()

    def call(self, method, path, body=None, **headers):
        status, kind, text = self.text(method, path, body, **headers)
        return status, json.loads(text) if "json" in kind else text

    def ok(self, method, path, body=None, **headers):
        status, answer = self.call(method, path, body, **headers)
        assert status in (200, 201), answer
        return answer

    def refused(self, code, method, path, body=None, **headers):
        status, answer = self.call(method, path, body, **headers)
        assert status >= 400 and answer["code"] == code, answer
        return answer

    def store(self, content, **fields):
        return self.ok("POST", "/v1/memories", {"content": content, **fields})

    def handoff(self, target="b", summary="go on", **fields):
        return self.ok("POST", "/v1/envelopes", {"target_agent": target, "task_summary": summary, **fields})

    def prompt(self, envelope):
        return self.ok("GET", f"/v1/envelopes/{envelope['id']}?format=prompt")

    def count(self, text, tokenizer="o200k_base"):
        return self.ok("POST", "/v1/tokens", {"text": text, "tokenizer": tokenizer})["tokens"]


@pytest.fixture
def api(server, request):
    name = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower()).strip("-")[-60:]
    return Api(server, name.strip("-"))


def canonical(value):
    """RFC 8785 for what these tests use: no floats but short ones, and keys that sort the same in UTF-8 and UTF-16."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest_of(envelope):
    rest = {key: value for key, value in envelope.items() if key not in ("digest", "since", "warnings")}
    return "sha256:" + hashlib.sha256(canonical(rest).encode()).hexdigest()
