"""Channels, and the published listing of a broadcast, against the real server. Each test holds for both clients."""

import threading
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from memory_spine import Handoff, Join, MemorySpine, NotFound, ValidationError

HERE = Path(__file__).resolve().parent
LISTING = HERE / "listing_broadcast.txt"
# Where the listing was published; it stands beside the repository, and not everywhere.
PUBLISHED = HERE.parents[3] / "shared" / "seed" / "agent-handoff-protocols.txt"
RECEIVERS = ["code-generator", "test-writer", "doc-writer"]


# --- The listing ---------------------------------------------------------------------------------


def test_the_broadcast_listing_is_the_published_one():
    if not PUBLISHED.exists():
        pytest.skip("the published text is not beside this repository")
    assert LISTING.read_text(encoding="utf-8") in PUBLISHED.read_text(encoding="utf-8")


def test_the_broadcast_listing_runs_as_it_stands(other, in_thread):
    other.store_many([{"id": f"ms-{number}", "content": f"finding {number}"} for number in range(7100, 7109)])
    names = {"spine": other}
    exec(compile(LISTING.read_text(encoding="utf-8"), "<listing>", "exec"), names)
    envelope = names["handoff_envelope"]
    assert type(envelope) is Handoff and envelope.to_agent == "broadcast"
    assert envelope.memory_refs[:9] == [f"ms-{number}" for number in range(7100, 7109)]
    seen = {}
    all_have_it = threading.Barrier(len(RECEIVERS), timeout=30)

    def handle(handoff):
        seen[handoff.to_agent] = handoff
        all_have_it.wait()  # none of them is done before all have begun

    for name in RECEIVERS:
        in_thread(lambda name=name: other.agent(name).run(handle, max=1))
    in_thread.join()
    assert {name: handoff.envelope.id for name, handoff in seen.items()} == dict.fromkeys(RECEIVERS, envelope.id)
    assert {handoff.channel for handoff in seen.values()} == {"oauth-migration"}
    assert len({handoff.id for handoff in seen.values()}) == 3


# --- Publish -------------------------------------------------------------------------------------


def test_publish_makes_one_delivery_for_each_receiver(spine):
    packed = spine.agent_handoff("broadcast", "go")
    channel = spine.get_channel("findings ü/1")
    made = channel.publish(envelope=packed, receivers=RECEIVERS, delivery="at-least-once", priority=8, max_attempts=5)
    assert [one.to for one in made] == RECEIVERS
    assert {(one.state, one.channel, one.envelope_id, one.priority, one.max_attempts) for one in made} == {
        ("queued", "findings ü/1", packed.id, 8, 5)
    }
    assert [one.id for one in channel.publish(packed, RECEIVERS)] == [one.id for one in made]
    assert [one.name for one in spine.channels()] == ["findings ü/1"]


def test_publish_goes_to_the_subscribers_where_no_receivers_are_named(spine):
    channel = spine.get_channel("findings")
    with pytest.raises(ValidationError):
        channel.publish(spine.agent_handoff("broadcast", "go"))
    assert channel.subscribe("coder").subscribers == ["coder"]
    info = channel.subscribe("test/er")
    assert (info.name, set(info.subscribers), info.subscriber_count) == ("findings", {"coder", "test/er"}, 2)
    assert {one.to for one in channel.publish(spine.agent_handoff("broadcast", "go"))} == {"coder", "test/er"}
    assert channel.unsubscribe("coder").subscribers == ["test/er"]
    with pytest.raises(NotFound):
        channel.unsubscribe("coder")
    assert channel.describe("what we found").description == "what we found"
    assert channel.info().subscribers == ["test/er"]


def test_what_cannot_be_published_is_refused(spine):
    channel = spine.get_channel("findings")
    packed = spine.agent_handoff("broadcast", "go")
    with pytest.raises(ValidationError) as caught:
        channel.publish(packed, RECEIVERS, delivery="exactly-once")
    assert caught.value.field == "delivery"
    with pytest.raises(TypeError):
        channel.publish(packed, "coder")
    with pytest.raises(NotFound):
        channel.publish("env-99", RECEIVERS)
    with pytest.raises(NotFound):
        channel.info()
    with pytest.raises(ValueError):
        spine.get_channel("").info()
    assert spine.handoffs().all() == []


# --- Join ----------------------------------------------------------------------------------------


def complete(client, name, result):
    (handoff,) = client.agent(name).receive(wait_s=20)
    handoff.complete(result, gaps=[f"gap of {name}"])


def test_join_gathers_the_results_of_all(spine, other, in_thread):
    packed = spine.agent_handoff("broadcast", "go")
    channel = spine.get_channel("findings")
    channel.publish(packed, RECEIVERS)
    for name in RECEIVERS:
        in_thread(complete, other, name, {"by": name})
    joined = channel.join(packed, timeout=30)
    assert type(joined) is Join and joined and joined.state == "joined"
    assert (joined.receivers, joined.completed, joined.need) == (3, 3, 3)
    assert joined.results == {name: {"by": name} for name in RECEIVERS}
    assert {one.to: one.gaps for one in joined.deliveries}["doc-writer"] == ["gap of doc-writer"]


@pytest.mark.parametrize("need, enough", [("any", 1), (2, 2)])
def test_join_is_content_with_fewer(spine, other, need, enough):
    packed = spine.agent_handoff("broadcast", "go")
    channel = spine.get_channel("findings")
    channel.publish(packed, RECEIVERS)
    for name in RECEIVERS[:enough]:
        assert not channel.join(packed.id, need, 0)
        complete(other, name, name)
    joined = channel.join(packed, need=need, timeout=20)
    assert joined and (joined.completed, joined.need) == (enough, enough)
    assert joined.results == {name: name for name in RECEIVERS[:enough]}


def test_join_ends_with_its_timeout_and_tells_what_there_is(spine, other):
    packed = spine.agent_handoff("broadcast", "go")
    channel = spine.get_channel("findings")
    channel.publish(packed, RECEIVERS)
    complete(other, "test-writer", 1)
    joined = channel.join(packed, timeout=0.05)
    assert not joined and joined.state == "waiting"
    assert joined.results == {"test-writer": 1}
    joined = channel.join(packed, deadline=datetime.now(timezone.utc) + timedelta(seconds=0.05))
    assert not joined and joined.state == "deadline"


def test_join_fails_when_enough_never_will(spine, other):
    packed = spine.agent_handoff("broadcast", "go")
    channel = spine.get_channel("findings")
    channel.publish(packed, RECEIVERS)
    other.agent("doc-writer").receive()[0].reject("no")
    assert channel.join(packed, timeout=20).state == "failed"
    assert channel.join(packed, need=2, timeout=0).state == "waiting"


def test_join_asks_again_when_the_server_has_waited_as_long_as_it_may(spine, other, in_thread, monkeypatch):
    monkeypatch.setattr("memory_spine.channels._JOIN_WAIT_S", 0.02)
    packed = spine.agent_handoff("broadcast", "go")
    channel = spine.get_channel("findings")
    channel.publish(packed, ["coder"])

    def late():
        (handoff,) = other.agent("coder").receive()
        for _ in range(100):
            handoff.progress()
        handoff.complete("at last")

    in_thread(late)
    assert channel.join(packed).results == {"coder": "at last"}


def test_join_outlives_a_restart_of_the_server(connect, start_server, in_thread):
    first = start_server()
    spine = connect(first.url)
    packed = spine.agent_handoff("broadcast", "go")
    channel = spine.get_channel("findings")
    channel.publish(packed, ["coder"])

    def restart():
        with MemorySpine(first.url) as watcher:
            while watcher.status()["http"]["requests_active"] < 2:
                pass
        first.kill()
        with MemorySpine(start_server(first.data, listen=first.url.partition("//")[2]).url) as receiver:
            complete(receiver, "coder", "done")

    in_thread(restart)
    assert channel.join(packed, timeout=30).results == {"coder": "done"}


def test_join_of_what_was_not_published_is_not_found(spine):
    packed = spine.agent_handoff("broadcast", "go")
    channel = spine.get_channel("findings")
    with pytest.raises(NotFound):
        channel.join(packed, timeout=0)
    channel.publish(packed, ["coder"])
    with pytest.raises(ValidationError):
        channel.join(packed, need=5, timeout=0)


def test_a_duplicate_is_marked(spine):
    spine.get_channel("findings").publish(spine.agent_handoff("broadcast", "go"), ["coder"])
    (first,) = spine.agent("coder").receive()
    first.nack("lost it", delay_s=0)
    (again,) = spine.agent("coder").receive()
    assert (first.redelivered, again.redelivered, again.id) == (False, True, first.id)
