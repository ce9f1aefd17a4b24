"""docs/clients.md has every operation, and each client really makes the call that the page says."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(Path(__file__).resolve().parent), str(ROOT / "tests"), str(ROOT / "sdk" / "python")]

from clients import INSTEAD, ROWS  # noqa: E402
from memory_spine import MemorySpine, SpineError  # noqa: E402
from recorder import Recorder  # noqa: E402
from server import Server, binary, clean_environment  # noqa: E402
from table import c_names, operations  # noqa: E402

OPERATIONS = operations()
IN_C = c_names()


def fill(url):
    with MemorySpine(url, agent="someone") as spine:
        spine.store_many(["one", "two", "three"])
        spine.pack("a", "x", task="t", constraints={"k": 1})
        spine.pack("a", "y", task="t", parent="env-1")
        spine.send("env-1")
        spine.put_route("r", "a")
        spine.get_channel("c").describe("x")
        spine.get_channel("c").publish("env-1", ["a"])
        spine.agent("a").receive()
    MemorySpine(url, space="gone").store("x")


@pytest.fixture(scope="module")
def recorder(tmp_path_factory):
    """A server with something in it, behind what records the calls."""
    server = Server(tmp_path_factory.mktemp("server") / "data").wait_until_ready()
    try:
        fill(server.url)
        recording = Recorder(server.address)
        yield recording
        recording.close()
    finally:
        code = server.terminate()
    assert code == 0, server.log_tail()


def is_asked(recorder, operation):
    method, path, _ = OPERATIONS[operation]
    pattern = re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path)))
    return any(asked == method and pattern.fullmatch(what) for asked, what in recorder.asked)


@pytest.fixture(autouse=True)
def quiet():
    """Nobody is there to take what is sent here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def test_every_operation_has_a_row_and_every_row_an_operation():
    assert set(ROWS) == set(OPERATIONS)


def test_the_page_is_what_the_clients_have():
    subprocess.run([sys.executable, str(Path(__file__).with_name("table.py")), "--check"], check=True)


def test_every_typed_function_of_c_names_an_operation_or_is_made_of_one_that_does():
    header = (ROOT / "sdk" / "c" / "include" / "memory_spine.h").read_text(encoding="utf-8")
    calls = set(re.findall(r"^MS_API ms_status (ms_\w+)\(", header, re.M))
    without = {"ms_open", "ms_call", "ms_exchange", "ms_json_read", "ms_json_print", "ms_json_quote", "ms_hand_on"}
    assert calls - without == set(IN_C.values())


@pytest.mark.parametrize("operation", [name for name, row in ROWS.items() if row[0]])
def test_the_command_makes_the_call(recorder, operation, tmp_path):
    file, whole = tmp_path / "memories.jsonl", tmp_path / "whole.jsonl"
    file.write_text('{"content":"x"}\n')
    environment = clean_environment(SPINE_URL=recorder.url, SPINE_CONFIG=os.devnull)
    if "{whole}" in ROWS[operation][0]:
        subprocess.run([str(binary()), "export", "--whole", str(whole)], env=environment, check=True, timeout=20)
    command = ROWS[operation][0].replace("|", " ").replace("{file}", str(file)).replace("{whole}", str(whole))
    arguments = shlex.split(command)
    recorder.asked.clear()
    process = subprocess.Popen([str(binary()), *arguments], env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        _, said = process.communicate(timeout=20)
    finally:
        process.kill()
    if INSTEAD.get(operation, operation) is None:
        assert process.returncode == 0 and recorder.asked == []
        return
    assert is_asked(recorder, INSTEAD.get(operation, operation)), f"{arguments} asked {recorder.asked} and said {said}"


@pytest.mark.parametrize("operation", [name for name, row in ROWS.items() if row[1]])
def test_the_method_of_python_makes_the_call(recorder, operation):
    with MemorySpine(recorder.url, agent="someone", retries=0) as spine:
        names = {"spine": spine}
        if "work." in ROWS[operation][1]:
            spine.send(spine.pack("w", f"for {operation}"))
            (names["work"],) = spine.agent("w").receive(wait_s=5)
        recorder.asked.clear()
        try:
            eval(ROWS[operation][1], names)
        except (SpineError, StopIteration):
            pass  # what is asked for need not be there
        assert is_asked(recorder, operation), recorder.asked
