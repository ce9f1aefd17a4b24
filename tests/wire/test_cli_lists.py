"""Lists that do not show all say so, also in a pipe, and name the option that shows more."""

import re

import pytest

from cli import Cli, Fake, answer, spine, stored  # noqa: F401
from cli_delivery import nothing_is_left_running, parked, sent  # noqa: F401

MORE = r"\(there are more: --limit N shows up to 1000, --page-token (\S+) goes on here\)\n"


def prepare(spine):
    for number in range(2):
        stored(spine, f"memory {number}")
        sent(spine, f"agent-{number}")
        spine.ok("agent", f"agent-{number}", "--max-tokens", "4000")
        spine.ok("channels", "put", f"channel-{number}")
        spine.ok("routes", "put", f"route-{number}", "--to", "coder")
        parked(spine, f"absent-{number}")
    spine.ok("update", "ms-1", "memory 0, changed")


@pytest.mark.parametrize(
    "command, list_name",
    [
        ("list", "memories"), ("search memory", "memories"), ("versions ms-1", "versions"), ("tasks", "tasks"),
        ("agents", "agents"), ("handoffs", "handoffs"), ("queues", "queues"), ("parked", "parked"), ("channels", "channels"),
        ("routes", "routes"), ("audit", "entries"), ("spaces", "spaces"),
    ],
)
def test_a_list_that_is_cut_says_so_in_a_pipe(spine, command, list_name):
    prepare(spine)
    words = command.split()
    everything = spine.ok(*words, "--limit", "1000", "--json").json
    short = spine.ok(*words, "--limit", "1", "--json")
    assert len(everything[list_name]) > 1 and len(short.json[list_name]) == 1 and short.err == ""
    shown = spine.ok(*words, "--limit", "1")
    token = re.fullmatch(MORE, shown.err)[1]
    assert "there are more" not in shown.out
    second = spine.ok(*words, "--limit", "1", "--page-token", token, "--json").json[list_name]
    assert second != short.json[list_name] and len(second) == 1


def test_a_list_that_shows_all_says_nothing(spine):
    stored(spine, "the only one")
    assert spine.ok("list").err == "" and spine.ok("list", "--limit", "1").err == ""


def test_with_the_largest_limit_only_the_token_goes_on(spine):
    lines = "".join('{"content":"x%d"}\n' % n for n in range(1001))
    spine.ok("import", "-", stdin=lines)
    said = spine.ok("list", "--limit", "1000").err
    assert re.fullmatch(r"\(there are more: --page-token \S+ goes on here\)\n", said), said


def test_alerts_are_read_in_pages_too(tmp_path):
    page = {"alerts": [], "rules": [], "next_page_token": "abc"}
    with Fake(answer(200, page)) as fake:
        shown = Cli(tmp_path, SPINE_URL=fake.url).ok("alerts", "--limit", "7")
        assert re.fullmatch(MORE, shown.err)[1] == "abc"
        assert "page_size=7" in fake.requests[0][1]
