"""A byte of the store changes on the disk, or a part of it is cut off: it is found, and nothing else is ever shown for what
was stored. SPINE_DAMAGE_FLIPS says how many single bytes are changed (60; the long form is 2000), SPINE_DAMAGE_SEED where."""

import json
import os
import random
import shutil
import struct
import subprocess

import pytest

from api import Api, wait_until
from delivery import Desk
from server import Server, StartError, binary
from stores import needs_embedded_store

FLIPS = int(os.environ.get("SPINE_DAMAGE_FLIPS", "60"))
SEED = int(os.environ.get("SPINE_DAMAGE_SEED", "1"))
PAGE, FRAME, LOG_HEADER = 4096, 4120, 32
pytestmark = needs_embedded_store("it is about damaged files")

DATABASE, LOG, NOTE = "spine.db", "spine.db-wal", "spine.db-extent"
LONG = {"ack_timeout_s": 3600, "queue_timeout_s": 86400}


def fill(desk, number):
    """Memories with long texts, envelopes, and handoffs in every state."""
    ids = [desk.store(f"fact {number}.{i}: the gateway answers {i}", tags=["gateway"], pinned=i % 3 == 0)["id"]
           for i in range(12)]
    ids.append(desk.store("A long one. " + "of many words and pages " * 900)["id"])
    desk.patch(ids[0], content=f"fact {number}.0, told anew")
    desk.store("the newer one", supersedes=ids[1])
    desk.forget(ids[2])
    handoffs = [desk.deliver(desk.pack(f"w{number}-{i}", f"job {i}", include_recent=3), 202, max_attempts=1, **LONG).json
                for i in range(6)]
    done = desk.take(f"w{number}-0")
    desk.settle("ack", done)
    desk.settle("complete", done, result={"text": "it is done " * 50})
    acked = desk.take(f"w{number}-1")
    desk.settle("ack", acked)
    desk.take(f"w{number}-2")
    failed = desk.take(f"w{number}-3")
    desk.settle("nack", failed, reason="it cannot be done")
    desk.call("POST", f"/v1/handoffs/{handoffs[4]['id']}/cancel", {})
    desk.ok("PUT", f"/v1/channels/news-{number}", {})
    desk.ok("PUT", f"/v1/channels/news-{number}/subscribers/w{number}-5", {})


def questions(api):
    """What is asked, before and after; answers that do not change with time."""
    numbers = {kind: [one["id"] for one in api.ok("GET", f"/v1/{kind}?page_size=100")[kind]]
               for kind in ("memories", "handoffs")}
    envelopes = sorted({api.ok("GET", f"/v1/handoffs/{one}")["envelope_id"] for one in numbers["handoffs"]})
    paths = ["/v1/memories?page_size=100", "/v1/memories?query=gateway&page_size=100", "/v1/handoffs?page_size=100", "/v1/channels", "/v1/parked",
             "/v1/routes"]
    paths += [f"/v1/{kind}/{one}" for kind in numbers for one in numbers[kind]]
    paths += [f"/v1/envelopes/{one}" for one in envelopes]
    after = 0
    while True:
        page = api.ok("GET", f"/v1/events?after={after}&limit=25&types=memory.,handoff.,envelope.", headers={"Accept": "application/json"})
        paths.append(f"/v1/events?after={after}&limit=25&types=memory.,handoff.,envelope.")
        if not page["has_more"]:
            return paths
        after = page["next"]


def ask(api, path):
    answer = api.call("GET", path, headers={"Accept": "application/json"})
    told = without_ages(answer.json)
    if "query=" in path and answer.status == 200:    # newer ones rank higher, and all of them grow older
        told["memories"].sort(key=lambda memory: memory["id"])
    return answer.status, told


def without_ages(value):
    """How long something has waited is another number each time."""
    if isinstance(value, dict):
        return {name: without_ages(one) for name, one in value.items()
                if name not in ("age_s", "waited_s", "waited_ms", "idle_s", "instance", "relevance", "score", "next")}
    return [without_ages(one) for one in value] if isinstance(value, list) else value


class Store:
    """A killed server's files: some of it in the database, some only in the log; and what it answered."""

    def __init__(self, root):
        self.root, self.data = root, root / "good"
        server = Server(self.data).wait_until_ready()
        fill(Desk(server.address, "default"), 1)
        assert server.terminate() == 0
        server = Server(self.data).wait_until_ready()
        desk = Desk(server.address, "default")
        fill(desk, 2)
        server.kill()
        copy = self.copy()
        server = Server(copy).wait_until_ready()
        api = Api(server.address)
        self.answers = {path: ask(api, path) for path in questions(api)}
        server.discard()
        self.in_log = self.pages_of_log()

    def copy(self):
        target = self.root / "copy"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        for name in (DATABASE, LOG, NOTE):
            shutil.copyfile(self.data / name, target / name)
        return target

    def pages_of_log(self):
        data = (self.data / LOG).read_bytes()
        return {struct.unpack_from(">I", data, at)[0] for at in range(LOG_HEADER, len(data), FRAME)}

    def is_needed(self, name, at):
        """A page that is in the log, too, is read from there, and overwritten by the next checkpoint."""
        return name != DATABASE or at // PAGE + 1 not in self.in_log


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return Store(tmp_path_factory.mktemp("damage"))


def check(data):
    return subprocess.run([str(binary()), "check", "--data", str(data)], capture_output=True, text=True)


def assert_nothing_else_is_shown(store, data, what):
    """The server does not start, or answers as before, or says that it cannot. Returns how many answers were refused."""
    server, refused = Server(data), 0
    try:
        try:
            server.wait_until_ready()
        except StartError:
            assert server.process.returncode == 1, what
            return len(store.answers)
        api = Api(server.address)
        for path, good in store.answers.items():
            status, answer = ask(api, path)
            if status == 503:
                assert answer["code"] in ("store_damaged", "store_failed"), (what, path, answer)
                refused += 1
            else:
                assert (status, answer) == good, (what, path)
        api.close()
    finally:
        server.discard()
    return refused


def flip(data, name, at, bits):
    with open(data / name, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ bits]))


def places(store):
    """Of each file as many as it has bytes, and of each kind of place some: headers, ends of pages, heads of frames."""
    chance = random.Random(SEED)
    sizes = {name: (store.data / name).stat().st_size for name in (DATABASE, LOG, NOTE)}
    fixed = [(DATABASE, at) for at in (16, 17, 18, 19, 20, 21, 28, 31, 44, 52, 60, 63, 64, 68, 92, 96, PAGE - 1, PAGE, 2 * PAGE - 8)]
    fixed += [(LOG, at) for at in (0, 3, 8, 12, 16, 24, 31, 32, 36, 40, 48, 55, 56, LOG_HEADER + FRAME + 2, sizes[LOG] - 1,
                                   sizes[LOG] - FRAME)]
    fixed += [(NOTE, at) for at in (0, 8, 16, 24, 31)]
    for name, at in fixed if FLIPS >= 200 else fixed[::3]:
        yield name, at, 1 << chance.randrange(8)
    for _ in range(FLIPS):
        name = chance.choices([DATABASE, LOG], [sizes[DATABASE], sizes[LOG]])[0]
        yield name, chance.randrange(sizes[name]), chance.choice([1 << chance.randrange(8), chance.randrange(1, 256)])


def test_the_store_as_it_is_passes(store):
    data = store.copy()
    checked = check(data)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert assert_nothing_else_is_shown(store, data, "nothing") == 0


def test_a_changed_byte_is_found_by_check_and_never_shown(store):
    refused = 0
    for name, at, bits in places(store):
        data, what = store.copy(), f"{name} at {at} ^ {bits:#x}, page {at // PAGE + 1}"
        flip(data, name, at, bits)
        checked = check(data)
        if store.is_needed(name, at):
            assert checked.returncode in (1, 6), (what, checked.stdout, checked.stderr)
        refused += assert_nothing_else_is_shown(store, data, what) > 0
    assert refused > FLIPS / 4


def test_what_is_cut_off_is_found_by_check_and_never_shown(store):
    chance = random.Random(SEED)
    for name in (DATABASE, LOG):
        size = (store.data / name).stat().st_size
        cuts = {0, PAGE, size - 1, size - PAGE, size // PAGE // 2 * PAGE, LOG_HEADER + FRAME, size - FRAME}
        cuts |= {chance.randrange(size) for _ in range(max(2, FLIPS // 40))}
        for cut in sorted(cuts):
            data = store.copy()
            os.truncate(data / name, cut)
            checked = check(data)
            assert checked.returncode != 0, (name, cut, checked.stdout)
            assert_nothing_else_is_shown(store, data, f"{name} cut to {cut}")
    data = store.copy()
    (data / LOG).unlink()
    assert check(data).returncode != 0
    assert_nothing_else_is_shown(store, data, "the log is gone")


def test_pages_that_changed_places_are_found(store):
    data = store.copy()
    free = [page for page in range(3, (store.data / DATABASE).stat().st_size // PAGE) if page not in store.in_log]
    assert len(free) >= 2
    with open(data / DATABASE, "r+b") as file:
        both = []
        for page in free[-2:]:
            file.seek((page - 1) * PAGE)
            both.append(file.read(PAGE))
        assert both[0] != both[1]
        for page, content in zip(free[-2:], reversed(both)):
            file.seek((page - 1) * PAGE)
            file.write(content)
    checked = check(data)
    assert checked.returncode == 6 and checked.stdout.count("does not match its checksum") == 2, checked.stdout
    assert_nothing_else_is_shown(store, data, "two pages in each other's place")


def test_a_damaged_page_is_told_once_named_by_check_and_the_rest_goes_on(tmp_path):
    """A page with a memory's text is damaged under a running server."""
    server = Server(tmp_path / "data").wait_until_ready()
    api = Api(server.address)
    ids = [api.store(f"memory {i} " + "x" * 3000)["id"] for i in range(40)]
    assert server.terminate() == 0
    with open(tmp_path / "data" / DATABASE, "r+b") as file:
        at = file.read().index(b"memory 7 ")
        file.seek(at + 2000)
        file.write(b"y")
    page = at // PAGE + 1
    checked = check(tmp_path / "data")
    assert checked.returncode == 6
    assert f"page {page} of the database file does not match its checksum; it belongs to the table memory_version" in checked.stdout
    assert "ms-8@1 cannot be read" in checked.stdout
    server = Server(tmp_path / "data").wait_until_ready()
    api = Api(server.address)
    for _ in range(3):
        api.refused(503, "store_damaged", "GET", f"/v1/memories/{ids[7]}")
    assert api.get(ids[20])["content"].startswith("memory 20 ")
    # What does not need the page is written; what does is refused, and changes nothing.
    new = api.store("another one")["id"]
    assert api.get(new)["content"] == "another one"
    api.refused(503, "store_damaged", "PATCH", f"/v1/memories/{ids[7]}", {"content": "overwritten"})
    ready = api.call("GET", "/readyz")
    assert (ready.status, ready.json["reason"]) == (503, "store_damaged")
    wait_until(lambda: [a for a in api.ok("GET", "/v1/alerts")["alerts"] if a["name"] == "store_damaged"], "an alert fires")
    lines = [json.loads(line) for line in server.log.read_text().splitlines()]
    told = [line for line in lines if "where" in line]
    assert len(told) == 1 and told[0]["where"] == f"page {page} of the database file does not match its checksum"
    assert server.terminate() == 0


def test_damage_that_the_building_of_the_index_meets_is_told_as_damage(tmp_path):
    """Nobody has read the memory itself: the first search does."""
    server = Server(tmp_path / "data").wait_until_ready()
    api = Api(server.address)
    for i in range(40):
        api.store(f"memory {i} " + "x" * 3000)
    assert server.terminate() == 0
    with open(tmp_path / "data" / DATABASE, "r+b") as file:
        file.seek(file.read().index(b"memory 7 ") + 2000)
        file.write(b"y")
    server = Server(tmp_path / "data").wait_until_ready()
    api = Api(server.address)
    api.refused(503, "store_damaged", "GET", "/v1/memories?query=memory")
    ready = api.call("GET", "/readyz")
    assert (ready.status, ready.json["reason"]) == (503, "store_damaged")
    wait_until(lambda: [a for a in api.ok("GET", "/v1/alerts")["alerts"] if a["name"] == "store_damaged"], "an alert fires")
    assert server.terminate() == 0


def test_a_backup_of_a_damaged_store_is_refused(store):
    data = store.copy()
    page = next(p for p in range(3, 1000) if p not in store.in_log)
    flip(data, DATABASE, (page - 1) * PAGE + 77, 4)
    done = subprocess.run([str(binary()), "backup", str(store.root / "backup.db"), "--data", str(data)], capture_output=True, text=True)
    if done.returncode == 0:    # the page was free, and is not copied
        assert check(store.root / "backup.db").returncode != 0
    else:
        assert not (store.root / "backup.db").exists()
        assert "does not match its checksum" in done.stderr
