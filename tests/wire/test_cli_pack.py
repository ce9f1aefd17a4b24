"""`spine pack` is another name of `spine handoff`."""

import subprocess

from cli import USAGE, offline, spine, stored  # noqa: F401
from server import ROOT


def test_pack_makes_an_envelope_and_sends_nothing(spine):
    stored(spine, "the gateway answers 429")
    packed = spine.ok("pack", "coder", "Use ms-1.", "--from", "analyst", "--json").json
    assert (packed["id"], packed["to"], packed["from"]) == ("env-1", "coder", "analyst")
    assert spine.ok("handoffs", "--json").json["handoffs"] == []
    assert spine.ok("envelope", "env-1").out.startswith("env-1  analyst -> coder")


def test_pack_and_handoff_take_the_same_and_print_the_same(spine):
    args = ["coder", "Go on.", "--from", "analyst", "--max-tokens", "2000", "--dry-run"]
    assert spine.ok("pack", *args).out == spine.ok("handoff", *args).out
    assert spine("pack", "coder", "--nonsense").code == spine("handoff", "coder", "--nonsense").code == USAGE


def test_the_help_of_both_is_one_and_names_the_other(offline):
    assert offline.ok("pack", "--help").out == offline.ok("handoff", "--help").out == offline.ok("help", "pack").out
    assert "spine pack is another name of this command" in offline.ok("help", "handoff").out


def test_a_mistyped_pack_is_understood(offline):
    result = offline("pakc")
    assert result.code == USAGE
    assert 'did you mean "pack"?' in result.err


def test_shells_complete_pack_and_its_options():
    script = f"""
        source {ROOT}/completions/spine.bash
        COMP_WORDS=(spine pac); COMP_CWORD=1; _spine; printf '%s\\n' "${{COMPREPLY[@]}}"
        COMP_WORDS=(spine pack --wai); COMP_CWORD=2; _spine; printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["pack", "--waive"]
    assert "\thandoff|pack)\n" in (ROOT / "completions/_spine").read_text()
    assert "__fish_seen_subcommand_from handoff pack' -l waive" in (ROOT / "completions/spine.fish").read_text()
