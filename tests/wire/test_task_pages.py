"""Tasks of many envelopes: read page by page, nothing left out silently."""

HOPS = 7


def hand_over(api, target, **fields):
    body = {"target_agent": target, "task_summary": f"for {target}", **fields}
    return api.ok("POST", "/v1/envelopes", body, status=201)


def read_pages(api, path, items, page_size):
    pages, token = [], ""
    while token is not None:
        page = api.ok("GET", f"{path}?page_size={page_size}" + (f"&page_token={token}" if token else ""))
        assert 1 <= len(page[items]) <= page_size
        pages.append(page)
        token = page["next_page_token"]
    return pages


def make_chain(api):
    """Seven hops, the constraint `tone` waived at the last one. Returns the ids."""
    first = {"task": "long", "intent": "the intent", "constraints": {"region": "eu", "tone": "dry"}}
    ids = [hand_over(api, "agent-1", **first)["id"]]
    for hop in range(2, HOPS + 1):
        waive = [{"key": "tone", "reason": "asked for"}] if hop == HOPS else []
        ids.append(hand_over(api, f"agent-{hop}", parent=ids[-1], constraints={f"k{hop}": hop}, waive=waive)["id"])
    return ids


def test_the_pages_of_a_task_hold_every_envelope_once(api):
    ids = make_chain(api)
    hand_over(api, "somebody", task="another")
    for size in (1, 2, 3, HOPS, HOPS + 1):
        pages = read_pages(api, "/v1/tasks/long", "envelopes", size)
        assert [entry["envelope"] for page in pages for entry in page["envelopes"]] == ids
        assert {page["intent"] for page in pages} == {"the intent"}
    assert api.ok("GET", "/v1/tasks/long")["next_page_token"] is None


def test_more_than_a_page_of_envelopes_is_said_and_not_cut(api):
    for number in range(1001):
        hand_over(api, f"agent-{number}", task="wide", include_recent=0)
    first = api.ok("GET", "/v1/tasks/wide")
    assert len(first["envelopes"]) == 1000 and first["next_page_token"]
    rest = api.ok("GET", f"/v1/tasks/wide?page_token={first['next_page_token']}")
    assert [entry["to"] for entry in rest["envelopes"]] == ["agent-1000"] and rest["next_page_token"] is None
    assert len(api.ok("GET", "/v1/tasks/wide/fidelity?page_size=1000")["hops"]) == 1000
    assert api.ok("GET", "/v1/tasks/wide/blame?key=no-such")["verdict"] == "never there"


def test_fidelity_in_pages_is_what_it_is_in_one(api):
    make_chain(api)
    whole = api.ok("GET", "/v1/tasks/long/fidelity")
    assert len(whole["hops"]) == HOPS and whole["intent_and_constraints"] == 1
    for size in (1, 3):
        pages = read_pages(api, "/v1/tasks/long/fidelity", "hops", size)
        assert [hop for page in pages for hop in page["hops"]] == whole["hops"]
        assert {page["score"] for page in pages} == {whole["score"]}


def test_blame_looks_through_a_long_task(api):
    ids = [hand_over(api, "agent-1", task="t", max_hops=64)["id"]]
    for number in range(210):  # more than are read at a time; they are roots, and know nothing of what is asked for
        hand_over(api, f"root-{number}", task="t", include_recent=0)
    ids.append(hand_over(api, "agent-2", parent=ids[0], constraints={"late": 1})["id"])
    ids.append(hand_over(api, "agent-3", parent=ids[1], waive=[{"key": "late", "reason": "done"}])["id"])
    blame = api.ok("GET", "/v1/tasks/t/blame?key=late")
    assert blame["verdict"] == "lost" and blame["introduced"]["envelope"] == ids[1]
    lost = blame["lost"]
    assert (lost["envelope"], lost["fate"], lost["reason"]) == (ids[2], "waived", "done")


def test_what_came_back_was_not_lost(api):
    memories = [{"content": f"finding {number} " * 20} for number in range(1, 61)]
    api.ok("POST", "/v1/memories/batch", {"memories": memories}, status=201)
    hand_over(api, "a", task="t", refs=["ms-1 through ms-60"], include_recent=0, constraints={"max_tokens": 9000})
    small = hand_over(api, "b", parent="env-1", state="small", include_recent=0, constraints={"max_tokens": 900})
    gone = next(entry["id"] for entry in small["budget"]["trimmed"] if entry["form"] == "none")
    blame = api.ok("GET", f"/v1/tasks/t/blame?key={gone}")
    assert blame["verdict"] == "lost"
    lost = blame["lost"]
    assert (lost["envelope"], lost["fate"], lost["reason"]) == ("env-2", "dropped", "budget")
    hand_over(api, "c", parent="env-2", state="large", include_recent=0, constraints={"max_tokens": 9000})
    blame = api.ok("GET", f"/v1/tasks/t/blame?key={gone}")
    assert blame["verdict"] == "still there" and blame["left_out"] == lost and "lost" not in blame
    # Another hop from the same parent, which ends without it.
    again = hand_over(api, "d", parent="env-2", state="other", include_recent=0, constraints={"max_tokens": 900})
    assert gone in [entry["id"] for entry in again["budget"]["trimmed"] if entry["form"] == "none"]
    assert api.ok("GET", f"/v1/tasks/t/blame?key={gone}")["lost"] == lost


def test_a_decision_that_was_made_is_not_lost(api):
    hand_over(api, "a", task="t", open_decisions=["which queue?"])
    hand_over(api, "b", parent="env-1", resolved_decisions=[{"decision": "which queue?", "outcome": "none"}])
    blame = api.ok("GET", "/v1/tasks/t/blame?key=which%20queue%3F")
    assert blame["verdict"] == "resolved" and blame["resolved"]["envelope"] == "env-2" and "lost" not in blame


def test_a_task_that_is_not_there_has_no_pages(api):
    for path in ("/v1/tasks/none", "/v1/tasks/none/fidelity", "/v1/tasks/none/blame?key=x"):
        api.refused(404, "task_not_found", "GET", path)
    make_chain(api)
    api.refused(404, "task_not_found", "GET", "/v1/tasks/none")


def test_the_list_of_tasks_says_what_each_is_about(api):
    make_chain(api)
    hand_over(api, "a", task="plain", task_summary="ä" * 201)
    hand_over(api, "b", task="plain", parent=api.ok("GET", "/v1/tasks/plain")["envelopes"][0]["envelope"])
    hand_over(api, "a", task="whole", task_summary="ä" * 200)
    hand_over(api, "a", task="cut", task_summary="ä" * 201)
    later = hand_over(api, "a", task="later", task_summary="the first")
    hand_over(api, "b", parent=later["id"], intent="said later")
    about = {task["id"]: (task["intent"], task["summary"]) for task in api.ok("GET", "/v1/tasks")["tasks"]}
    assert about == {"long": ("the intent", "for agent-7"), "plain": (None, "for b"), "whole": (None, "ä" * 200), "cut": (None, "ä" * 200 + "…"), "later": ("said later", "for b")}
    assert len(api.ok("GET", "/v1/tasks?page_size=2")["tasks"]) == 2


def test_a_page_of_a_task_ends_earlier_where_its_envelopes_are_large(api):
    ids, size = [], 1_300_000
    for i in range(6):
        parent = {"parent": ids[-1]} if ids else {"constraints": {"text": "x" * size, "max_tokens": 1_000_000}}
        ids.append(hand_over(api, f"agent-{i}", **{"constraints": {"max_tokens": 1_000_000}, **parent})["id"])
    task = api.ok("GET", "/v1/tasks")["tasks"][0]["id"]
    for path, items, key in (("", "envelopes", "envelope"), ("/fidelity", "hops", "envelope"), ("/trace", "envelopes", "id")):
        pages = read_pages(api, f"/v1/tasks/{task}{path}", items, 100)
        assert [entry[key] for page in pages for entry in page[items]] == ids and len(pages) == 2


def test_large_envelopes_are_not_read_for_a_page_of_tasks(api):
    for i in range(6):
        hand_over(api, "a", task=f"large-{i}", constraints={"text": "x" * 1_500_000, "max_tokens": 1_000_000})
    pages, token = [], ""
    while token is not None:
        page = api.ok("GET", "/v1/tasks?page_size=100" + (f"&page_token={token}" if token else ""))
        pages.append([task["id"] for task in page["tasks"]])
        token = page["next_page_token"]
    assert [len(page) for page in pages] == [6] and sum(pages, []) == [f"large-{i}" for i in reversed(range(6))]
