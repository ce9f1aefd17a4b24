"""A thousand at once: direct handoffs whose senders wait, and a broadcast. All acked, none lost, none twice."""

import asyncio
import time

import pytest
from database import connect as open_database
from delivery import Desk
from many import allow_descriptors, connect_all

MANY = 1000
RECEIVERS = 64


@pytest.fixture
def running(start):
    if not allow_descriptors(2 * MANY + 500):
        pytest.skip("this machine does not allow so many open files")
    server = start().wait_until_ready()
    yield server
    assert server.process.poll() is None, server.log_tail()
    assert server.terminate() == 0, server.log_tail()


async def work(client, taken, done):
    """A receiver that takes and acks until everything is done."""
    while not done.is_set():
        status, answer = await client.post("/v1/agents/worker/receive", {"wait_s": 1, "max": 4, "lease_s": 60, "format": "none"})
        assert status == 200, answer
        for handoff in answer["handoffs"]:
            taken.append(handoff["id"])
            status, answer = await client.post(f"/v1/handoffs/{handoff['id']}/ack", {"lease": handoff["lease"]})
            assert status == 200 and answer["state"] == "acked", answer


async def send_all(address, taken):
    done = asyncio.Event()
    receivers = await connect_all(address, "default", RECEIVERS)
    workers = [asyncio.create_task(work(client, taken, done)) for client in receivers]
    senders = await connect_all(address, "default", MANY)
    answers = await asyncio.gather(*(
        sender.post("/v1/handoffs", {"envelope": {"from": "s", "target_agent": "worker", "task_summary": f"piece {number}", "include_recent": 0},
                                     "wait_s": 60})
        for number, sender in enumerate(senders)))
    done.set()
    await asyncio.gather(*workers)
    for client in receivers + senders:
        client.close()
    return answers


def test_a_thousand_senders_wait_at_once_and_every_one_gets_its_ack(running):
    taken = []
    answers = asyncio.run(send_all(running.address, taken))
    assert [status for status, _ in answers] == [200] * MANY, next(answer for answer in answers if answer[0] != 200)
    assert {answer["state"] for _, answer in answers} == {"acked"}
    ids = {answer["id"] for _, answer in answers}
    assert len(ids) == MANY and sorted(taken) == sorted(ids), "something was given to two, or lost"
    assert {answer["attempt"] for _, answer in answers} == {1}
    desk = Desk(running.address)
    assert desk.agent()["queue"] == {"queued": 0, "leased": 0, "working": 0, "parked": 0}


async def broadcast(address, envelope):
    names = [f"receiver-{number}" for number in range(MANY)]
    clients = await connect_all(address, "default", MANY)
    for client, name in zip(clients, names):
        client.send(f"/v1/agents/{name}/receive", {"wait_s": 60, "lease_s": 60, "format": "none"})
    (sender, joiner) = await connect_all(address, "default", 2)
    status, made = await sender.post("/v1/channels/all/publish", {"envelope_id": envelope, "receivers": names})
    assert status == 200, made
    joiner.send("/v1/channels/all/join", {"envelope_id": envelope, "wait_s": 60})

    async def complete(client, name):
        status, answer = await client.answer()
        assert status == 200 and len(answer["handoffs"]) == 1, (name, answer)
        (handoff,) = answer["handoffs"]
        assert handoff["to"] == name and handoff["redelivered"] is False
        status, answer = await client.post(f"/v1/handoffs/{handoff['id']}/complete", {"lease": handoff["lease"], "result": name})
        assert status == 200, answer
        return handoff["id"]

    got = await asyncio.gather(*(complete(client, name) for client, name in zip(clients, names)))
    status, joined = await joiner.answer()
    assert status == 200
    for client in [*clients, sender, joiner]:
        client.close()
    return made, got, joined


def test_a_broadcast_to_a_thousand_waiting_receivers_reaches_each_of_them_once(running):
    envelope = Desk(running.address).pack()
    made, got, joined = asyncio.run(broadcast(running.address, envelope))
    assert sorted(handoff["id"] for handoff in made["handoffs"]) == sorted(got)
    assert (joined["state"], joined["completed"], joined["receivers"]) == ("joined", MANY, MANY)
    assert {entry["to"]: entry["result"] for entry in joined["results"]} == {f"receiver-{number}": f"receiver-{number}" for number in range(MANY)}


def completion_s(desk, beside, receivers, joiners=20, tries=8):
    """How long a completion takes, at best, while others wait for so many receivers."""
    channel, names = f"to-{receivers}", [f"of-{receivers}-{number}" for number in range(receivers)]
    made = desk.ok("POST", f"/v1/channels/{channel}/publish", {"envelope_id": desk.pack(), "receivers": names})
    join = {"envelope_id": made["handoffs"][0]["envelope_id"], "wait_s": 60}
    waiting = [beside("POST", f"/v1/channels/{channel}/join", join) for _ in range(joiners)]
    desk.wait_for_waiters(joiners)
    seconds = []
    for name in names[:tries]:
        got = desk.take(name)
        began = time.monotonic()
        desk.settle("complete", got, result=name)
        seconds.append(time.monotonic() - began)
    desk.ok("POST", f"/v1/envelopes/{join['envelope_id']}/park", {"reason": "enough"})
    assert {waited.result(200).json["completed"] for waited in waiting} == {tries}
    return min(seconds)


def test_a_completion_costs_the_same_however_many_receivers_are_waited_for(desk, beside):
    few, many = completion_s(desk, beside, 100), completion_s(desk, beside, 10000)
    assert many < 20 * few + 0.05, f"{few * 1000:.1f} ms with a hundred receivers, {many * 1000:.1f} with ten thousand"


def test_a_publish_goes_to_ten_thousand_subscribers_at_most(start):
    server = start().wait_until_ready()
    desk = Desk(server.address)
    envelope = desk.pack()
    desk.ok("PUT", "/v1/channels/all/subscribers/first")
    desk.close()
    assert server.terminate() == 0
    database = open_database(server.data / "spine.db")
    with database:
        (space, settings), (channel,) = database.execute("SELECT space, settings FROM agent WHERE name = 'first'").fetchone(), \
            database.execute("SELECT id FROM channel").fetchone()
        database.executemany("INSERT INTO agent (id, space, name, settings, created_at, updated_at) VALUES (?, ?, ?, ?, 1, 1)",
                             [(100 + number, space, f"agent-{number}", settings) for number in range(10000)])
        database.executemany("INSERT INTO subscriber (channel, agent, created_at) VALUES (?, ?, 1)",
                             [(channel, 100 + number) for number in range(10000)])
    database.close()
    desk = Desk(start(data=server.data).wait_until_ready().address)
    problem = desk.refused(422, "too_large", "POST", "/v1/channels/all/publish", {"envelope_id": envelope}, field="receivers")
    assert "10001" in problem["detail"] and desk.ok("GET", "/v1/handoffs")["handoffs"] == []
    desk.ok("DELETE", "/v1/channels/all/subscribers/first")
    assert len(desk.ok("POST", "/v1/channels/all/publish", {"envelope_id": envelope})["handoffs"]) == 10000
    desk.close()
