"""spine receive: printing what is queued, and having a program do it."""

import itertools
import json
import os
import signal

import pytest
from cli import CONFLICT, Cli, FAILED, NOT_FOUND, OK, UNREACHABLE, offline  # noqa: F401
from cli_delivery import nothing_is_left_running, sent, start, state, taken, wait_for  # noqa: F401
from server import binary

_spaces = itertools.count(1)


@pytest.fixture
def spine(server, tmp_path):
    """In a space of the test's own."""
    return Cli(tmp_path, SPINE_URL=server.url, SPINE_SPACE=f"receive-{next(_spaces)}")


# --- receive -------------------------------------------------------------------------------------------


def test_receive_prints_the_prompt_and_tells_the_lease(spine):
    sent(spine)
    result = spine.ok("receive", "coder")
    assert result.out.startswith("# Handoff to coder from analyst") and "> Go." in result.out
    assert "ho-1.1: env-1 from analyst, attempt 1 of 3" in result.err and "spine ack ho-1.1" in result.err
    assert state(spine)["state"] == "leased"


def test_receive_acks_what_it_has_printed(spine):
    sent(spine)
    assert "> Go." in spine.ok("receive", "coder", "--ack").out
    assert state(spine)["state"] == "acked"


def test_receive_says_when_there_is_nothing(spine):
    result = spine("receive", "coder")
    assert (result.code, result.out) == (NOT_FOUND, "") and "--wait" in result.err
    result = spine("receive", "coder", "--wait", "50ms", "--json")
    assert (result.code, result.json) == (NOT_FOUND, {"handoffs": []})


def test_receive_takes_several_as_one_document_or_as_lines(spine):
    for name in ("one", "two", "three", "four"):
        sent(spine, "coder", name)
    document = spine.ok("receive", "coder", "--max", "2", "--json", "--lease", "1m", "--instance", "me").json
    assert [h["envelope"]["task"]["summary"] for h in document["handoffs"]] == ["one", "two"]
    assert document["handoffs"][0]["receiver"] == "me"
    lines = spine.ok("receive", "coder", "-n", "9", "--format", "json").out.splitlines()
    assert [json.loads(line)["envelope"]["task"]["summary"] for line in lines] == ["three", "four"]


def test_receive_waits_and_gets_it_at_once(spine):
    receiver = start(spine, "receive", "coder", "--wait", "30s", "--ack")
    sent(spine)
    out, _ = receiver.communicate(timeout=20)
    assert receiver.returncode == OK and "> Go." in out


def test_receive_can_be_stopped_while_it_waits(spine):
    receiver = start(spine, "receive", "coder", "--loop", "--exec", "cat")
    wait_for(lambda: spine("agent", "coder").code == OK, "the receiver is there")
    receiver.send_signal(signal.SIGTERM)
    receiver.communicate(timeout=10)
    assert receiver.returncode == OK


# --- receive --exec --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command, result",
    [
        ("echo done", "done"),
        ("printf 'two\\nlines\\n\\n'", "two\nlines"),
        ("echo '{\"a\": [1, true]}'", {"a": [1, True]}),
        ("echo 42", 42),
        ("true", None),
        ("grep -c Handoff", 1),
    ],
)
def test_exit_code_0_completes_with_the_output(spine, command, result):
    sent(spine)
    done = spine.ok("receive", "coder", "--exec", command)
    assert done.out == "" and done.err.endswith("s; its result: spine get ho-1\n")
    handoff = state(spine)
    assert (handoff["state"], handoff.get("result")) == ("completed", result)


def test_a_program_is_run_without_a_shell_behind_two_dashes(spine):
    sent(spine)
    spine.ok("receive", "coder", "--", "printf", "%s|%s", "a b", "$HOME")
    assert state(spine)["result"] == "a b|$HOME"


def test_the_program_knows_what_it_works_on(spine, server):
    sent(spine)
    spine.ok("receive", "coder", "--exec", "env | grep ^SPINE_ | sort")
    variables = dict(line.split("=", 1) for line in state(spine)["result"].splitlines())
    assert variables == {
        "SPINE_HANDOFF": "ho-1", "SPINE_ENVELOPE": "env-1", "SPINE_LEASE": "ho-1.1", "SPINE_ATTEMPT": "1",
        "SPINE_REDELIVERED": "false", "SPINE_FROM": "analyst", "SPINE_TASK": "task-1", "SPINE_URL": server.url,
        "SPINE_SPACE": spine.environment["SPINE_SPACE"], "SPINE_AGENT": "coder",
    }


def test_the_program_can_hand_over_as_the_agent(spine):
    sent(spine)
    command = f'{binary()} send --to reviewer "Review it." --parent "$SPINE_ENVELOPE" --json'
    spine.ok("receive", "coder", "--exec", command)
    envelope = spine.ok("get", "env-2", "--json").json
    assert (envelope["from"], envelope["to"], envelope["lineage"]["parent"]) == ("coder", "reviewer", "env-1")


def test_the_program_may_have_the_handoff_as_json(spine):
    sent(spine)
    spine.ok("receive", "coder", "--format", "json", "--exec", "cat")
    assert state(spine)["result"]["envelope"]["task"]["summary"] == "Go."


def test_another_exit_code_gives_it_back_with_the_last_line_of_standard_error(spine):
    sent(spine)
    command = "cat >/dev/null; echo begun >&2; echo 'no disk left' >&2; echo >&2; exit 3"
    result = spine("receive", "coder", "--exec", command)
    assert result.code == FAILED and "begun" in result.err and "ho-1.1 nacked" in result.err
    handoff = state(spine)
    assert (handoff["state"], handoff["attempt"], handoff["reason"]) == ("queued", 2, "no disk left")


def test_exit_code_65_rejects_it(spine):
    sent(spine)
    assert spine("receive", "coder", "--exec", "echo 'cannot be read' >&2; exit 65").code == FAILED
    handoff = state(spine)
    assert (handoff["state"], handoff["reason"]) == ("parked", "cannot be read")


def test_a_program_that_is_killed_gives_it_back(spine):
    sent(spine)
    spine("receive", "coder", "--exec", "kill -9 $$")
    assert state(spine)["reason"] == "the program was killed by signal 9 (Killed)"


def test_a_silent_failure_names_the_exit_code(spine):
    sent(spine)
    spine("receive", "coder", "--", "false")
    assert state(spine)["reason"] == "the program ended with exit code 1"


@pytest.mark.parametrize(
    "command, reason",
    [("head -c 300000 /dev/zero | tr '\\0' x", "larger than"), ("printf '\\377\\376'", "not UTF-8")],
)
def test_output_that_cannot_be_a_result_is_parked_not_lost(spine, command, reason):
    sent(spine)
    assert spine("receive", "coder", "--exec", command).code == FAILED
    handoff = state(spine)
    assert handoff["state"] == "parked" and reason in handoff["reason"]


@pytest.mark.parametrize("args", [["--exec", "no-such-program"], ["--", "no-such-program"], ["--", "/etc/passwd"]])
def test_a_program_that_cannot_be_run_does_not_fail_everything(spine, args):
    sent(spine)
    sent(spine)
    result = spine("receive", "coder", "--loop", *args)
    assert result.code == FAILED and "cannot be run" in result.err
    assert (state(spine, "ho-1")["attempt"], state(spine, "ho-2")["attempt"]) == (2, 1)


def test_a_program_that_does_not_read_its_input_is_fine(spine):
    spine.ok("send", "--to", "coder", "--max-tokens", "1000000", stdin="long " * 50000)
    spine.ok("receive", "coder", "--exec", "echo ok")
    assert state(spine)["result"] == "ok"


def test_it_is_acked_when_the_work_begins_unless_told_otherwise(spine):
    look = f"{binary()} get $SPINE_HANDOFF --json"
    sent(spine)
    sent(spine)
    spine.ok("receive", "coder", "--exec", look)
    spine.ok("receive", "coder", "--exec", look, "--no-ack")
    assert [state(spine, name)["result"]["state"] for name in ("ho-1", "ho-2")] == ["acked", "leased"]


@pytest.mark.parametrize("args", [["--work-lease", "400ms"], ["--no-ack", "--lease", "400ms"]], ids=" ".join)
def test_the_lease_is_renewed_while_the_program_runs(spine, args):
    """It goes on until the end of its lease was moved three times."""
    sent(spine)
    command = f"""
        n=0 last=
        while [ $n -lt 4 ]; do
            now=$({binary()} get $SPINE_HANDOFF --json | grep -o '"due_at":"[^"]*"')
            if [ "$now" != "$last" ]; then n=$((n+1)); last=$now; fi
        done; echo renewed"""
    spine.ok("receive", "coder", *args, "--exec", command)
    handoff = state(spine)
    assert (handoff["state"], handoff["result"], handoff["attempt"]) == ("completed", "renewed", 1)


def test_a_lost_lease_ends_the_program(spine, tmp_path):
    sent(spine)
    os.mkfifo(tmp_path / "begun")
    receiver = start(
        spine, "receive", "coder", "--no-ack", "--lease", "1s", "--exec",
        f"echo $$ > {tmp_path}/begun; exec sleep 60",
    )
    pid = int((tmp_path / "begun").read_text())
    spine.ok("park", "env-1", "--reason", "stop it")
    _, err = receiver.communicate(timeout=30)
    assert receiver.returncode == CONFLICT and "lease was lost" in err
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_lease_that_cannot_be_renewed_ends_the_program(start_server, tmp_path):
    server = start_server()
    spine = Cli(tmp_path, SPINE_URL=server.url)
    sent(spine)
    os.mkfifo(tmp_path / "begun")
    receiver = start(
        spine, "receive", "coder", "--work-lease", "900ms", "--exec", f"echo $$ > {tmp_path}/begun; exec sleep 60"
    )
    (tmp_path / "begun").read_text()
    server.kill()
    _, err = receiver.communicate(timeout=30)
    assert receiver.returncode == CONFLICT and "cannot reach" in err and "lease was lost" in err


def test_max_and_loop_take_one_after_the_other(spine):
    for name in ("one", "two", "three"):
        sent(spine, "coder", name)
    spine.ok("receive", "coder", "--max", "2", "--exec", "cat")
    assert [state(spine, f"ho-{i}")["state"] for i in (1, 2, 3)] == ["completed", "completed", "queued"]
    spine.ok("receive", "coder", "--max", "5", "--exec", "cat")
    assert state(spine, "ho-3")["state"] == "completed"


def test_a_loop_goes_on_after_failures_until_it_is_stopped(spine):
    sent(spine, "coder", "fail", "--attempts", "1")
    sent(spine, "coder", "succeed")
    receiver = start(spine, "receive", "coder", "--loop", "--json", "--exec", "! grep -q fail")
    wait_for(lambda: state(spine, "ho-2")["state"] == "completed", "the second was done")
    sent(spine, "coder", "again")
    wait_for(lambda: state(spine, "ho-3")["state"] == "completed", "what came later was done")
    receiver.send_signal(signal.SIGINT)
    out, _ = receiver.communicate(timeout=30)
    assert receiver.returncode == OK
    assert [json.loads(line)["state"] for line in out.splitlines()] == ["parked", "completed", "completed"]


def test_the_first_signal_lets_the_work_end_and_the_second_does_not(spine, tmp_path):
    sent(spine)
    os.mkfifo(tmp_path / "begun")
    os.mkfifo(tmp_path / "go")
    command = f"echo > {tmp_path}/begun; read line < {tmp_path}/go; echo done"
    receiver = start(spine, "receive", "coder", "--loop", "--exec", command)
    (tmp_path / "begun").read_text()
    receiver.send_signal(signal.SIGTERM)
    assert "stopping after ho-1.1" in "".join(receiver.stderr.readline() for _ in range(2))
    (tmp_path / "go").write_text("\n")
    receiver.communicate(timeout=30)
    assert receiver.returncode == OK and state(spine)["result"] == "done"

    sent(spine)
    receiver = start(spine, "receive", "coder", "--loop", "--exec", command)
    (tmp_path / "begun").read_text()
    receiver.send_signal(signal.SIGTERM)
    assert "stopping after ho-2.1" in "".join(receiver.stderr.readline() for _ in range(2))
    receiver.send_signal(signal.SIGTERM)
    receiver.communicate(timeout=30)
    handoff = state(spine, "ho-2")
    assert (handoff["state"], handoff["attempt"], handoff["reason"]) == ("queued", 1, None)
    assert handoff["attempts"][-1]["error"] == "the receiver was stopped"


def test_a_grace_ends_the_work_and_gives_it_back_without_an_attempt(spine, tmp_path):
    sent(spine, "coder", "Go.", "--attempts", "1")
    os.mkfifo(tmp_path / "begun")
    for restart in range(1, 4):
        receiver = start(
            spine, "receive", "coder", "--loop", "--grace", "50ms", "--exec", f"echo > {tmp_path}/begun; exec sleep 60"
        )
        (tmp_path / "begun").read_text()
        receiver.send_signal(signal.SIGTERM)
        _, err = receiver.communicate(timeout=30)
        assert f"ho-1.{restart} given back" in err
    handoff = state(spine)
    assert (handoff["state"], handoff["attempt"], handoff["leases"]) == ("queued", 1, 3)


def test_a_program_that_is_stopped_together_with_its_receiver_has_not_failed(spine, tmp_path):
    sent(spine, "coder", "Go.", "--attempts", "1")
    os.mkfifo(tmp_path / "begun")
    receiver = start(spine, "receive", "coder", "--loop", "--exec", f"echo $$ > {tmp_path}/begun; exec sleep 60")
    pid = int((tmp_path / "begun").read_text())
    receiver.send_signal(signal.SIGTERM)
    assert "stopping after ho-1.1" in "".join(receiver.stderr.readline() for _ in range(2))
    os.kill(pid, signal.SIGTERM)
    receiver.communicate(timeout=30)
    assert (state(spine)["state"], state(spine)["attempt"]) == ("queued", 1)


def test_release_gives_back_what_a_person_had_taken(spine):
    sent(spine, "coder", "Go.", "--attempts", "1")
    taken(spine)
    spine.ok("release", "ho-1.1", "this machine is shut down")
    handoff = state(spine)
    assert (handoff["state"], handoff["attempt"]) == ("queued", 1)
    assert handoff["attempts"][0]["error"] == "this machine is shut down"
    assert spine("release", "ho-1.1").code == CONFLICT


def test_a_receiver_that_dies_takes_its_program_with_it_and_the_work_comes_back(spine, tmp_path):
    sent(spine)
    os.mkfifo(tmp_path / "begun")
    receiver = start(
        spine, "receive", "coder", "--work-lease", "300ms", "--exec",
        f"echo $$ > {tmp_path}/begun; exec sleep 60",
    )
    pid = int((tmp_path / "begun").read_text())
    receiver.kill()
    receiver.communicate()
    wait_for(lambda: not os.path.exists(f"/proc/{pid}"), "the program ended, too")
    again = taken(spine, "coder", "--wait", "20s")
    assert (again["id"], again["attempt"], again["redelivered"]) == ("ho-1", 2, True)


def test_a_loop_survives_a_restart_of_the_server(start_server, tmp_path):
    first = start_server()
    spine = Cli(tmp_path, SPINE_URL=first.url)
    receiver = start(spine, "receive", "coder", "--loop", "--exec", "cat")
    sent(spine)
    wait_for(lambda: state(spine)["state"] == "completed", "it works")
    first.terminate()
    start_server(first)
    sent(spine)
    wait_for(lambda: state(spine, "ho-2")["state"] == "completed", "it goes on")
    receiver.send_signal(signal.SIGTERM)
    _, err = receiver.communicate(timeout=30)
    assert receiver.returncode == OK


@pytest.fixture
def start_server(start):  # noqa: F811
    """Starts one, or the same again at the same address."""

    def run(again=None):
        if again is None:
            return start_one().wait_until_ready()
        return start_one(listen=again.url.removeprefix("http://"), data=again.data).wait_until_ready()

    start_one = start
    return run


def test_no_server_is_said_at_once(offline):
    for args in (["receive", "coder", "--loop", "--exec", "cat"], ["receive", "coder"], ["send", "env-1"]):
        result = offline(*args)
        assert result.code == UNREACHABLE and "spine serve" in result.err


# --- What a program stores ---------------------------------------------------------------------------


def stored(spine, exec):
    """The memory that the program stored last."""
    sent(spine)
    result = spine("receive", "coder", "--exec", exec, env={"PATH": f"{binary().parent}:{os.environ['PATH']}"})
    assert result.code == OK, result.err
    notes = [memory for memory in spine.ok("list", "--json").json["memories"] if memory["kind"] == "note"]
    return notes[0]


@pytest.mark.parametrize("command, task", [
    ("spine store 'found it'", "task-1"),
    ("spine store 'found it' --task mine", "mine"),
    ("spine store 'found it' --shared", None),
    ("SPINE_TASK= spine store 'found it'", None),
    ("spine store 'found it' --space \"$SPINE_SPACE\" --url \"$SPINE_URL\"", "task-1"),
])
def test_what_a_program_stores_belongs_to_the_task_of_its_handoff(spine, command, task):
    memory = stored(spine, command)
    assert (memory["task"], memory["agent"]) == (task, "coder")


def test_what_the_program_of_an_old_agent_stores_belongs_to_the_task_too(spine):
    spine.ok("agent", "coder", "--accepts", "1")
    assert stored(spine, "spine store 'found it'")["task"] == "task-1"


def test_what_a_program_stores_in_another_space_belongs_to_no_task_of_this_one(spine):
    other = f"{spine.environment['SPINE_SPACE']}-other"
    sent(spine)
    assert spine("receive", "coder", "--exec", f"{binary()} store 'found it' --space {other}").code == OK
    assert spine.ok("list", "--space", other, "--json").json["memories"][0]["task"] is None


def test_a_task_in_the_environment_that_nobody_knows_is_told(spine):
    result = spine("store", "something", env={"SPINE_TASK": "task-999"})
    assert result.code == NOT_FOUND and "task-999" in result.err
    assert spine.ok("list", "--json").json["memories"] == []


def test_shared_and_a_task_contradict_each_other(spine):
    result = spine("store", "something", "--shared", "--task", "task-1")
    assert result.code == 2 and "--shared" in result.err


# --- What comes of it --------------------------------------------------------------------------------


def test_the_output_of_a_program_is_in_the_prompt_of_the_next_one(spine):
    sent(spine)
    spine.ok("receive", "coder", "--exec", "echo use Retry-After")
    shown = spine.ok("get", "ho-1").out
    assert "use Retry-After" in shown and "ms-1" in shown
    spine.ok("send", "--to", "reviewer", "Review it.", "--parent", "env-1")
    assert "use Retry-After" in spine.ok("receive", "reviewer").out
    spine.ok("forget", "ms-1", "--yes")
    assert "forgotten" in spine.ok("get", "ho-1").out


def test_a_result_may_be_kept_out(spine):
    sent(spine)
    taken(spine)
    spine.ok("complete", "ho-1.1", "between us", "--no-remember")
    assert state(spine)["result"] == "between us"
    assert spine.ok("list", "--json").json["memories"] == []
