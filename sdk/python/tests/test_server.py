"""The calls about the server itself, and a client whose server goes away. Each test holds for both clients."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import memory_spine
from memory_spine import ConnectionError, CredentialsFound, SpineError, ValidationError

SDK = Path(__file__).resolve().parent.parent


def test_tokens_are_counted_exactly(spine):
    assert spine.tokens("hello world") == 2
    assert spine.tokens("") == 0
    assert spine.tokens("研究 \U0001f600 naïve", tokenizer="cl100k_base") > 0
    assert spine.tokens("hello world", tokenizer="estimate") > 0


def test_an_unknown_tokenizer_is_an_error(spine):
    with pytest.raises(ValidationError) as caught:
        spine.tokens("x", tokenizer="p50k")
    assert caught.value.code == "unknown_tokenizer"


def test_a_running_server_is_healthy_and_ready(spine):
    assert spine.healthy() is True
    assert spine.ready() is True


def command(*arguments):
    environment = {**os.environ, "PYTHONPATH": str(SDK)}
    return subprocess.run([sys.executable, "-B", "-m", "memory_spine", *arguments], env=environment, capture_output=True, text=True)


def test_the_command_says_whether_the_server_is_reached(server):
    reached, missed = command("--url", server.url), command("--url", "http://127.0.0.1:1")
    version = memory_spine.__version__
    assert (reached.returncode, reached.stdout) == (0, f"memory-spine {version}: the server is version {version}, and ready\n")
    assert missed.returncode == 1 and "http://127.0.0.1:1" in missed.stderr and not missed.stdout


def test_status_tells_about_server_and_space(spine):
    spine.store("one")
    assert spine.status()["version"] == memory_spine.__version__


def test_a_space_shows_its_settings_and_takes_new_ones(spine, space):
    assert (spine.space_info().name, spine.space_info().guard, spine.space_info().memories) == (space, "off", 0)
    spine.store("one")
    changed = spine.set_space(guard="refuse")
    assert (changed.guard, changed.memories) == ("refuse", 1)
    assert spine.space_info() == changed
    with pytest.raises(CredentialsFound):
        spine.agent_handoff("b", "use AKIAIOSFODNN7EXAMPLE and sk_live_4eC39HqLyjWDarjtT1zdp7dc")
    with pytest.raises(ValidationError) as caught:
        spine.set_space(guard="strict")
    assert caught.value.field == "guard" and spine.space_info() == changed


def test_spaces_are_listed_with_what_they_hold(spine, space):
    spine.store("one")
    spine.send(spine.agent_handoff("b", "do it"))
    entries = {entry.name: entry for entry in spine.spaces(page_size=1)}
    mine = entries[space]
    assert (mine.memories, mine.handoffs_open, mine.parked) == (1, 1, 0)
    assert mine.created_at.tzinfo is not None
    assert [entry.name for entry in spine.spaces()] == list(entries)


def test_a_space_name_that_cannot_be_is_refused(connect, server):
    with pytest.raises(SpineError) as caught:
        connect(server.url, space="No Such Space").store("x")
    assert caught.value.status in (400, 422)


def test_a_client_outlives_a_restart_of_its_server(connect, start_server):
    first = start_server()
    spine = connect(first.url)
    memory = spine.store("kept")
    assert first.terminate() == 0
    impatient = connect(first.url, timeout=0.5)
    assert impatient.healthy() is False
    with pytest.raises(ConnectionError):
        impatient.get(memory.id)
    again = start_server(first.data, listen=first.url[len("http://") :])
    assert again.url == first.url
    assert spine.get(memory.id).content == "kept"
    assert spine.update(memory.id, content="changed").version == 2


def test_the_readme_runs_as_it_stands(start_server, tmp_path):
    """All of its Python, one block after the other, as one program, against a fresh server."""
    blocks = (SDK / "README.md").read_text(encoding="utf-8").split("```python\n")[1:]
    program = "\n".join(block.partition("```")[0] for block in blocks)
    assert program.count("MemorySpine(") >= 2
    run = subprocess.run(
        [sys.executable, "-B", "-W", "error", "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SDK), "SPINE_URL": start_server().url},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
