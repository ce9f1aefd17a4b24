"""Lists that look through a history: a read goes through a bounded part of it, and the pages lose nothing."""

import pytest
from delivery import Desk

SCANNED = 20_000  # events that one page goes through (engine/watch/event_list.c, engine/board/task_list.c)
BATCH = 1_000


@pytest.fixture(scope="module")
def long(server):
    desk = Desk(server.address, "long")
    first = desk.send("early")
    many = SCANNED // 2 + 500
    for number in range(0, many, BATCH):
        batch = [{"content": f"{number + n}", "agent": "crowd"} for n in range(min(BATCH, many - number))]
        desk.ok("POST", "/v1/memories/batch", {"memories": batch}, status=201)
    # An event for each memory that goes into quarantine, and for each that is released.
    for path in ("/v1/quarantine", "/v1/quarantine/release"):
        for _ in range(2):
            desk.ok("POST", path, {"agent": "crowd", "limit": 10_000, "why": "a test", "dry_run": False})
    last = desk.send("late")
    yield desk, first, last
    desk.close()


def pages(desk, path, name):
    """All items, and how many pages there were."""
    found, token, count = [], None, 0
    while True:
        page = desk.ok("GET", path + (f"&page_token={token}" if token else ""))
        found += page[name]
        token, count = page["next_page_token"], count + 1
        if not token:
            return found, count


def test_events_of_one_kind_are_found_behind_a_long_stretch_of_others(long):
    desk, first, last = long
    after, found, reads = 0, [], 0
    while True:
        page = desk.ok("GET", f"/v1/events?after={after}&types=handoff.queued&limit=10", headers={"Accept": "application/json"})
        found += [event["subject"] for event in page["events"]]
        reads += 1
        if not page["has_more"]:
            break
        assert page["next"] > after
        after = page["next"]
    assert found == [first["id"], last["id"]] and reads > 1


@pytest.mark.parametrize("order", ["oldest", "newest"])
def test_the_audit_is_read_both_ways_through_a_long_stretch_of_others(long, order):
    desk, first, last = long
    entries, count = pages(desk, f"/v1/audit?action=handoff.send&page_size=10&order={order}", "entries")
    expected = [first["id"], last["id"]]
    assert [entry["object"] for entry in entries] == (expected if order == "oldest" else expected[::-1]) and count > 1


def test_tasks_are_listed_though_much_else_happened_since(long):
    desk, first, last = long
    tasks, count = pages(desk, "/v1/tasks?page_size=10", "tasks")
    assert [task["handoff"] for task in tasks] == [last["id"], first["id"]] and count > 1
