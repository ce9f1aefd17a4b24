"""Memories that cannot be trusted: kept from everybody, given back, forgotten for good."""

from datetime import datetime, timedelta, timezone

import pytest

from memory_spine import ValidationError


def done(answer):
    return [memory["id"] for memory in answer["memories"]]


def test_what_an_agent_wrote_is_kept_from_everybody_given_back_and_forgotten(spine):
    bad, good = spine.store("odd", agent="scraper"), spine.store("fine", agent="editor")
    assert done(spine.quarantine(agent="scraper", dry_run=True)) == [bad.id]
    assert [memory.id for memory in spine.fetch([bad.id, good.id]).memories] == [bad.id, good.id]
    assert done(spine.quarantine(agent="scraper", why="odd", by="ada")) == [bad.id]
    found = spine.fetch([bad.id, good.id])
    assert [memory.id for memory in found.memories] == [good.id]
    assert [(one.id, one.reason) for one in found.missing] == [(bad.id, "quarantined")]
    assert [(memory.id, memory.content) for memory in spine.quarantined()] == [(bad.id, "odd")]
    assert done(spine.release_quarantined([bad.id])) == [bad.id]
    assert spine.get(bad.id).content == "odd"
    spine.quarantine([bad.id])
    assert done(spine.purge(quarantined=True, why="odd")) == [bad.id]
    assert spine.get(bad.id).state == "forgotten"


def test_filters_hold_together_and_a_limit_says_where_to_go_on(spine):
    ids = [spine.store(str(number), agent="scraper", task="t", trust="external").id for number in range(3)]
    spine.store("other", agent="scraper", task="u", trust="external")
    later = datetime.now(timezone.utc) + timedelta(hours=1)
    which = {"agent": "scraper", "task": "t", "trust": "external", "before": later}
    first = spine.quarantine(**which, limit=2)
    rest = spine.quarantine(**which, limit=2, after=first["next_after"])
    assert sorted(done(first) + done(rest)) == sorted(ids) and rest["next_after"] is None
    assert done(spine.quarantine(agent="scraper", since=later)) == []


def test_ids_are_a_list_and_something_must_be_named(spine):
    with pytest.raises(TypeError, match="a list of ids"):
        spine.quarantine("ms-1")
    with pytest.raises(ValidationError):
        spine.purge(why="nothing is named")
