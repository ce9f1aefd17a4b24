"""Labelled data: collections of memories with questions, and what answers each. README.md describes the file.

Everything is checked before anything is measured. What is wrong is named with its place, so that a file of thousands
of lines can be repaired.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class BadFile(Exception):
    """What is wrong, and where."""


@dataclass
class Question:
    text: str
    evidence: list[str]  # what is needed; empty where it is graded instead
    grades: dict[str, int]


@dataclass
class Collection:
    name: str
    memories: list[tuple[str, str]]  # id of the file, content; in the file's order
    questions: list[Question]
    unrelated: list[str]


def read_labelled(path: Path) -> list[Collection]:
    data = _parsed(path)
    try:
        collections = [_collection(value, at) for at, value in enumerate(_list(data, "the file", least=1))]
        if not any(one.questions or one.unrelated for one in collections):
            raise BadFile("the file: it asks nothing: no collection has questions or unrelated tasks")
        return collections
    except BadFile as wrong:
        raise BadFile(f"{path}: {wrong}") from None


def _parsed(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadFile(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise BadFile(f"{path}: byte {error.start} is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise BadFile(f"{path}: line {error.lineno}, column {error.colno}: not JSON: {error.msg}") from None


def _collection(value: Any, at: int) -> Collection:
    place = f"collection {at + 1}"
    fields = _object(value, place)
    name = _text(fields.get("name", place), f"{place}, name")
    if ("turns" in fields) == ("documents" in fields):
        raise BadFile(f"{place}: it has either turns or documents")
    kind, head = ("turns", "speaker") if "turns" in fields else ("documents", "title")
    memories: dict[str, str] = {}
    for number, item in enumerate(_list(fields[kind], f"{place}, {kind}", least=1)):
        key, content = _memory(item, head, f"{place}, {kind}[{number}]")
        if key in memories:
            raise BadFile(f'{place}, {kind}[{number}], id: "{key}" is there already')
        memories[key] = content
    questions = [
        _question(item, memories, f"{place}, questions[{number}]")
        for number, item in enumerate(_list(fields.get("questions", []), f"{place}, questions"))
    ]
    unrelated = [
        _text(item, f"{place}, unrelated[{number}]")
        for number, item in enumerate(_list(fields.get("unrelated", []), f"{place}, unrelated"))
    ]
    return Collection(name, list(memories.items()), questions, unrelated)


def _memory(value: Any, head: str, place: str) -> tuple[str, str]:
    fields = _object(value, place)
    key, text = _field(fields, "id", place), _field(fields, "text", place)
    if head not in fields:
        return key, text
    return key, _field(fields, head, place) + (": " if head == "speaker" else "\n\n") + text


def _question(value: Any, memories: dict[str, str], place: str) -> Question:
    fields = _object(value, place)
    text = _field(fields, "question", place)
    if ("evidence" in fields) == ("grades" in fields):
        raise BadFile(f"{place}: it has either evidence or grades")
    if "evidence" in fields:
        evidence = _list(fields["evidence"], f"{place}, evidence", least=1)
        for number, key in enumerate(evidence):
            _known(_text(key, f"{place}, evidence[{number}]"), memories, f"{place}, evidence[{number}]")
        return Question(text, list(dict.fromkeys(evidence)), {})
    grades = _object(fields["grades"], f"{place}, grades")
    for key, grade in grades.items():
        _known(key, memories, f"{place}, grades")
        if type(grade) is not int or grade < 0:
            raise BadFile(f'{place}, grades, "{key}": a grade is a whole number, 0 or more')
    if not any(grades.values()):
        raise BadFile(f"{place}, grades: nothing has a grade above 0")
    return Question(text, [], grades)


def _known(key: str, memories: dict[str, str], place: str) -> None:
    if key not in memories:
        raise BadFile(f'{place}: the collection has nothing with the id "{key}"')


def _object(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadFile(f"{place}: not an object")
    return value


def _list(value: Any, place: str, least: int = 0) -> list[Any]:
    if not isinstance(value, list):
        raise BadFile(f"{place}: not a list")
    if len(value) < least:
        raise BadFile(f"{place}: the list is empty")
    return value


def _field(fields: dict[str, Any], name: str, place: str) -> str:
    if name not in fields:
        raise BadFile(f"{place}: it has no {name}")
    return _text(fields[name], f"{place}, {name}")


def _text(value: Any, place: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise BadFile(f"{place}: not a text, or an empty one")
    return value
