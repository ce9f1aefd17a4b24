"""GET /v1/spaces and spine spaces: which spaces there are, and how much is in each."""

import json
import subprocess

from api import Api, wait_until
from delivery import Desk
from server import binary, clean_environment


def listed(api, query=""):
    return api.ok("GET", f"/v1/spaces{query}")


def test_spaces_are_listed_as_they_were_made_with_what_they_hold(start):
    server = start().wait_until_ready()
    first = Api(server.address, "zebra")
    assert listed(first)["spaces"] == [], "asking for a list makes no space"
    first.store("one")
    first.store("two")
    first.ok("DELETE", "/v1/memories/ms-1")
    desk = Desk(server.address, "alpha")
    desk.send("worker")
    desk.send("worker", max_attempts=1)
    desk.settle("nack", desk.take("worker"), reason="no")
    desk.settle("nack", desk.take("worker"), reason="no", delay_s=0)
    entries = {entry["name"]: entry for entry in listed(first)["spaces"]}
    assert list(entries) == ["zebra", "alpha"]
    assert [entries["zebra"][name] for name in ("memories", "handoffs_open", "parked")] == [1, 0, 0]
    assert [entries["alpha"][name] for name in ("memories", "handoffs_open", "parked")] == [0, 1, 1]
    assert entries["zebra"]["created_at"] <= entries["alpha"]["created_at"]
    assert listed(desk) == listed(first), "it is the same whoever asks"
    desk.take("worker")
    assert listed(first)["spaces"][1]["handoffs_open"] == 1, "what is leased is open"
    first.close()
    desk.close()


def test_the_list_comes_in_pages(start):
    server = start().wait_until_ready()
    names = [f"space-{number}" for number in range(7)]
    for name in names:
        api = Api(server.address, name)
        api.store("something")
        api.close()
    api = Api(server.address)
    found, token = [], ""
    while token is not None:
        page = listed(api, f"?page_size=3{f'&page_token={token}' if token else ''}")
        assert len(page["spaces"]) <= 3
        found += [entry["name"] for entry in page["spaces"]]
        token = page["next_page_token"]
    assert found == names
    api.refused(422, "invalid_field", "GET", "/v1/spaces?page_size=0", field="page_size")
    api.close()


def test_spine_spaces_lists_them(start):
    server = start().wait_until_ready()
    for name in ("default", "payments"):
        desk = Desk(server.address, name)
        desk.send("worker")
        desk.close()

    def spine(*arguments):
        return subprocess.run([str(binary()), "spaces", *arguments, "--url", server.url], capture_output=True,
                              text=True, env=clean_environment(COLUMNS="100"), timeout=60, check=True).stdout

    lines = spine().splitlines()
    assert lines[0].split() == ["SPACE", "AGE", "MEMORIES", "OPEN", "HANDOFFS"]
    assert [line.split()[0] for line in lines[1:]] == ["default", "payments"]
    assert all(line.split()[-2:] == ["0", "1"] for line in lines[1:])
    assert [entry["name"] for entry in json.loads(spine("--json"))["spaces"]] == ["default", "payments"]
    wait_until(lambda: len(json.loads(spine("--limit", "1", "--json"))["spaces"]) == 1, "a page")
