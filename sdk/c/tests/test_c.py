"""The C library: every call, leaks and races, what is exported and installed, and the programs of the documentation."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fake_server import FakeServer, reply

ROOT = Path(__file__).resolve().parents[3]
HERE = ROOT / "sdk" / "c"
HEADER = (HERE / "include" / "memory_spine.h").read_text(encoding="utf-8")
TSAN_FAILED = 66


def run(command, environment, **more):
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, **more)
    assert done.returncode == 0, f"{command} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture
def fresh(server, program, environment):
    """The URL of the server, whose space of the calls is as new."""
    subprocess.run([program("one_call"), server.url, "deleteSpace", "name=calls", "confirm=calls"], env=environment)
    return server.url


# --- Calls ---------------------------------------------------------------------------------------


def test_every_call_works_under_the_address_sanitizer(program, fresh, environment):
    assert "checks" in run([program("calls", "asan"), fresh], environment)


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_every_call_works_under_valgrind(program, fresh, environment):
    command = ["valgrind", "-q", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect"]
    assert "checks" in run([*command, program("calls"), fresh], environment)


def test_many_threads_share_a_client_under_the_thread_sanitizer(program, server, environment):
    flat = ["setarch", "-R"] if subprocess.run(["setarch", "-R", "true"], capture_output=True).returncode == 0 else []
    options = {"TSAN_OPTIONS": f"exitcode={TSAN_FAILED}"}
    assert int(run([*flat, program("threads", "tsan"), server.url], {**environment, **options})) == 6 * 25


def test_answers_that_were_damaged_do_no_harm(program, environment):
    assert "7 answers" in run([program("answers", "asan"), str(HERE / "tests" / "seeds"), "20000"], environment)


def test_the_library_survives_that_there_is_no_memory(program, server, environment):
    out = run([program("no_memory", "asan"), server.url], environment)
    assert re.findall(r"^(\w+): [1-9]\d*$", out, re.M) == ["open", "read", "texts", "store", "work"]


def test_fetching_in_two_answers_survives_that_there_is_no_memory(program, environment):
    def answer(connection, number):
        if b'"ms-1"' in fake.requests[number - 1]:
            body = b'{"memories":[{"id":"ms-1"}],"missing":[{"id":"ms-2","reason":"not_given"}]}'
        else:
            body = b'{"memories":[{"id":"ms-2"}],"missing":[]}'
        connection.send(reply(body))

    with FakeServer(answer) as fake:
        out = run([program("no_memory", "asan"), fake.url, "fetch"], environment)
    assert int(re.fullmatch(r"fetch: (\d+)\n", out)[1]) > 5


@pytest.mark.skipif(not Path("/usr/share/i18n/locales/de_DE").exists(), reason="the package locales is not installed")
def test_numbers_do_not_depend_on_the_locale_of_the_program(program, fresh, environment, tmp_path):
    subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", str(tmp_path / "de_DE.UTF-8")], capture_output=True)
    german = {**environment, "LOCPATH": str(tmp_path), "LC_ALL": "de_DE.UTF-8"}
    assert "with a decimal ','" in run([program("calls"), fresh], german)


def test_what_is_packed_in_c_is_received_in_python_word_for_word(program, server, environment):
    sys.path.insert(0, str(ROOT / "sdk" / "python"))
    from memory_spine import MemorySpine

    intent = 'Pay "exactly" 12,50 €\n\tand – not a cent more. \N{PILE OF POO}'
    envelope = {
        "target_agent": "payer",
        "task_summary": "Pay it.",
        "intent": intent,
        "constraints": {"max_amount": 12.5, "währung": "€", "steps": [1, {"a": None}]},
    }
    sent = run([program("one_call"), server.url, "deliver", "envelope:=" + json.dumps(envelope)], environment)
    with MemorySpine(server.url) as spine:
        (work,) = spine.agent("payer").receive(wait_s=10)
        assert work.envelope.intent == intent and work.envelope.constraints == envelope["constraints"]
        work.complete({"paid": "12,50 €"})
    read = run([program("one_call"), server.url, "readHandoff", f"id={work.id}"], environment)
    assert json.loads(sent.splitlines()[1])["id"] == work.id
    assert json.loads(read.splitlines()[1])["result"] == {"paid": "12,50 €"}


# --- The table of operations -----------------------------------------------------------------------


def operations():
    specification = json.loads((ROOT / "schemas" / "openapi.json").read_text(encoding="utf-8"))
    for path, methods in specification["paths"].items():
        for method, operation in methods.items():
            if isinstance(operation, dict) and "operationId" in operation:
                yield operation["operationId"], method.upper(), path


def test_the_table_of_operations_is_that_of_the_server():
    run([sys.executable, str(HERE / "operations.py"), "--check"], None)


# What has no end is not asked for here.
STREAMS = {"streamHandoffs", "watchEvents"}


@pytest.mark.parametrize("name, method, path", [row for row in operations() if row[0] not in STREAMS])
def test_every_operation_is_reached(program, server, environment, name, method, path):
    arguments = [f"{parameter}=x-1" for parameter in re.findall(r"{(\w+)}", path)]
    out = run([program("one_call"), server.url, name, *arguments], environment)
    status, code, http = out.split()[:3]
    assert int(http) > 0 and code != "method_not_allowed" and "there is nothing at" not in out, out


# --- What is exported ------------------------------------------------------------------------------


def declared():
    return set(re.findall(r"^MS_API [^;]*?\b(ms_\w+)\(", HEADER, re.M | re.S))


def test_the_shared_library_has_what_the_header_says_and_no_more():
    out = run(["nm", "-D", "--defined-only", str(ROOT / "build" / "libmemoryspine.so")], None)
    assert {line.split()[2] for line in out.splitlines()} == declared()


def test_no_name_of_the_static_library_is_in_the_way_of_a_program():
    out = run(["nm", "-g", "--defined-only", str(ROOT / "build" / "libmemoryspine.a")], None)
    names = {line.split()[2] for line in out.splitlines() if len(line.split()) == 3}
    assert {name for name in names if not name.startswith(("ms_", "msi_"))} == set()


def test_the_shared_library_needs_libcurl_and_libc_alone():
    out = run(["readelf", "-d", str(ROOT / "build" / "libmemoryspine.so")], None)
    assert set(re.findall(r"NEEDED.*\[(.*?)\]", out)) == {"libcurl.so.4", "libc.so.6"}
    assert re.findall(r"SONAME.*\[(.*?)\]", out) == ["libmemoryspine.so.0"]


def test_it_neither_prints_nor_ends_the_process():
    out = run(["nm", "-D", "--undefined-only", str(ROOT / "build" / "libmemoryspine.so")], None)
    used = {line.split()[-1].split("@")[0] for line in out.splitlines()}
    assert used.isdisjoint({"abort", "exit", "_exit", "printf", "puts", "fprintf", "stderr", "stdout", "signal", "sigaction"})


# --- What is installed, and the documentation ------------------------------------------------------


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The library below a prefix of its own; pkg-config finds it there."""
    prefix = tmp_path_factory.mktemp("prefix")
    environment = {"PATH": "/usr/bin:/bin", "PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    run(["make", "-C", str(ROOT), "install-lib", f"PREFIX={prefix}"], None)
    return prefix, environment


def pkg_config(installed, *options):
    return run(["pkg-config", *options, "memoryspine"], installed[1]).split()


def build(installed, source, target, *flags, compiler=("gcc", "-std=c11"), libraries=None):
    libraries = pkg_config(installed, "--libs") if libraries is None else libraries
    strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    run([*compiler, *strict, *flags, *pkg_config(installed, "--cflags"), "-o", str(target), str(source), *libraries], None)
    return str(target)


@pytest.fixture
def at(installed, server, environment):
    """The environment of a program that was linked with the installed library and speaks to the server."""
    return {**environment, "LD_LIBRARY_PATH": str(installed[0] / "lib"), "SPINE_URL": server.url}


def blocks(language):
    text = (HERE / "README.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


def test_the_first_program_of_the_readme_works_with_the_installed_library(installed, at, tmp_path):
    source = tmp_path / "first.c"
    source.write_text(blocks("c")[0], encoding="utf-8")
    program = build(installed, source, tmp_path / "first")
    expected = blocks("text")[0]
    assert re.fullmatch(re.escape(expected).replace(r"ms\-1", r"ms-\d+").replace(r"ho\-1", r"ho-\d+"), run([program], at))


def test_the_other_pieces_of_the_readme_compile(installed, tmp_path):
    head = '#include <memory_spine.h>\n#include <stdio.h>\n'
    frame = (
        "int main(void) {{ ms_client *spine = NULL; ms_error error; ms_work *work = NULL;\n"
        "(void)work, (void)spine;\n{}\nreturn 0; }}\n"
    )
    for number, piece in enumerate(blocks("c")[1:]):
        source = tmp_path / f"piece{number}.c"
        source.write_text(head + (piece if "main(" in piece else frame.format(piece)), encoding="utf-8")
        build(installed, source, tmp_path / f"piece{number}")


def test_the_example_works_with_the_shared_library_and_with_the_static_one(installed, at, tmp_path):
    source = HERE / "examples" / "worker.c"
    needed = [flag for flag in pkg_config(installed, "--static", "--libs") if flag != "-lmemoryspine"]
    libraries = [str(installed[0] / "lib" / "libmemoryspine.a"), *needed]
    shared = build(installed, source, tmp_path / "shared")
    fixed = build(installed, source, tmp_path / "fixed", libraries=libraries)
    for program in (shared, fixed):
        out = run([program, "--demo"], at)
        assert "reviewer has done: " in out and "Keep it short." in out
    assert "libmemoryspine" not in run(["ldd", fixed], None)


def test_the_header_is_good_cpp(installed, tmp_path):
    source = tmp_path / "plus.cc"
    source.write_text('#include <memory_spine.h>\nint main() { return ms_version()[0] == 0; }\n')
    program = build(installed, source, tmp_path / "plus", compiler=("g++", "-std=c++17"))
    run([program], {"LD_LIBRARY_PATH": str(installed[0] / "lib")})


def test_installing_below_destdir_names_the_prefix(tmp_path):
    run(["make", "-C", str(ROOT), "install-lib", f"DESTDIR={tmp_path}", "PREFIX=/usr"], None)
    text = (tmp_path / "usr" / "lib" / "pkgconfig" / "memoryspine.pc").read_text()
    assert "prefix=/usr\n" in text and str(tmp_path) not in text
    run(["make", "-C", str(ROOT), "uninstall-lib", f"DESTDIR={tmp_path}", "PREFIX=/usr"], None)
    assert [path for path in tmp_path.rglob("*") if not path.is_dir()] == []
