"""scripts/check-static, on a small source of its own: what it finds, what it remembers, and when it looks again."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("cppcheck", "clang-tidy")

HEADER = "#ifndef NUMBER_H\n#define NUMBER_H\n#define NUMBER 3\nint number(int n);\n#endif\n"
CLEAN = '#include "number.h"\n\nint number(int n)\n{\n\treturn n + NUMBER;\n}\n'
# cppcheck sees what lies behind the end, clang-tidy what nobody reads and what may be NULL.
BAD = '#include "number.h"\n\nint number(int n)\n{\n\tint a[NUMBER] = {n};\n\n\treturn a[NUMBER];\n}\n'
UNREAD = '#include "number.h"\n\nint number(int n)\n{\n\tint a = n * NUMBER;\n\n\ta = n + 1;\n\treturn a;\n}\n'
NULL = '#include "number.h"\n\n#include <stddef.h>\n\nint number(int n)\n{\n\tint *p = n ? &n : NULL;\n\n\treturn *p;\n}\n'

pytestmark = pytest.mark.skipif(not all(shutil.which(tool) for tool in TOOLS), reason="cppcheck or clang-tidy is not there")


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "scripts").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / "sdk/c/src").mkdir(parents=True)
    for name in ("scripts/check-static", "scripts/cppcheck-suppressions", ".clang-tidy"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "src/number.h").write_text(HEADER)
    (tmp_path / "src/number.c").write_text(CLEAN)
    return tmp_path


def check(tree, *arguments):
    done = subprocess.run([tree / "scripts/check-static", *arguments], capture_output=True, text=True, timeout=120)
    assert done.stderr == ""
    return done.returncode, done.stdout


def stamps(tree):
    """When each was written; nothing where the file is not known to be clean."""
    paths = [tree / "build/static" / tool / "src/number.c" for tool in TOOLS]
    return [path.stat().st_mtime_ns for path in paths if path.exists()]


def test_a_defect_is_told_with_its_place_and_fails(tree):
    (tree / "src/number.c").write_text(BAD)
    code, told = check(tree)
    assert code == 1
    assert "src/number.c:7: error: " in told and "[arrayIndexOutOfBounds]" in told
    (tree / "src/number.c").write_text(NULL)
    code, told = check(tree)
    assert code == 1
    assert "src/number.c:9:" in told and "[clang-analyzer-core.NullDereference" in told
    assert len(stamps(tree)) < 2, "what was not clean is looked at again"


def test_what_was_found_clean_is_not_looked_at_again_until_it_changes(tree):
    assert check(tree) == (0, "")
    first = stamps(tree)
    assert len(first) == 2
    assert check(tree) == (0, "")
    assert stamps(tree) == first
    (tree / "src/number.c").write_text(BAD)
    assert check(tree)[0] == 1


def test_a_header_that_changed_has_its_files_looked_at_again(tree):
    text = CLEAN.replace("n + NUMBER", "NUMBER / 3")
    (tree / "src/number.c").write_text(text)
    assert check(tree) == (0, "")
    (tree / "src/number.h").write_text(HEADER.replace("3", "(3 / 0)"))
    code, told = check(tree)
    assert code == 1 and "ivision by zero" in told


def test_other_rules_have_everything_looked_at_again(tree):
    assert check(tree) == (0, "")
    first = stamps(tree)
    with (tree / "scripts/cppcheck-suppressions").open("a") as rules:
        rules.write("zerodiv:src/other.c\n")
    assert check(tree) == (0, "")
    assert stamps(tree)[0] > first[0] and stamps(tree)[1] == first[1]


def test_changed_has_clang_tidy_look_at_what_is_not_as_it_was_stamped(tree):
    (tree / "src/number.c").write_text(UNREAD)
    assert check(tree, "--changed") == (0, ""), "without git and without stamps nothing is known to have changed"
    (tree / "src/number.c").write_text(CLEAN)
    assert check(tree) == (0, "")
    (tree / "src/number.c").write_text(UNREAD)
    code, told = check(tree, "--changed")
    assert code == 1 and "[clang-analyzer-deadcode.DeadStores" in told


def test_changed_has_cppcheck_look_at_everything(tree):
    (tree / "src/number.c").write_text(BAD)
    code, told = check(tree, "--changed")
    assert code == 1 and "[arrayIndexOutOfBounds]" in told


@pytest.mark.parametrize("name", ["src/api/describe/desc_tasks.c", "src/engine/damage.c"])
def test_cppcheck_reads_on_behind_tables_that_choose_by_type_and_log_lines(tree, name):
    shutil.copytree(ROOT / "src", tree / "src", dirs_exist_ok=True)
    shutil.copytree(ROOT / "sdk/c/include", tree / "sdk/c/include")
    with (tree / name).open("a") as source:
        source.write(BAD)
    code, told = check(tree, name)
    assert code == 1 and f"{name}:" in told and "[arrayIndexOutOfBounds]" in told, told
