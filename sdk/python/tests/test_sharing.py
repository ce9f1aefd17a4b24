"""One client in many threads, tasks, loops and processes."""

import asyncio
import gc
import os
import subprocess
import sys
import threading
import warnings

import pytest
from peer import MEMORY, Peer, answering

from memory_spine import AsyncMemorySpine, MemorySpine, SpineWarning, TimeoutError

THREADS = 8
CALLS = 25


def echo(channel):
    """Answers with the id that was asked for."""
    while True:
        request = channel.read()
        if request is None:
            return
        channel.reply(200, {**MEMORY, "id": request[1].rpartition("/")[2]})


def test_threads_that_share_a_client_get_their_own_answers():
    wrong = []

    def work(spine, number):
        for call in range(CALLS):
            wanted = f"ms-{number}{call:03}"
            if spine.get(wanted).id != wanted:
                wrong.append(wanted)

    with Peer(echo) as peer, MemorySpine(peer.url) as spine:
        threads = [threading.Thread(target=work, args=(spine, n + 1)) for n in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []
    assert len(peer.requests) == THREADS * CALLS
    assert peer.connections <= THREADS


def test_tasks_that_share_a_client_get_their_own_answers_over_few_connections():
    async def main(url):
        async with AsyncMemorySpine(url, max_connections=10) as spine:
            wanted = [f"ms-{n}" for n in range(1, 201)]
            found = await asyncio.gather(*(spine.get(id) for id in wanted))
            assert [memory.id for memory in found] == wanted

    with Peer(echo) as peer:
        asyncio.run(main(peer.url))
    assert peer.connections <= 10


def test_threads_beyond_the_connection_limit_wait_for_one_another():
    with Peer(echo) as peer, MemorySpine(peer.url, max_connections=2) as spine:
        threads = [threading.Thread(target=spine.get, args=(f"ms-{n + 1}",)) for n in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(peer.requests) == THREADS
    assert peer.connections <= 2


def test_waiting_for_a_connection_counts_towards_the_timeout():
    arrived, release = threading.Event(), threading.Event()

    def hold(channel):
        channel.read()
        arrived.set()
        release.wait(30)
        channel.reply(200, MEMORY)

    with Peer(hold) as peer, MemorySpine(peer.url, max_connections=1) as spine:
        thread = threading.Thread(target=spine.get, args=("ms-1",))
        thread.start()
        assert arrived.wait(10)
        spine.timeout = 0.05
        with pytest.raises(TimeoutError):
            spine.get("ms-2")
        release.set()
        thread.join()


def test_a_cancelled_call_does_not_leave_its_answer_to_the_next():
    async def main(peer, held):
        async with AsyncMemorySpine(peer.url) as spine:
            task = asyncio.ensure_future(spine.get("ms-666"))
            while not held.is_set():
                await asyncio.sleep(0.001)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await spine.get("ms-1")).id == "ms-1"

    held, release = threading.Event(), threading.Event()

    def late(channel):
        channel.read()
        held.set()
        release.wait(30)

    with Peer(late, echo) as peer:
        asyncio.run(main(peer, held))
        release.set()
    assert peer.connections == 2


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # of the first loop's connection, which it left open
def test_an_asynchronous_client_can_be_used_in_one_loop_after_another():
    with Peer(echo) as peer:
        spine = AsyncMemorySpine(peer.url)

        async def ask(id):
            return (await spine.get(id)).id

        assert asyncio.run(ask("ms-1")) == "ms-1"
        assert asyncio.run(ask("ms-2")) == "ms-2"
        asyncio.run(spine.close())
    del spine, ask
    gc.collect()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # fork beside threads, which is what this is about
def test_a_forked_child_does_not_use_its_parents_connections():
    with Peer(echo) as peer, MemorySpine(peer.url) as spine:
        spine.get("ms-1")
        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = 0 if spine.get("ms-2").id == "ms-2" else 2
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        assert os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0
        spine.get("ms-3")
    # The parent's connection, of before and after, and the child's.
    assert peer.connections == 2


def _warned(channel):
    channel.read()
    warning = {"code": "unknown_field", "field": "tag", "detail": "this field is not known here and was ignored"}
    channel.reply(201, {"memories": [MEMORY], "warnings": [warning]})


def test_a_warning_of_the_server_points_at_the_line_that_made_the_call():
    with Peer(_warned) as peer, MemorySpine(peer.url) as spine, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        line = sys._getframe().f_lineno + 1
        spine.store_many([{"content": "x", "tag": "y"}])
    found = [w for w in caught if w.category is SpineWarning]
    assert [(w.filename, w.lineno, str(w.message)) for w in found] == [
        (__file__, line, "tag: this field is not known here and was ignored")
    ]


def test_a_warning_of_the_server_points_at_the_line_that_awaited_the_call():
    async def main(url):
        async with AsyncMemorySpine(url) as spine:
            line = sys._getframe().f_lineno + 1
            await spine.store_many([{"content": "x", "tag": "y"}])
            return line

    with Peer(_warned) as peer, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        line = asyncio.run(main(peer.url))
    assert [(w.filename, w.lineno) for w in caught if w.category is SpineWarning] == [(__file__, line)]


def test_a_client_leaves_no_connection_open():
    """With ResourceWarning as an error: what is not closed is told when it is collected."""
    with Peer(answering) as peer:
        code = (
            "import asyncio, gc, sys\n"
            "from memory_spine import AsyncMemorySpine, MemorySpine\n"
            "async def main(url):\n"
            "    async with AsyncMemorySpine(url) as spine:\n"
            "        await spine.get('ms-1')\n"
            "with MemorySpine(sys.argv[1]) as spine:\n"
            "    spine.get('ms-1')\n"
            "asyncio.run(main(sys.argv[1]))\n"
            "gc.collect()\n"
        )

        sdk = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        run = subprocess.run(
            [sys.executable, "-B", "-X", "dev", "-W", "error", "-c", code, peer.url],
            env={**os.environ, "PYTHONPATH": sdk},
            stderr=subprocess.PIPE,
            text=True,
        )
    assert (run.returncode, run.stderr) == (0, "")
