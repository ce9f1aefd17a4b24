"""What is stored while a handoff is in hand belongs to its task, whoever calls store, and wherever."""

import asyncio
import threading

import pytest
from receiving import in_loop, send, sync  # noqa: F401

from memory_spine import AsyncMemorySpine, MemorySpine, NotFound


def task_of(client, handoff):
    return client.envelope(handoff.envelope_id).task


# --- Blocking ------------------------------------------------------------------------------------


def test_what_a_loop_stores_belongs_to_the_task_of_the_handoff_in_hand(sync):
    sent = send(sync, count=2)
    tasks = [sync.store("found").task for _ in sync.agent("coder").inbox(idle_s=0)]
    assert tasks == [task_of(sync, one) for one in sent] and tasks[0] != tasks[1]
    assert sync.store("later").task is None


def test_what_a_handler_stores_belongs_to_its_task(sync):
    (sent,) = send(sync)
    made = []
    sync.agent("coder").run(lambda work: made.extend([sync.store("a"), *sync.store_many(["b"])]), idle_s=0)
    assert {memory.task for memory in made} == {task_of(sync, sent)}
    assert sync.store("later").task is None


def test_a_handler_that_fails_has_nothing_in_hand_afterwards(sync):
    send(sync)
    sync.agent("coder").run(lambda work: 1 / 0, max=1, on_error=lambda work, error: None)
    assert sync.store("later").task is None


def test_what_is_stored_within_a_with_block_belongs_to_its_task(sync):
    (sent,) = send(sync)
    (work,) = sync.agent("coder").receive(lease_s=60)
    assert sync.store("before").task is None
    with work:
        assert sync.store("found").task == task_of(sync, sent) == work.task
    assert sync.store("later").task is None


def test_a_loop_that_is_left_has_nothing_in_hand_any_more(sync):
    send(sync, count=2)
    for _ in sync.agent("coder").inbox(idle_s=0):
        break
    assert sync.store("later").task is None
    with sync.agent("coder").inbox(idle_s=0) as inbox:
        for work in inbox:
            break
        assert sync.store("still within").task == work.task
    assert sync.store("later").task is None


def test_a_task_that_is_named_wins_and_shared_has_none(sync):
    send(sync)
    for work in sync.agent("coder").inbox(idle_s=0):
        assert sync.store("a", task="mine").task == work.store("a", task="mine").task == "mine"
        assert sync.store("b", shared=True).task is work.store("b", shared=True).task is None
        made = sync.store_many(["c", {"content": "d", "shared": True}, {"content": "e", "task": "mine"}])
        assert [memory.task for memory in made] == [work.task, None, "mine"]


def test_a_handoff_stores_for_its_task_at_any_time_and_in_the_name_of_its_agent(sync):
    send(sync)
    (work,) = sync.agent("coder").receive(lease_s=60)
    memory = work.store("found", tags=["x"])
    assert (memory.task, memory.agent, memory.tags) == (work.task, "coder", ("x",))
    assert [one.task for one in work.store_many(["a", "b"])] == [work.task, work.task]


def test_another_client_has_nothing_to_do_with_it(sync, server):
    send(sync)
    with MemorySpine(server.url, space="elsewhere") as other:
        for _ in sync.agent("coder").inbox(idle_s=0):
            assert other.store("a").task is None


def test_threads_that_share_a_client_work_on_tasks_of_their_own(sync, in_thread):
    send(sync, count=4)
    together = threading.Barrier(4)
    seen = []

    def receive():
        (work,) = sync.agent("coder").receive(wait_s=10, lease_s=60)
        with work:
            together.wait(30)
            seen.append((work.task, sync.store("found").task))

    for _ in range(4):
        in_thread(receive)
    in_thread.join()
    assert len(set(seen)) == 4 and all(task == stored for task, stored in seen)


def test_a_loop_within_a_loop_stores_for_the_inner_one_and_then_for_the_outer_one_again(sync):
    send(sync, "coder")
    send(sync, "reviewer")
    for outer in sync.agent("coder").inbox(idle_s=0):
        for inner in sync.agent("reviewer").inbox(idle_s=0):
            assert sync.store("a").task == inner.task != outer.task
        assert sync.store("b").task == outer.task


def test_a_program_that_was_started_for_a_task_stores_for_it(sync, server, space, monkeypatch):
    (sent,) = send(sync)
    task = task_of(sync, sent)
    monkeypatch.setenv("SPINE_URL", server.url)
    monkeypatch.setenv("SPINE_SPACE", space)
    monkeypatch.setenv("SPINE_TASK", task)
    with MemorySpine() as client, MemorySpine(space="elsewhere") as other:
        assert client.store("a").task == task
        assert client.store("a", shared=True).task is None
        assert other.store("a").task is None
        for work in client.agent("coder").inbox(idle_s=0):
            assert client.store("b").task == work.task
    monkeypatch.setenv("SPINE_TASK", "task-999")
    with MemorySpine() as client, pytest.raises(NotFound):
        client.store("a")


# --- Asynchronous --------------------------------------------------------------------------------


async def several(spine, count):
    for n in range(count):
        await spine.send(await spine.agent_handoff("coder", f"work {n}"))


def test_tasks_of_one_loop_work_on_tasks_of_their_own(in_loop):
    async def main(spine: AsyncMemorySpine):
        await several(spine, 4)
        seen = []

        async def handle(work):
            await asyncio.sleep(0)
            stored = [await spine.store("a"), *await asyncio.gather(spine.store("b"), spine.store("c"))]
            seen.append({work.task, *(memory.task for memory in stored)})

        await asyncio.gather(*(spine.agent("coder").run(handle, max=1) for _ in range(4)))
        assert len(seen) == 4 and all(len(one) == 1 for one in seen)
        assert len(set.union(*seen)) == 4
        assert (await spine.store("later")).task is None

    in_loop(main)


def test_an_asynchronous_loop_and_a_with_block_store_for_the_task(in_loop):
    async def main(spine: AsyncMemorySpine):
        await several(spine, 3)
        async for work in spine.agent("coder").inbox(max=1):
            assert (await spine.store("a")).task == work.task is not None
            assert (await asyncio.create_task(spine.store("b"))).task == work.task
            assert (await work.store("c", shared=True)).task is None
        assert (await spine.store("later")).task is None
        (work,) = await spine.agent("coder").receive(lease_s=60)
        async with work:
            assert (await spine.store("a")).task == work.task
        assert (await spine.store("later")).task is None
        async with spine.agent("coder").inbox() as inbox:
            async for work in inbox:
                break
        assert (await spine.store("later")).task is None

    in_loop(main)


def test_an_asynchronous_loop_that_was_left_has_nothing_in_hand_soon_after(in_loop):
    async def main(spine: AsyncMemorySpine):
        await several(spine, 1)
        async for _ in spine.agent("coder").inbox():
            break
        while (await spine.store("later")).task is not None:
            await asyncio.sleep(0)

    in_loop(main)


# --- Results -------------------------------------------------------------------------------------


def test_what_a_handler_returns_is_in_the_next_prompt_without_anybody_copying_it(sync):
    (sent,) = send(sync)
    sync.agent("coder").run(lambda work: {"answer": "use Retry-After"}, idle_s=0)
    done = sync.handoff(sent.id)
    assert done.result == {"answer": "use Retry-After"}
    memory = sync.get(done.result_memory)
    assert (memory.kind, memory.agent, memory.task) == ("output", "coder", task_of(sync, sent))
    following = sync.agent_handoff("reviewer", "look at it", parent=sent.envelope_id)
    assert "use Retry-After" in following.prompt() and following.history[0]["memory_id"] == memory.id


def test_remember_false_keeps_the_result_out(spine):
    packed = spine.agent_handoff("coder", "work")
    spine.send(packed)
    (work,) = spine.agent("coder").receive(lease_s=60)
    assert work.complete("between us", remember=False).result_memory is None
    assert spine.handoff(work.id).result == "between us"
    assert spine.search("between us") == []


def test_a_received_handoff_tells_what_came_after_it_was_packed(spine):
    first = spine.agent_handoff("coder", "work")
    spine.send(first)
    (work,) = spine.agent("coder").receive(lease_s=60)
    following = spine.agent_handoff("reviewer", "look at it", parent=first.id)
    done = work.complete("came later")
    spine.send(following)
    (review,) = spine.agent("reviewer").receive(lease_s=60)
    (news,) = review.since
    assert (news.id, news.event, news.handoff, news.agent) == (done.result_memory, "result", work.id, "coder")
    assert "came later" in review.prompt and review.envelope == following
