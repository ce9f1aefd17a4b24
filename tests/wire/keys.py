"""A server that needs keys, for tests: the first key, and as many others as they want."""

import http.client
import json

from api import Answer
from database import connect as open_database
from server import Server

TIMEOUT_S = 60


def ask(address, method, path, body=None, key=None, headers=None, reads=True, context=None):
    """One request on a connection of its own. reads=False: only the head of the answer is waited for, as of streams.
    context: what it goes over TLS with."""
    connection = http.client.HTTPConnection(*address, timeout=TIMEOUT_S)
    if context:
        connection = http.client.HTTPSConnection(*address, timeout=TIMEOUT_S, context=context)
    sent = {} if body is None else {"Content-Type": "application/json"}
    if key:
        sent["Authorization"] = f"Bearer {key}"
    sent.update(headers or {})
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    try:
        connection.request(method, path, data, {name: value for name, value in sent.items() if value is not None})
        response = connection.getresponse()
        return Answer(response.status, response.headers, response.read() if reads else b"")
    finally:
        connection.close()


class Keyed:
    """A server in keys mode. `root` is the first key."""

    def __init__(self, data, *options):
        self.server = Server(data, *options).wait_until_ready()
        self.root = self.make(None, name="root")["key"]

    @property
    def address(self):
        return self.server.address

    def ask(self, method, path, body=None, key=None, headers=None, reads=True):
        return ask(self.address, method, path, body, key, headers, reads)

    def make(self, by, **fields):
        """A new key, as the server answers it; fields are those of the request."""
        answer = self.ask("POST", "/v1/keys", fields, by)
        assert answer.status == 201, answer
        return answer.json

    def key(self, **fields):
        """The text of a new key."""
        return self.make(self.root, **{"name": "a key", **fields})["key"]

    def bound_admin(self, **fields):
        """The key of an agent that is admin, as none is made any more: the store has some of before. Starts the server anew."""
        made = self.make(self.root, **{"name": "of before", **fields})
        assert self.server.terminate() == 0
        with open_database(self.server.data / "spine.db") as database:
            database.execute("UPDATE access_key SET scopes = 8 WHERE id = ?", [int(made["id"].removeprefix("key-"))])
        self.server = Server(self.server.data).wait_until_ready()
        return made["key"]

    def refused(self, status, code, *args, field=None, **more):
        answer = self.ask(*args, **more)
        assert answer.status == status and answer.json["code"] == code, answer
        if field:
            assert answer.json["field"] == field, answer
        return answer.json
