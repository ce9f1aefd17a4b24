"""A collector of traces for tests: takes OTLP over HTTP with JSON, and is as strict about it as the specification."""

import http.server
import json
import re
import threading

from api import wait_until

HEX = re.compile(r"[0-9a-f]+")
KINDS = {1: "INTERNAL", 2: "SERVER", 3: "CLIENT", 4: "PRODUCER", 5: "CONSUMER"}
SPAN_MEMBERS = {"traceId", "spanId", "parentSpanId", "flags", "name", "kind", "startTimeUnixNano", "endTimeUnixNano", "attributes", "status"}


def attributes(items):
    """As a dictionary; each value has exactly one type, and 64-bit integers are strings."""
    found = {}
    for item in items:
        assert set(item) == {"key", "value"} and len(item["value"]) == 1, item
        [(type_, value)] = item["value"].items()
        assert item["key"] not in found, f"twice: {item}"
        if type_ == "intValue":
            assert isinstance(value, str) and re.fullmatch(r"-?\d+", value), item
            value = int(value)
        elif type_ == "doubleValue":
            assert isinstance(value, (int, float)), item
        else:
            assert type_ == "stringValue" and isinstance(value, str), item
        found[item["key"]] = value
    return found


class Span:
    def __init__(self, raw):
        assert set(raw) <= SPAN_MEMBERS, raw
        assert len(raw["traceId"]) == 32 and HEX.fullmatch(raw["traceId"]) and int(raw["traceId"], 16), raw
        assert len(raw["spanId"]) == 16 and HEX.fullmatch(raw["spanId"]) and int(raw["spanId"], 16), raw
        self.trace, self.id, self.parent = raw["traceId"], raw["spanId"], raw.get("parentSpanId")
        assert self.parent is None or (len(self.parent) == 16 and HEX.fullmatch(self.parent) and int(self.parent, 16)), raw
        self.name, self.kind = raw["name"], KINDS[raw["kind"]]
        self.start, self.end = int(raw["startTimeUnixNano"]), int(raw["endTimeUnixNano"])
        assert isinstance(raw["startTimeUnixNano"], str) and 0 < self.start <= self.end, raw
        self.attributes = attributes(raw["attributes"])
        assert raw["status"].get("code", 0) in (0, 1, 2), raw
        self.failed, self.message = raw["status"].get("code") == 2, raw["status"].get("message")
        self.operation = self.attributes["messaging.operation.name"]

    def __repr__(self):
        return f"{self.name} {self.id} of {self.parent}"


class Collector:
    """Listens on a free port. `answers` are given first, each once: a status, or (status, body, headers)."""

    def __init__(self, port=0):
        self.spans, self.errors, self.posts, self.answers = [], [], 0, []
        self.resources = []
        self.lock = threading.Lock()
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with collector.lock:
                    collector.posts += 1
                    answer = collector.answers.pop(0) if collector.answers else 200
                    status, text, headers = answer if isinstance(answer, tuple) else (answer, b"{}", {})
                    if status == 200:
                        collector.take(self.path, self.headers, body)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def take(self, path, headers, body):
        try:
            assert path == "/v1/traces" and headers["Content-Type"] == "application/json", (path, dict(headers))
            request = json.loads(body)
            assert set(request) == {"resourceSpans"}
            for resource in request["resourceSpans"]:
                assert set(resource) == {"resource", "scopeSpans"}
                self.resources.append(attributes(resource["resource"]["attributes"]))
                for scope in resource["scopeSpans"]:
                    assert set(scope) == {"scope", "spans"} and scope["scope"]["name"]
                    self.spans += [Span(span) for span in scope["spans"]]
        except (AssertionError, KeyError, ValueError) as error:
            self.errors.append(error)

    def wait(self, count):
        """So many spans, and none that is not well-formed."""
        wait_until(lambda: len(self.spans) >= count or self.errors, f"{count} spans")
        assert not self.errors, self.errors[0]
        return self.spans

    def of(self, trace):
        return [span for span in self.spans if span.trace == trace]

    def close(self):
        self.server.shutdown()
        self.server.server_close()
