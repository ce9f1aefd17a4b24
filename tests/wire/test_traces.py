"""Traces: spans of handoffs, sent to a collector as OTLP over HTTP with JSON; traceparent in and out."""

import json
import socket

import pytest
from api import wait_until
from collector import Collector
from delivery import Desk

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


@pytest.fixture
def collector():
    one = Collector()
    yield one
    one.close()


@pytest.fixture
def traced(start, collector):
    """A desk at a server that exports to the collector; `.server`."""
    server = start("--otlp-endpoint", collector.url, "--otlp-interval", "1ms").wait_until_ready()
    desk = Desk(server.address)
    desk.server = server
    yield desk
    desk.close()


def pack(desk, traceparent=None, **fields):
    body = {"from": "sender", "target_agent": "worker", "task_summary": "do the work", "include_recent": 0, **fields}
    return desk.call("POST", "/v1/envelopes", body, {"traceparent": traceparent})


def traces(desk):
    return desk.ok("GET", "/v1/status")["traces"]


def counted(exported, failed_posts, **reasons):
    by = {"refused": 0, "rejected": 0, "behind": 0, "stopped": 0, **reasons}
    return {"exported": exported, "dropped": sum(by.values()), "dropped_by": by, "failed_posts": failed_posts}


def metrics(desk):
    """The same as /metrics tells it."""
    lines = desk.call("GET", "/metrics").data.decode().splitlines()
    values = {line.split(" ")[0]: int(float(line.split(" ")[1])) for line in lines if line.startswith("spine_span")}
    reasons = {name.split('"')[1]: count for name, count in values.items() if "dropped_total{" in name}
    return counted(values["spine_spans_exported_total"], values["spine_span_post_failures_total"], **reasons)


def by_operation(spans):
    found = {span.operation: span for span in spans}
    assert len(found) == len(spans), spans
    return found


# --- Spans ---


def test_a_handoff_is_five_spans_of_its_senders_trace(traced, collector):
    sent = traced.deliver(pack(traced, PARENT).json["id"], 202).json
    taken = traced.take(instance="laptop-7")
    traced.settle("ack", taken, work_lease_s=60)
    traced.settle("complete", taken, result="done", input_tokens=321)
    spans = by_operation(collector.wait(5))
    assert set(spans) == {"create", "send", "receive", "ack", "process"}
    assert {span.trace for span in spans.values()} == {TRACE}
    assert spans["create"].parent == PARENT.split("-")[2]
    assert spans["send"].parent == spans["create"].id and spans["receive"].parent == spans["send"].id
    assert spans["ack"].parent == spans["process"].parent == spans["receive"].id
    assert spans["receive"].start == spans["send"].end and spans["ack"].start == spans["process"].start == spans["receive"].end
    assert [spans[name].kind for name in ("create", "send", "receive", "ack", "process")] == ["PRODUCER", "CLIENT", "CLIENT", "CLIENT", "CONSUMER"]
    assert spans["process"].name == "process worker" and not any(span.failed for span in spans.values())
    assert spans["receive"].attributes["messaging.client.id"] == "laptop-7"
    for span in spans.values():
        expected = {"messaging.system": "memory_spine", "messaging.destination.name": "worker", "gen_ai.agent.name": "worker",
                    "spine.space": "default", "spine.envelope.id": sent["envelope_id"], "spine.from": "sender"}
        assert expected.items() <= span.attributes.items(), span.attributes
        if span.operation != "create":
            assert span.attributes["messaging.message.id"] == sent["id"]
    types = {name: spans[name].attributes["messaging.operation.type"] for name in spans}
    assert types == {"create": "create", "send": "send", "receive": "receive", "ack": "settle", "process": "process"}
    assert spans["process"].attributes["gen_ai.operation.name"] == "invoke_agent"
    assert spans["process"].attributes["gen_ai.usage.input_tokens"] == 321
    assert spans["create"].attributes["spine.token_count"] > 0 and spans["create"].attributes["spine.completeness"] == 1
    assert collector.resources[0]["service.name"] == "memory-spine"


def test_a_failure_is_a_span_with_its_reason_and_the_next_attempt_follows(traced, collector):
    traced.deliver(pack(traced, PARENT).json["id"], 202, max_attempts=2)
    traced.settle("nack", traced.take(), reason="too \"busy\"\n", delay_s=0)
    traced.settle("reject", traced.take(), reason="never")
    spans = collector.wait(7)
    assert [span.operation for span in spans] == ["create", "send", "receive", "nack", "receive", "reject", "park"]
    nack, second = spans[3], spans[4]
    assert nack.failed and nack.message == "too \"busy\"\n" and nack.attributes["error.type"] == "handoff.nacked"
    assert nack.parent == spans[2].id and second.parent == spans[1].id != second.id and second.start == nack.end
    assert len({span.id for span in spans}) == 7


def test_a_span_has_the_right_parent_however_much_progress_was_told(traced, collector):
    traced.deliver(pack(traced, PARENT).json["id"], 202)
    taken = traced.take(lease_s=600)
    for number in range(1010):
        traced.settle("progress", taken, note=str(number))
    traced.settle("nack", taken, reason="tired", delay_s=0)
    again = traced.take()
    traced.settle("ack", again)
    spans = collector.wait(6)
    assert [span.operation for span in spans] == ["create", "send", "receive", "nack", "receive", "ack"]
    assert spans[5].parent == spans[4].id != spans[2].id == spans[3].parent
    seen = traced.look(again)
    assert (seen["event_count"], len(seen["events"])) == (1015, 1000)
    assert [event["event"] for event in seen["events"][-3:]] == ["handoff.nacked", "handoff.leased", "handoff.acked"]
    ids = [event["id"] for event in seen["events"]]
    assert ids == sorted(ids)


def test_a_chain_is_one_trace(traced, collector):
    first = pack(traced, PARENT).json["id"]
    second = pack(traced, parent=first, target_agent="second").json
    third = pack(traced, "00-" + "a" * 32 + "-" + "b" * 16 + "-01", parent=second["id"], target_agent="third").json
    spans = collector.wait(3)
    assert second["traceparent"] == PARENT, "who does not say where it is, is where the hop before was"
    assert [span.trace for span in spans] == [TRACE, TRACE, "a" * 32]
    assert [span.parent for span in spans[1:]] == [spans[0].id, "b" * 16]
    assert third["traceparent"].startswith("00-aaaa")


def test_a_chain_that_nobody_named_a_trace_for_has_one_of_its_own(traced, collector):
    root = pack(traced).json
    child = pack(traced, parent=root["id"], target_agent="second").json
    pack(traced)
    spans = collector.wait(3)
    assert root["traceparent"] is None and child["traceparent"] is None
    assert spans[0].parent is None and spans[0].trace == spans[1].trace != spans[2].trace
    assert spans[1].parent == spans[0].id


def test_a_trace_that_is_not_sampled_is_not_exported(traced, collector):
    pack(traced, "00-" + "c" * 32 + "-" + "d" * 16 + "-00")
    pack(traced, PARENT)
    wait_until(lambda: collector.of(TRACE), "what came after it is exported")
    assert [span.trace for span in collector.spans] == [TRACE]


def test_hostile_names_stay_names(traced, collector):
    name = "wörker \"}],\\ \u202e \U0001f600"
    traced.deliver(pack(traced, PARENT, target_agent=name).json["id"], 202)
    assert collector.wait(2)[0].attributes["gen_ai.agent.name"] == name


def test_spans_go_on_over_a_restart(start, collector, tmp_path):
    """The span of an ack finds its lease, though another process gave it."""
    options = ("--otlp-endpoint", collector.url, "--otlp-interval", "1ms")
    server = start(*options, data=tmp_path / "data").wait_until_ready()
    desk = Desk(server.address)
    desk.deliver(pack(desk, PARENT).json["id"], 202)
    taken = desk.take(lease_s=600)
    collector.wait(3)
    desk.close()
    assert server.terminate() == 0
    server = start(*options, data=tmp_path / "data").wait_until_ready()
    desk = Desk(server.address)
    desk.settle("ack", taken)
    spans = by_operation(collector.wait(4))
    assert len(collector.spans) == 4, "what was sent before is not sent again"
    assert spans["ack"].parent == spans["receive"].id
    desk.close()
    assert server.terminate() == 0


# --- traceparent out ---


def test_answers_name_the_servers_span_where_spans_are_exported(traced, collector):
    answer = pack(traced, PARENT)
    traced.deliver(answer.json["id"], 202)
    received = traced.call("POST", "/v1/agents/worker/receive", {"wait_s": 5})
    spans = by_operation(collector.wait(3))
    assert answer.headers["traceparent"] == f"00-{TRACE}-{spans['create'].id}-01"
    assert received.headers["traceparent"] == f"00-{TRACE}-{spans['receive'].id}-01"
    assert received.json["handoffs"][0]["envelope"]["traceparent"] == PARENT, "an envelope is never changed"
    body = {"envelope": {"from": "a", "target_agent": "worker", "task_summary": "x", "include_recent": 0}}
    sent = traced.call("POST", "/v1/handoffs", body, {"traceparent": PARENT})
    assert sent.status == 202 and sent.headers["traceparent"].startswith(f"00-{TRACE}-")


def test_answers_pass_on_what_the_sender_gave_where_none_are(desk):
    answer = pack(desk, PARENT)
    assert answer.headers["traceparent"] == PARENT
    desk.deliver(answer.json["id"], 202)
    assert desk.call("POST", "/v1/agents/worker/receive", {"wait_s": 5}).headers["traceparent"] == PARENT
    assert pack(desk).headers["traceparent"] is None
    assert desk.ok("GET", "/v1/status")["traces"] is None


# --- Collectors that misbehave ---


def test_what_a_collector_asks_to_be_sent_later_is_sent_again(traced, collector):
    collector.answers[:] = [503, 429]
    pack(traced, PARENT)
    assert len(collector.wait(1)) == 1
    assert collector.posts == 3
    wait_until(lambda: traces(traced) == counted(1, 2), "it is counted")


def test_what_a_collector_refuses_is_dropped_and_counted(traced, collector):
    collector.answers[:] = [400]
    pack(traced, PARENT)
    wait_until(lambda: traces(traced) == counted(0, 1, refused=1), "it is dropped")
    assert metrics(traced) == traces(traced)
    pack(traced, PARENT)
    assert len(collector.wait(1)) == 1


def test_what_a_collector_takes_only_in_part_is_counted(traced, collector):
    collector.answers[:] = [(200, b'{"partialSuccess":{"rejectedSpans":"1","errorMessage":"no"}}', {})]
    pack(traced, PARENT)
    wait_until(lambda: traces(traced) == counted(0, 0, rejected=1), "it is counted")
    assert metrics(traced) == traces(traced)


def test_a_collector_that_hangs_or_is_not_there_holds_up_nothing(start):
    """A listener that never answers, and a port that nobody listens on: handoffs go on, and the server stops in good time."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        free = socket.create_server(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        for address in (silent.getsockname()[1], port):
            server = start("--otlp-endpoint", f"http://127.0.0.1:{address}/", "--otlp-interval", "1ms").wait_until_ready()
            desk = Desk(server.address)
            for _ in range(50):
                desk.send()
                desk.settle("ack", desk.take())
            assert traces(desk)["exported"] == 0
            desk.close()
            assert server.terminate() == 0


def test_what_lies_too_far_behind_a_collector_that_is_down_is_dropped_and_counted(start):
    """Handoffs go on meanwhile; when it is back it gets the newest, and what it got and what was dropped is all."""
    free = socket.create_server(("127.0.0.1", 0))
    port = free.getsockname()[1]
    free.close()
    options = ("--otlp-endpoint", f"http://127.0.0.1:{port}", "--otlp-interval", "1ms", "--otlp-behind", "40")
    server = start(*options).wait_until_ready()
    desk = Desk(server.address)
    for _ in range(50):
        desk.send()
        desk.settle("ack", desk.take())
    wait_until(lambda: traces(desk)["dropped_by"]["behind"] > 0, "some are dropped")
    assert traces(desk)["exported"] == 0 and traces(desk)["failed_posts"] > 0
    collector = Collector(port)
    total = 50 * len(("create", "send", "receive", "ack"))
    wait_until(lambda: traces(desk)["exported"] + traces(desk)["dropped"] == total, "all is accounted for")
    told = traces(desk)
    assert told["dropped"] == told["dropped_by"]["behind"] >= total - 40
    assert len(collector.spans) == told["exported"] > 0 and not collector.errors
    assert metrics(desk) == told
    desk.close()
    assert server.terminate() == 0
    collector.close()


def test_what_cannot_be_sent_before_the_server_stops_is_told(start):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        server = start("--otlp-endpoint", endpoint, "--otlp-interval", "60s", "--log-format", "json").wait_until_ready()
        desk = Desk(server.address)
        desk.send()
        desk.close()
        assert server.terminate() == 0
    told = [line for line in server.log.read_text().splitlines() if "were not exported" in line]
    assert len(told) == 1 and json.loads(told[0])["spans"] == 2


def test_metrics_tell_of_spans_also_where_none_are_exported(desk):
    assert metrics(desk) == counted(0, 0)


def test_what_is_left_is_sent_when_the_server_stops(start, collector):
    server = start("--otlp-endpoint", collector.url, "--otlp-interval", "60s").wait_until_ready()
    desk = Desk(server.address)
    for _ in range(10):
        desk.send()
    desk.close()
    assert collector.posts == 0
    assert server.terminate() == 0
    assert len(collector.wait(20)) == 20


def test_an_endpoint_that_is_not_an_address_is_refused_at_the_start(start):
    for endpoint in ("ftp://127.0.0.1/", "not a url", "http://"):
        server = start("--otlp-endpoint", endpoint)
        assert server.process.wait(30) == 2
        assert "endpoint for traces" in server.log.read_text()
        assert not server.data.exists()
