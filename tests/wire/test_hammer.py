"""Sixty-four clients at once, doing everything to shared spaces; then the books must balance."""

import random
import threading

from api import Api
from server import check_store

CLIENTS = 64
ROUNDS = 25
SPACES = 4


class Client(threading.Thread):
    """Stores, changes and forgets memories of its own, and keeps a book of what was acknowledged."""

    def __init__(self, address, number):
        super().__init__()
        self.number = number
        self.api = Api(address, f"hammer-{number % SPACES}")
        self.rng = random.Random(number)
        self.book = {}  # id -> (content, version), None: forgotten
        self.error = None

    def run(self):
        try:
            for count in range(ROUNDS):
                self.once(count)
        except BaseException as error:  # noqa: BLE001: reported by the test
            self.error = error

    def live(self):
        return [memory_id for memory_id, entry in self.book.items() if entry]

    def once(self, count):
        api, rng = self.api, self.rng
        kind = rng.randrange(10)
        content = f"client {self.number} says {count} of gateway and retry"
        if kind < 4 or not self.live():
            memory = api.ok("POST", "/v1/memories", {"content": content, "tags": [f"c{self.number}"]},
                            {"Idempotency-Key": f"{self.number}-{count}"}, 201)
            assert memory["id"] not in self.book
            self.book[memory["id"]] = (content, 1)
            assert memory["id"] in api.ids(f"tag=c{self.number}&page_size=1000"), "not found by the next search"
        elif kind == 4:
            batch = [{"content": f"{content} {part}", "tags": [f"c{self.number}"]} for part in range(3)]
            for memory in api.ok("POST", "/v1/memories/batch", {"memories": batch}, status=201)["memories"]:
                self.book[memory["id"]] = (memory["content"], 1)
        elif kind == 5:
            chosen = rng.choice(self.live())
            version = self.book[chosen][1]
            memory = api.patch(chosen, {"If-Match": f'"{chosen}@{version}"'}, content=content)
            assert memory["version"] == version + 1
            self.book[chosen] = (content, version + 1)
        elif kind == 6:
            chosen = rng.choice(self.live())
            api.forget(chosen)
            self.book[chosen] = None
            assert chosen not in api.ids(f"tag=c{self.number}&page_size=1000&state=any"), "still found"
        elif kind == 7:
            chosen = rng.choice(self.live())
            assert api.ok("POST",
                          f"/v1/memories/{chosen}/{rng.choice(['pin', 'unpin'])}")["version"] == self.book[chosen][1]
        elif kind == 8:
            result = api.list("query=gateway+retry&explain=true")["memories"]
            scores = [memory["score"] for memory in result]
            assert scores == sorted(scores, reverse=True)
        else:
            wanted = list(self.book)
            answer = api.ok("POST", "/v1/memories/fetch", {"ids": wanted})
            assert [memory["id"] for memory in answer["memories"]] == [name for name in wanted if self.book[name]]
            assert {entry["id"] for entry in answer["missing"]} == {name for name in wanted if not self.book[name]}


def test_sixty_four_clients_at_once_and_the_books_balance(start):
    server = start().wait_until_ready()
    clients = [Client(server.address, number) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    assert server.process.poll() is None, server.log_tail()
    for client in clients:
        if client.error:
            raise client.error
    for number in range(SPACES):
        api = Api(server.address, f"hammer-{number}")
        mine = [client for client in clients if client.number % SPACES == number]
        book = {memory_id: entry for client in mine for memory_id, entry in client.book.items()}
        assert len(book) == sum(len(client.book) for client in mine), "an id was given to two clients"
        live = {memory_id for memory_id, entry in book.items() if entry}
        assert api.count() == len(live)
        assert sorted(book, key=lambda memory_id: int(memory_id[3:])) == [f"ms-{i}" for i in range(1, len(book) + 1)]
        listed, token = set(), ""
        while token is not None:
            page = api.list("page_size=500" + (f"&page_token={token}" if token else ""))
            listed |= {memory["id"] for memory in page["memories"]}
            token = page["next_page_token"]
        assert listed == live
        for memory_id, entry in book.items():
            memory = api.get(memory_id)
            assert (memory["state"] == "forgotten") is (entry is None)
            if entry:
                assert (memory["content"], memory["version"]) == entry
        api.close()
    status = Api(server.address, "hammer-0").ok("GET", "/v1/status")
    assert status["writer"]["commits"] <= status["writer"]["writes"]
    assert server.terminate() == 0, server.log_tail()
    check_store(server.data)
