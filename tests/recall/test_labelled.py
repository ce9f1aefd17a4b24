"""Labelled files: what is read, what is refused, and the arithmetic."""

import copy
import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

import recall
from labelled import BadFile, read_labelled

GOOD = [
    {
        "turns": [{"id": "a", "speaker": "ann", "text": "one"}, {"id": "b", "text": "two", "more": 1}],
        "questions": [{"question": "which?", "evidence": ["b", "b"], "category": 2}],
        "unrelated": ["Say hello."],
    },
    {
        "name": "long",
        "documents": [{"id": "a", "title": "T", "text": "three"}],
        "questions": [{"question": "what?", "grades": {"a": 2}}],
    },
]


def written(tmp_path, data):
    path = tmp_path / "data.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return path


def test_a_file_is_read_as_it_is_described(tmp_path):
    notes, long = read_labelled(written(tmp_path, GOOD))
    assert (notes.name, long.name) == ("collection 1", "long")
    assert notes.memories == [("a", "ann: one"), ("b", "two")]
    assert long.memories == [("a", "T\n\nthree")]
    assert notes.questions[0].evidence == ["b"]
    assert notes.unrelated == ["Say hello."]
    assert long.questions[0].grades == {"a": 2}


def changed(*steps):
    """GOOD with one thing changed: the last step is the new value (None: nothing there), those before it lead to it."""
    data = copy.deepcopy(GOOD)
    *way, last, value = steps
    place = data
    for step in way:
        place = place[step]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return data


@pytest.mark.parametrize("data, place", [
    ('[{"turns":\n  oops}]', "line 2, column 3: not JSON"),
    ({}, "the file: not a list"),
    ([], "the file: the list is empty"),
    ([{"turns": [{"id": "a", "text": "x"}]}], "the file: it asks nothing"),
    (["x"], "collection 1: not an object"),
    (changed(0, "turns", None), "collection 1: it has either turns or documents"),
    (changed(0, "documents", []), "collection 1: it has either turns or documents"),
    (changed(1, "documents", []), "collection 2, documents: the list is empty"),
    (changed(0, "turns", 1, "text", None), "collection 1, turns[1]: it has no text"),
    (changed(0, "turns", 1, "text", " "), "collection 1, turns[1], text: not a text, or an empty one"),
    (changed(0, "turns", 1, "id", 7), "collection 1, turns[1], id: not a text"),
    (changed(0, "turns", 1, "id", "a"), 'collection 1, turns[1], id: "a" is there already'),
    (changed(0, "turns", 0, "speaker", 1), "collection 1, turns[0], speaker: not a text"),
    (changed(0, "questions", {}), "collection 1, questions: not a list"),
    (changed(0, "questions", 0, "question", None), "collection 1, questions[0]: it has no question"),
    (changed(0, "questions", 0, "evidence", None), "collection 1, questions[0]: it has either evidence or grades"),
    (changed(0, "questions", 0, "evidence", []), "collection 1, questions[0], evidence: the list is empty"),
    (changed(0, "questions", 0, "evidence", ["b", "c"]),
     'collection 1, questions[0], evidence[1]: the collection has nothing with the id "c"'),
    (changed(1, "questions", 0, "grades", "z", 1),
     'collection 2, questions[0], grades: the collection has nothing with the id "z"'),
    (changed(1, "questions", 0, "grades", "a", 1.5),
     'collection 2, questions[0], grades, "a": a grade is a whole number'),
    (changed(1, "questions", 0, "grades", "a", 0), "collection 2, questions[0], grades: nothing has a grade above 0"),
    (changed(0, "unrelated", 0, ""), "collection 1, unrelated[0]: not a text, or an empty one"),
])
def test_what_is_wrong_is_named_with_its_place(tmp_path, data, place):
    path = written(tmp_path, data)
    with pytest.raises(BadFile) as wrong:
        read_labelled(path)
    assert str(wrong.value).startswith(f"{path}: {place}")


def test_a_file_that_is_not_there_or_not_text(tmp_path):
    with pytest.raises(BadFile, match="nothing.json: No such file"):
        read_labelled(tmp_path / "nothing.json")
    path = tmp_path / "data.json"
    path.write_bytes(b"[\xff]")
    with pytest.raises(BadFile, match="byte 1 is not UTF-8"):
        read_labelled(path)


def test_shares_and_ndcg():
    assert recall.share(["a", "b", "c"], ["b", "z"]) == 0.5
    assert recall.ndcg(["a", "b", "x"], {"a": 2, "b": 1}) == 1
    assert recall.ndcg(["x", "b"], {"a": 2, "b": 1}) == pytest.approx((1 / math.log2(3)) / (2 + 1 / math.log2(3)))
    assert recall.ndcg(["x"] * 10 + ["a"], {"a": 2}) == 0
    assert recall.ndcg([], {"a": 1, "b": 0}) == 0


def test_a_sample_is_spread_evenly():
    assert recall.sampled(list("abcdef"), 3) == ["a", "c", "e"]
    assert recall.sampled(list("abc"), 3) == recall.sampled(list("abc"), 0) == ["a", "b", "c"]


def run(*arguments):
    return subprocess.run(
        [sys.executable, str(Path(recall.__file__)), *map(str, arguments)], capture_output=True, text=True, timeout=60
    )


def test_the_program_prints_tables_and_writes_json(tmp_path):
    told = tmp_path / "figures.json"
    done = run("--data", written(tmp_path, GOOD), "--json", told)
    assert (done.returncode, done.stderr) == (0, "")
    for words in ("R@10", "nDCG@10", "include_recent", "tokens of them a handoff"):
        assert words in done.stdout
    figures = json.loads(told.read_text())
    assert list(figures) == ["data", "search", "pack", "noise"]
    assert figures["pack"]["whole"]["50"].keys() == {"500", "1000", "2000", "4000"}
    assert figures["noise"]["tasks"] == 1


def test_the_program_measures_only_what_is_asked_for(tmp_path):
    tasks = tmp_path / "tasks.txt"
    tasks.write_text("Say hello.\n\nSay good bye.\n")
    told = tmp_path / "figures.json"
    done = run("--data", written(tmp_path, GOOD), "--only", "noise", "--unrelated", tasks, "--json", told)
    assert done.returncode == 0
    assert list(json.loads(told.read_text())) == ["data", "noise"]
    assert json.loads(told.read_text())["noise"]["tasks"] == 3


def test_the_program_says_what_is_wrong_in_one_line(tmp_path):
    for arguments, code, line in (
        (["--data", written(tmp_path, "[")], 1, "recall: "),
        (["--only", "serch"], 2, "recall.py: error: there is no 'serch'"),
        (["--url", "https://example.org"], 1, "recall: https://example.org: not the address of a server"),
        (["--url", "http://127.0.0.1:1"], 1, "recall: http://127.0.0.1:1: "),
    ):
        done = run(*arguments)
        assert done.returncode == code
        assert done.stderr.splitlines()[-1].startswith(line)
        assert "Traceback" not in done.stderr
