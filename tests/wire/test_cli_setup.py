"""spine setup: the right file in the right form, what stood in it stays, and it can be undone."""

import json
import os
import re
import shlex
import stat
import subprocess
import sys

import pytest

from cli import CONFLICT, FAILED, OK, USAGE, Cli
from server import binary

HOSTS = ["claude-code", "cursor", "vscode", "codex"]
PROJECT = {"claude-code": ".mcp.json", "cursor": ".cursor/mcp.json", "vscode": ".vscode/mcp.json",
           "codex": ".codex/config.toml"}
USER = {"claude-code": ".claude.json", "cursor": ".cursor/mcp.json", "vscode": ".config/Code/User/mcp.json",
        "codex": ".codex/config.toml"}
ROOT = {"claude-code": "mcpServers", "cursor": "mcpServers", "vscode": "servers"}
URL = "http://127.0.0.1:8788/mcp"
HOOKS = ".claude/settings.local.json"


@pytest.fixture
def project(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "project").mkdir()
    cli = Cli(tmp_path / "home")
    cli.project = tmp_path / "project"
    return cli


def run_setup(project, *args, code=OK):
    result = project("setup", *args, cwd=project.project)
    assert result.code == code, result.err
    return result


def toml(text):
    tomllib = pytest.importorskip("tomllib") if sys.version_info >= (3, 11) else None
    return tomllib.loads(text) if tomllib else small_toml(text)


def small_toml(text):
    """As much of TOML as setup writes, for a Python without tomllib."""
    root, table = {}, None
    for line in text.splitlines():
        header = re.fullmatch(r"\[([\w.-]+)\]", line)
        if header:
            table = root
            for name in header[1].split("."):
                table = table.setdefault(name, {})
        elif "=" in line and not line.startswith("#"):
            name, value = line.split(" = ", 1)
            value = re.sub(r'("[\w-]+") =', r"\1:", value)
            (root if table is None else table)[name] = json.loads(value)
    return root


def entry(project, host, where=PROJECT, base=None):
    text = ((base or project.project) / where[host]).read_text()
    return toml(text)["mcp_servers"]["memory-spine"] if host == "codex" else json.loads(text)[ROOT[host]]["memory-spine"]


# --- The right form ---


@pytest.mark.parametrize("host, expected", [
    ("claude-code", {"type": "http", "url": URL}),
    ("cursor", {"url": URL}),
    ("vscode", {"type": "http", "url": URL}),
    ("codex", {"url": URL}),
])
def test_a_host_connects_to_the_url(project, host, expected):
    run_setup(project, host, "--project", "--yes")
    assert entry(project, host) == expected


@pytest.mark.parametrize("host", HOSTS)
def test_agent_and_space_are_headers(project, host):
    run_setup(project, host, "--project", "--yes", "--agent", "coder", "--space", 'the "team"', "--url", "http://[::1]:9/")
    key = "http_headers" if host == "codex" else "headers"
    assert entry(project, host)[key] == {"Spine-Agent": "coder", "Spine-Space": 'the "team"'}
    assert entry(project, host)["url"] == "http://[::1]:9/mcp"


@pytest.mark.parametrize("host", HOSTS)
def test_over_stdio_the_host_starts_this_program(project, host):
    run_setup(project, host, "--project", "--yes", "--stdio", "--agent", "coder", "--url", "http://127.0.0.1:9")
    written = entry(project, host)
    assert written.pop("args") == ["mcp", "--agent", "coder", "--url", "http://127.0.0.1:9"]
    assert written.pop("command") == str(binary())
    assert written == ({"tool_timeout_sec": 120} if host == "codex" else {"type": "stdio"})


def test_a_shared_file_names_no_path_where_the_program_is_found_without(project, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "spine").symlink_to(binary())
    path = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}
    assert project("setup", "cursor", "--stdio", "--yes", cwd=project.project, env=path).code == OK
    assert entry(project, "cursor")["command"] == "spine"
    assert project("setup", "cursor", "--stdio", "--yes", "--user", cwd=project.project, env=path).code == OK
    assert entry(project, "cursor", USER, project.home)["command"] == str(binary())


@pytest.mark.parametrize("host, expected", [
    ("claude-code", "Bearer ${TEAM_TOKEN}"), ("cursor", "Bearer ${env:TEAM_TOKEN}"), ("vscode", "Bearer ${env:TEAM_TOKEN}"),
])
def test_a_token_is_named_and_not_written(project, host, expected):
    run_setup(project, host, "--project", "--yes", "--token-env", "TEAM_TOKEN")
    assert entry(project, host)["headers"] == {"Authorization": expected}


def test_codex_names_the_variable_of_its_token(project):
    run_setup(project, "codex", "--yes", "--token-env", "TEAM_TOKEN")
    assert entry(project, "codex", USER, project.home) == {"url": URL, "bearer_token_env_var": "TEAM_TOKEN"}
    assert "spine mcp has its key from SPINE_KEY" in run_setup(project, "codex", "--token-env", "X", "--stdio", code=USAGE).err


@pytest.mark.parametrize("host", HOSTS)
def test_for_all_projects_it_is_the_file_in_the_home_directory(project, host):
    run_setup(project, host, "--user", "--yes")
    assert entry(project, host, USER, project.home)["url"] == URL
    assert list(project.project.iterdir()) == []


def test_codex_home_is_where_codex_looks(project, tmp_path):
    assert project("setup", "codex", "--yes", env={"CODEX_HOME": str(tmp_path / "codex")}).code == OK
    assert toml((tmp_path / "codex" / "config.toml").read_text())["mcp_servers"]["memory-spine"]["url"] == URL


# --- Shown first ---


@pytest.mark.parametrize("host", HOSTS)
def test_without_somebody_to_ask_it_is_shown_and_nothing_is_written(project, host):
    shown = run_setup(project, host, "--project", code=FAILED)
    assert f"{PROJECT[host]} (new):\n+ " in shown.out and "memory-spine" in shown.out
    assert "--yes" in shown.err and list(project.project.iterdir()) == []


def test_a_person_is_asked(project):
    for typed, is_written in (("n\n", False), ("\n", False), ("y\n", True)):
        code, output = project.on_terminal("setup", "cursor", "--user", typed=typed)
        assert "Write it? [y/N]" in output and (code == OK) == is_written
        assert (project.home / ".cursor" / "mcp.json").exists() == is_written


def test_the_difference_is_in_lines_with_some_around_them(project):
    before = '{\n  "a": 1,\n  "b": 2,\n  "c": 3,\n  "mcpServers": {\n    "other": {"command": "x"}\n  },\n  "z": 0\n}\n'
    (project.project / ".mcp.json").write_text(before)
    assert run_setup(project, "claude-code", "--yes").out == (
        ".mcp.json:\n"
        '    "c": 3,\n'
        '    "mcpServers": {\n'
        '-     "other": {"command": "x"}\n'
        '+     "other": {"command": "x"},\n'
        '+     "memory-spine": {\n'
        '+       "type": "http",\n'
        '+       "url": "http://127.0.0.1:8788/mcp"\n'
        "+     }\n"
        "    },\n"
        '    "z": 0\n'
        "  }\n"
    ).replace('    "c": 3,\n', '    "b": 2,\n    "c": 3,\n')


# --- What stands there stays ---

JSON_FILES = {
    "other servers": '{\n  "ROOT": {\n    "other": {\n      "command": "x"\n    }\n  }\n}\n',
    "comments": '// ours\n{\n\t// servers\n\t"ROOT": {\n\t\t"other": {"command": "x"} // last\n\t},\n\t/* end */ "z": [1, 2]\n}\n',
    "a comma at the end": '{\n    "ROOT": {\n        "other": {"command": "x"},\n    },\n}\n',
    "one line": '{"ROOT":{"other":{"command":"x"}},"z":"} // \\" {"}',
    "other members": '{"z": null}',
    "windows": '{\r\n  "ROOT": {\r\n    "other": {}\r\n  }\r\n}\r\n',
    "no servers": '{\n  "inputs": []\n}\n',
}


def strip_comments(text):
    text = re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', lambda m: m[1] or "", text, flags=re.S)
    return re.sub(r",(\s*[}\]])", r"\1", text)


@pytest.mark.parametrize("host", ["claude-code", "cursor", "vscode"])
@pytest.mark.parametrize("what", JSON_FILES)
def test_what_stands_in_a_json_file_stays_and_undo_gives_it_back(project, host, what):
    path = project.project / PROJECT[host]
    path.parent.mkdir(exist_ok=True)
    before = JSON_FILES[what].replace("ROOT", ROOT[host]).encode()
    path.write_bytes(before)
    run_setup(project, host, "--yes", "--agent", "coder", "--no-hooks")
    after = path.read_text()
    read = json.loads(strip_comments(after))
    assert read[ROOT[host]].pop("memory-spine")["headers"] == {"Spine-Agent": "coder"}
    was = json.loads(strip_comments(before.decode()))
    was.setdefault(ROOT[host], {})
    assert read == was
    for value, comment in re.findall(r"(\S*),? *((?://|/\*) \w+)", before.decode()):
        assert re.search(re.escape(value) + ",? *" + re.escape(comment), after), "a comment stays where it was"
    assert run_setup(project, host, "--yes", "--agent", "coder", "--no-hooks").err.endswith("all is as it should be.\n")
    run_setup(project, host, "--undo", "--yes")
    assert path.read_bytes() == before


TOML_FILES = {
    "comments": '# mine\nmodel = "o5" # good\n\n[mcp_servers.other] # theirs\ncommand = "x"\n\n# the end\n',
    "strings of several lines": 'notes = """\n[mcp_servers.memory-spine]\nurl = "no"\n"""\nx = \'\'\'\n[a]\n\'\'\'\n',
    "arrays of several lines": 'a = [\n  [1],\n  ["]"], # ]\n]\n[b]\nc = { d = "#" }\n',
    "no line break at the end": '[tools]\nweb_search = true',
    "profiles behind": '[mcp_servers]\n[mcp_servers.other]\ncommand = "x"\n[profiles.fast]\nmodel = "o5-mini"\n',
}


@pytest.mark.parametrize("what", TOML_FILES)
def test_what_stands_in_a_toml_file_stays_and_undo_gives_it_back(project, what):
    path = project.home / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text(TOML_FILES[what])
    run_setup(project, "codex", "--yes", "--agent", "coder")
    after = path.read_text()
    assert after.startswith(TOML_FILES[what])
    assert after.endswith('[mcp_servers.memory-spine]\nurl = "http://127.0.0.1:8788/mcp"\n'
                          'http_headers = { "Spine-Agent" = "coder" }\n')
    assert run_setup(project, "codex", "--yes", "--agent", "coder").out == ""
    run_setup(project, "codex", "--yes", "--undo")
    assert path.read_text().rstrip("\n") == TOML_FILES[what].rstrip("\n")


def test_a_table_of_codex_keeps_what_a_person_added_to_it(project):
    path = project.home / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text('[mcp_servers.memory-spine]\n# slow\nstartup_timeout_sec = 20\nurl = "http://127.0.0.1:1/mcp"\n\n'
                    '[mcp_servers.memory-spine.tools.memory_store]\napproval_mode = "approve"\n\n# next\n[other]\na = 1\n')
    run_setup(project, "codex", "--yes", "--stdio")
    read = path.read_text()
    assert "# slow\nstartup_timeout_sec = 20\n" in read and 'approval_mode = "approve"' in read
    assert "url" not in read and 'args = ["mcp"]\n' in read
    run_setup(project, "codex", "--yes", "--undo")
    assert path.read_text() == "\n# next\n[other]\na = 1\n"


@pytest.mark.parametrize("text", [
    'mcp_servers = { other = { command = "x" } }\n',
    'mcp_servers.memory-spine.url = "x"\n',
    '[mcp_servers]\nmemory-spine = { url = "x" }\n',
    '[[mcp_servers]]\nname = "x"\n',
    'a = "never ends\n',
    '[mcp_servers.memory-spine]\nargs = [\n  "x",\n]\n',
    '[mcp_servers.memory-spine]\nurl = "1"\n[mcp_servers.memory-spine]\nurl = "2"\n',
])
def test_a_toml_file_of_another_form_is_refused_with_what_to_paste(project, text):
    path = project.home / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text(text)
    refused = run_setup(project, "codex", "--yes", code=CONFLICT)
    assert "[mcp_servers.memory-spine]" in refused.err and URL in refused.err
    assert path.read_text() == text


@pytest.mark.parametrize("text", ['{"mcpServers": []}', "[]", '{"mcpServers": {', '{"mcpServers": {"memory-spine": 3}}',
                                  "{} {}", '{"a" 1}', "{'a': 1}", pytest.param("{" * 1000, id="very deep")])
def test_a_json_file_of_another_form_is_refused_with_what_to_paste(project, text):
    (project.project / ".mcp.json").write_text(text)
    refused = run_setup(project, "claude-code", "--yes", code=CONFLICT)
    assert '"memory-spine"' in refused.err and URL in refused.err
    assert (project.project / ".mcp.json").read_text() == text


@pytest.mark.parametrize("host", ["claude-code", "cursor", "vscode"])
def test_an_entry_is_brought_up_to_date_and_keeps_what_a_person_added(project, host):
    path = project.project / PROJECT[host]
    path.parent.mkdir(exist_ok=True)
    mine = {"url": "http://old/mcp", "timeout": 600, "headers": {"Authorization": "x", "Spine-Agent": "old"}}
    path.write_text(json.dumps({ROOT[host]: {"memory-spine": mine, "other": {}}}, indent=4))
    run_setup(project, host, "--yes", "--space", "team")
    now = entry(project, host)
    assert (now["url"], now["timeout"], now["headers"]) == (URL, 600, {"Authorization": "x", "Spine-Space": "team"})
    run_setup(project, host, "--yes", "--stdio")
    now = entry(project, host)
    assert set(now) == {"type", "command", "args", "timeout"}


@pytest.mark.parametrize("host", HOSTS)
def test_what_setup_made_alone_is_gone_after_undo(project, host):
    run_setup(project, host, "--project", "--yes", "--agent", "coder")
    run_setup(project, host, "--project", "--yes", "--undo")
    assert [path for path in project.project.rglob("*") if path.is_file()] == []
    assert "nothing to undo" in run_setup(project, host, "--project", "--undo", "--yes").err


def test_a_link_stays_one_and_the_mode_is_kept(project, tmp_path):
    real = tmp_path / "dotfiles.json"
    real.write_text("{}\n")
    real.chmod(0o600)
    (project.home / ".cursor").mkdir()
    (project.home / ".cursor" / "mcp.json").symlink_to(real)
    run_setup(project, "cursor", "--user", "--yes")
    assert (project.home / ".cursor" / "mcp.json").is_symlink()
    assert "memory-spine" in real.read_text() and stat.S_IMODE(real.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("dotfiles")] == ["dotfiles.json"]


def test_a_file_that_cannot_be_written_is_told(project):
    (project.project / ".cursor").write_text("a file where a directory must be")
    assert "cannot" in run_setup(project, "cursor", "--yes", code=FAILED).err


def test_a_large_file_is_changed_at_once(project):
    many = {f"project-{i}": {"history": ["x" * 80] * 20} for i in range(2000)}
    (project.home / ".claude.json").write_text(json.dumps({"projects": many}, indent=2))
    run_setup(project, "claude-code", "--user", "--yes")
    read = json.loads((project.home / ".claude.json").read_text())
    assert read["projects"] == many and read["mcpServers"]["memory-spine"]["url"] == URL


# --- Hooks ---


def hooks(project):
    return json.loads((project.project / HOOKS).read_text())["hooks"]


def test_claude_code_gets_a_hook_that_waits_for_the_agents_work(project):
    run_setup(project, "claude-code", "--yes", "--agent", "coder", "--space", "a team")
    (group,) = hooks(project)["Stop"]
    (hook,) = group["hooks"]
    assert (hook["type"], hook["asyncRewake"]) == ("command", True)
    assert shlex.split(hook["command"]) == [
        str(binary()), "wait", "coder", "--replace", "--timeout", "24h", "--space", "a team"]
    assert hook["timeout"] > 24 * 3600, "Claude Code must not end it before it ends itself"


def test_the_hook_that_was_written_wakes_when_work_comes(server, project):
    run_setup(project, "claude-code", "--yes", "--agent", "coder", "--url", server.url, "--space", "hooked")
    (group,) = hooks(project)["Stop"]
    process = subprocess.Popen(group["hooks"][0]["command"], shell=True, stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=project.env({"XDG_RUNTIME_DIR": str(project.home)}), cwd=project.project, text=True)
    process.stdin.write('{"session_id":"x","hook_event_name":"Stop"}\n')
    project.ok("send", "--to", "coder", "Fix it", "--from", "analyst", env={"SPINE_URL": server.url, "SPINE_SPACE": "hooked"})
    _, err = process.communicate(timeout=30)
    assert process.returncode == 2, err
    assert re.match(r"ho-\d+ \(env-\d+ from analyst\) waits for coder; take it with the tool handoff_receive", err)


def test_its_hook_replaces_an_older_one_of_its_own_and_no_other(project):
    (project.project / ".claude").mkdir()
    theirs = {"permissions": {"allow": ["x"]}, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "notify"}]}],
                                                        "PreToolUse": []}}
    (project.project / HOOKS).write_text(json.dumps(theirs, indent=2))
    run_setup(project, "claude-code", "--yes", "--agent", "coder")
    run_setup(project, "claude-code", "--yes", "--agent", "o'brien")
    first, second = hooks(project)["Stop"]
    assert first["hooks"][0]["command"] == "notify"
    assert shlex.split(second["hooks"][0]["command"])[2] == "o'brien"
    run_setup(project, "claude-code", "--yes", "--undo")
    assert json.loads((project.project / HOOKS).read_text()) == theirs


def test_without_an_agent_or_with_no_hooks_there_is_none(project):
    run_setup(project, "claude-code", "--yes")
    run_setup(project, "claude-code", "--yes", "--agent", "coder", "--no-hooks")
    assert not (project.project / ".claude").exists()


@pytest.mark.parametrize("args", [["emacs"], [], ["cursor", "--user", "--project"], ["cursor", "--url", "x y"],
                                  ["cursor", "--agent", "a\nb"]])
def test_a_wrong_command_line_changes_nothing(project, args):
    run_setup(project, *args, "--yes", code=USAGE)
    assert list(project.project.iterdir()) == []
