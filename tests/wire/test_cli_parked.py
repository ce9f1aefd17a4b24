"""spine parked: decisions about many at once."""

import json
import urllib.request

import pytest

from cli import Cli, Fake, answer, offline, spine  # noqa: F401
from cli import CONFLICT, FAILED, NOT_FOUND, OK, USAGE
from cli_delivery import nothing_is_left_running, parked, state  # noqa: F401


def done(*numbers, state="queued"):
    return [{"id": f"ho-{n}", "envelope_id": f"env-{n}", "state": state, "to": "coder", "reason": "x", "task": None}
            for n in numbers]


def page(numbers, matched, after=None, refused=(), **more):
    return answer(200, {"action": "redrive", "dry_run": False, "matched": matched, "done": done(*numbers),
                        "refused": list(refused), "next_after": after, **more})


def bodies(fake):
    return [json.loads(request[3]) for request in fake.requests]


# --- What is asked of the server -----------------------------------------------------------------------------


def test_it_goes_on_until_nothing_is_left(tmp_path):
    with Fake(page(range(1, 101), 150, "ho-100"), page(range(101, 151), 50)) as fake:
        result = Cli(tmp_path, SPINE_URL=fake.url, USER="ann").ok(
            "parked", "redrive", "--to", "coder", "--reason", "timeout", "--why", "it is back")
        assert result.err == "(150 of 150 redriven)\n" and result.out.count("\nho-") == 150
        first, second = bodies(fake)
        assert first == {"to": "coder", "reason": "timeout", "by": "ann", "why": "it is back", "limit": 100}
        assert second == {**first, "after": "ho-100"}
        assert {request[1] for request in fake.requests} == {"/v1/parked/redrive"}


@pytest.mark.parametrize("args, path, body", [
    (["redrive", "--all"], "redrive", {"all": True}),
    (["redrive", "--from", "a", "--task", "t-1"], "redrive", {"from": "a", "task": "t-1"}),
    (["redrive", "--since", "2026-01-30", "--before", "2026-01-31T00:00:00Z"], "redrive",
     {"since": "2026-01-30T00:00:00.000Z", "before": "2026-01-31T00:00:00.000Z"}),
    (["reroute", "--to", "coder", "--reroute-to", "tester"], "reroute", {"to": "coder", "reroute_to": "tester"}),
    (["discard", "--reason", "old", "--why", "done by hand"], "discard", {"reason": "old", "why": "done by hand"}),
])
def test_each_filter_is_sent_as_it_is_meant(tmp_path, args, path, body):
    with Fake(page([1], 1)) as fake:
        Cli(tmp_path, SPINE_URL=fake.url, USER="ann").ok("parked", *args)
        assert fake.requests[0][1] == f"/v1/parked/{path}" and bodies(fake) == [{**body, "by": "ann", "limit": 100}]


def test_a_dry_run_shows_what_would_be_done_and_no_more_than_asked(tmp_path):
    with Fake(page(range(1, 21), 58, "ho-20", dry_run=True)) as fake:
        shown = Cli(tmp_path, SPINE_URL=fake.url, USER="ann").ok("parked", "redrive", "--all", "--dry-run")
        assert bodies(fake) == [{"all": True, "by": "ann", "limit": 20, "dry_run": True}]
        assert shown.out.count("\nho-") == 20
        assert shown.err == (
            "(58 would be redriven; nothing was changed)\n(there are more: --limit N shows up to 1000)\n")


def test_a_limit_ends_it_and_says_so(tmp_path):
    with Fake(page(range(1, 101), 200, "ho-100"), page(range(101, 151), 100, "ho-150")) as fake:
        result = Cli(tmp_path, SPINE_URL=fake.url).ok("parked", "redrive", "--all", "--limit", "150")
        assert [body["limit"] for body in bodies(fake)] == [100, 50]
        assert result.err.startswith("(150 of 200 redriven)\n(there are more: --limit was reached")


def test_json_is_one_document_of_all_calls(tmp_path):
    refusal = {"id": "ho-2", "code": "already_sent", "detail": "tester has env-2 already"}
    with Fake(page([1], 3, "ho-1"), page([3], 2, refused=[refusal])) as fake:
        result = Cli(tmp_path, SPINE_URL=fake.url)("parked", "redrive", "--all", "--json")
        assert result.code == CONFLICT and result.err == ""
        assert (result.json["action"], result.json["dry_run"], result.json["matched"]) == ("redrive", False, 3)
        assert [one["id"] for one in result.json["done"]] == ["ho-1", "ho-3"] and result.json["refused"] == [refusal]


def test_what_is_refused_is_told_and_the_rest_is_done(tmp_path):
    refusal = {"id": "ho-2", "code": "already_sent", "detail": "tester has env-2 already"}
    with Fake(page([1, 3], 3, refused=[refusal])) as fake:
        result = Cli(tmp_path, SPINE_URL=fake.url)("parked", "reroute", "--all", "--reroute-to", "tester")
        assert result.code == CONFLICT
        assert result.err == "spine: ho-2: tester has env-2 already\n(2 of 3 rerouted)\n"


def test_what_was_done_before_it_failed_is_told(tmp_path):
    broken = answer(500, {"code": "internal", "detail": "it broke"})
    with Fake(page([1, 2], 9, "ho-2"), broken) as fake:
        result = Cli(tmp_path, SPINE_URL=fake.url)("parked", "redrive", "--all")
        assert result.code == FAILED and "it broke" in result.err and "(2 of 9 redriven)" in result.err


def test_on_a_terminal_it_shows_how_far_it_is(tmp_path):
    with Fake(page(range(1, 101), 150, "ho-100"), page(range(101, 151), 50)) as fake:
        code, shown = Cli(tmp_path, SPINE_URL=fake.url).on_terminal("parked", "redrive", "--all")
        assert code == OK and " 66%  100 handoffs" in shown


def test_an_older_server_is_said_to_be_one(tmp_path):
    with Fake(answer(404, {"code": "not_found", "detail": "there is nothing at /v1/parked/redrive"})) as fake:
        result = Cli(tmp_path, SPINE_URL=fake.url)("parked", "redrive", "--all")
        assert result.code == NOT_FOUND and "cannot redrive many at once" in result.err


@pytest.mark.parametrize("wrong", [
    ["redrive"], ["reroute"], ["discard"], ["redrive", "--why", "x"], ["redrive", "ho-1", "--all"],
    ["redrive", "ho-1", "--to", "coder"], ["discard", "ho-1", "--since", "1h", "--why", "x"], ["discard", "--all"],
    ["discard", "--all", "--reason", "x"], ["reroute", "--all"], ["reroute", "--all", "--to", "coder"],
    ["redrive", "--all", "--since", "soon"], ["list", "--all"], ["show", "ho-1", "--dry-run"],
])
def test_a_wrong_command_line_does_nothing(offline, wrong):
    assert offline("parked", *wrong).code == USAGE


# --- Against a server ----------------------------------------------------------------------------------------


@pytest.fixture
def many(spine):
    with urllib.request.urlopen(spine.environment["SPINE_URL"] + "/openapi.json") as document:
        if "/v1/parked/redrive" not in json.load(document)["paths"]:
            pytest.skip("this server has no decisions about many")
    return spine


def test_many_are_redriven_rerouted_and_discarded(many):
    for _ in range(3):
        parked(many, "coder")
    other = parked(many, "tester")
    dry = many.ok("parked", "redrive", "--to", "coder", "--dry-run", "--json").json
    assert dry["dry_run"] is True and dry["matched"] == 3 and state(many, "ho-1")["state"] == "parked"
    result = many.ok("parked", "redrive", "--to", "coder", "--why", "back")
    assert result.err == "(3 of 3 redriven)\n"
    assert [state(many, f"ho-{n}")["state"] for n in (1, 2, 3)] == ["queued"] * 3
    assert state(many, "ho-1")["events"][-1]["note"] == "back"
    again = many.ok("parked", "redrive", "--to", "coder")
    assert again.out == "" and again.err == "(0 of 0 redriven)\n"
    many.ok("parked", "reroute", "--to", "tester", "--reroute-to", "reviewer")
    assert state(many, other)["to"] == "reviewer"
    last = parked(many, "coder")
    many.ok("parked", "discard", "--reason", "NOT MINE", "--since", "1h", "--why", "done by hand")
    assert state(many, last)["state"] == "discarded"
    assert many.ok("parked", "--json").json["parked"] == []


def test_ids_can_be_tried_without_doing_it(many):
    one = parked(many)
    shown = many.ok("parked", "redrive", one, "--dry-run")
    assert "(1 would be redriven; nothing was changed)" in shown.err and state(many, one)["state"] == "parked"
    many.ok("parked", "reroute", one, "--to", "tester", "--dry-run")
    assert state(many, one)["to"] == "coder"


def test_the_list_has_the_same_filters(many):
    parked(many, "coder")
    parked(many, "tester")
    assert len(many.ok("parked", "--reason", "not MINE", "--since", "1h", "--json").json["parked"]) == 2
    assert many.ok("parked", "--before", "1h", "--json").json["parked"] == []
    task = many.ok("parked", "--to", "tester", "--json").json["parked"][0]["task"]
    assert [one["to"] for one in many.ok("parked", "--task", task, "--json").json["parked"]] == ["tester"]


def test_as_before_an_id_takes_its_reason_by_either_name(spine):
    first, second = parked(spine), parked(spine)
    spine.ok("parked", "redrive", first, "--reason", "one")
    spine.ok("parked", "reroute", second, "--to", "tester", "--why", "two")
    assert [state(spine, one)["events"][-1]["note"] for one in (first, second)] == ["one", "two"]
