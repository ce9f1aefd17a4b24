"""GET /metrics, and what is in deploy/ for those who use it."""

import json
import re
import subprocess
from pathlib import Path

from api import wait_until
from delivery import Desk
import stores

ROOT = Path(__file__).resolve().parent.parent.parent
RULES = ROOT / "deploy" / "prometheus"
DASHBOARD = ROOT / "deploy" / "grafana" / "memory-spine.json"
LINE = re.compile(r'^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')


def scrape(desk):
    answer = desk.call("GET", "/metrics")
    assert answer.status == 200, answer
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    return answer.data.decode()


def samples(text):
    """(name, labels) -> value"""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, labels, value = LINE.match(line).groups()
        pairs = {key: value.replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\") for key, value in LABEL.findall(labels or "")}
        key = (name, tuple(sorted(pairs.items())))
        assert key not in found, line
        found[key] = float(value)
    return found


def value(text, name, **labels):
    """Of all shards, where a node says which: the sum."""
    wanted, found = tuple(sorted(labels.items())), []
    for (other, pairs), number in samples(text).items():
        if other == name and tuple(pair for pair in pairs if pair[0] != "shard") == wanted:
            found.append(number)
    if not found:
        raise KeyError(f"{name} {labels}")
    return sum(found)


def busy(desk):
    desk.ok("PUT", "/v1/space", {"quota_memories": 1000})
    for _ in range(4):
        desk.send("coder", max_attempts=1)
    desk.settle("ack", desk.take("coder"))
    desk.settle("complete", desk.take("coder"))
    desk.settle("nack", desk.take("coder"), reason="no")


def promtool(*arguments, data=None, folder=None):
    run = subprocess.run(["promtool", *arguments], input=data, capture_output=True, text=True, cwd=folder, timeout=120, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout + run.stderr


def test_promtool_finds_nothing_wrong(desk):
    assert promtool("check", "metrics", data=scrape(desk)) == ""
    busy(desk)
    assert promtool("check", "metrics", data=scrape(desk)) == ""


def test_counters_say_what_happened(desk):
    busy(desk)
    text = scrape(desk)
    labels = {"space": desk.space, "agent": "coder"}
    for name, expected in (("spine_handoffs_total", 4), ("spine_handoffs_acked_total", 2), ("spine_handoffs_completed_total", 1),
                           ("spine_handoffs_failed_total", 1), ("spine_handoff_retries_total", 0), ("spine_envelopes_total", 4),
                           ("spine_handoff_ack_seconds_count", 2), ("spine_breaker_open", 0)):
        assert value(text, name, **labels) == expected, name
    for state, expected in (("queued", 1), ("leased", 0), ("working", 0), ("parked", 1)):
        assert value(text, "spine_queue_handoffs", state=state, **labels) == expected
    assert value(text, "spine_envelope_completeness_ratio_count", space=desk.space) == 4
    assert value(text, "spine_envelope_completeness_ratio_sum", space=desk.space) == 4
    assert value(text, "spine_envelope_hops_bucket", space=desk.space, le="1") == 4


def test_a_histogram_is_cumulative_and_ends_with_its_count(desk):
    busy(desk)
    found = samples(scrape(desk))
    for name in ("spine_handoff_ack_seconds", "spine_envelope_completeness_ratio", "spine_envelope_token_utilization_ratio", "spine_envelope_hops"):
        buckets = [(dict(labels), count) for (one, labels), count in found.items() if one == name + "_bucket" and dict(labels)["space"] == desk.space]
        counts = [count for labels, count in sorted(buckets, key=lambda pair: float(pair[0]["le"]))]
        assert counts == sorted(counts) and buckets
        rest = {key: value for key, value in buckets[0][0].items() if key != "le"}
        assert counts[-1] == found[(name + "_count", tuple(sorted(rest.items())))]


def test_counters_never_fall(desk):
    before = samples(scrape(desk))
    busy(desk)
    after = samples(scrape(desk))
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", scrape(desk), re.M))
    for (name, labels), count in before.items():
        if kinds.get(name) == "counter":
            assert after[(name, labels)] >= count, name


def test_the_server_tells_of_itself(desk):
    text = scrape(desk)
    found = samples(text)
    assert value(text, "process_resident_memory_bytes") > 1e6
    assert value(text, "spine_http_connections") >= 1
    assert value(text, "spine_store_bytes") > 0
    assert 0 <= value(text, "spine_store_cache_bytes") < 64 << 20
    assert value(text, "spine_store_failed") == 0
    assert {("spine_writer_queue_jobs", ()), ("spine_waiting_calls", ()), ("spine_event_streams", ())} <= found.keys()
    commits = value(text, "spine_store_commits_total")
    desk.send()
    assert value(scrape(desk), "spine_store_commits_total") > commits
    assert stores.SERVER or value(scrape(desk), "spine_store_cache_bytes") > 0


def test_receivers_that_wait_are_counted(desk, poll):
    call = poll("worker")
    wait_until(lambda: value(scrape(desk), "spine_waiting_calls") >= 1, "it is counted")
    desk.send("worker")
    assert call.handoffs


def test_who_invents_names_does_not_make_it_grow(start):
    desk = Desk(start().wait_until_ready().address, "default")
    for number in range(600):
        desk.pack(f"agent-{number}")
    text = scrape(desk)
    agents = {dict(labels).get("agent") for name, labels in samples(text)} - {None}
    assert "_other" in agents and len(agents) <= 257
    assert sum(count for (name, _), count in samples(text).items() if name == "spine_envelopes_total") == 600
    assert promtool("check", "metrics", data=text) == ""
    desk.close()


def test_hostile_names_stay_labels(desk):
    names = ['a"b', "back\\slash", "{}", "日本", 'x",space="other']
    for name in names:
        desk.pack(name)
    text = scrape(desk)
    assert promtool("check", "metrics", data=text) == ""
    for name in names:
        assert value(text, "spine_envelopes_total", space=desk.space, agent=name) == 1


def test_what_fires_is_counted(start):
    desk = Desk(start().wait_until_ready().address, "default")
    assert value(scrape(desk), "spine_alerts_firing", severity="critical") == 0
    for _ in range(3):
        desk.send("bad", max_attempts=1)
        desk.settle("nack", desk.take("bad"), reason="no")
    wait_until(lambda: value(scrape(desk), "spine_alerts_firing", severity="critical") == 1, "the breaker's alert is counted")
    assert value(scrape(desk), "spine_breaker_open", space="default", agent="bad") == 1
    desk.close()


# --- deploy/ ---


def test_promtool_accepts_the_rules_and_their_tests():
    promtool("check", "rules", "alerts.yml", folder=RULES)
    promtool("check", "config", "prometheus.yml", folder=RULES)
    promtool("test", "rules", "alerts_test.yml", folder=RULES)


def metric_names(expression):
    return set(re.findall(r"\b(?:spine|process)_[a-z_]+", expression))


def test_every_metric_that_is_asked_for_exists(desk):
    busy(desk)
    existing = {name for name, _ in samples(scrape(desk))}
    dashboard = json.loads(DASHBOARD.read_text())
    expressions = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    expressions += [variable["definition"] for variable in dashboard["templating"]["list"] if "definition" in variable]
    expressions += re.findall(r"^ *(?:expr:|[a-z]).*(?:spine|process)_.*$", (RULES / "alerts.yml").read_text(), re.M)
    wanted = set().union(*map(metric_names, expressions))
    # Of nodes that share a database: test_cluster.py.
    wanted = {name for name in wanted if not name.startswith("spine_cluster_")}
    assert len(wanted) > 20
    assert wanted <= existing, wanted - existing


def test_every_metric_is_shown_on_the_dashboard(desk):
    text = DASHBOARD.read_text()
    for name in re.findall(r"^# TYPE (\S+)", scrape(desk), re.M):
        assert name in text or name == "spine_build_info", name
