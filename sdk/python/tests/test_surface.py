"""What the package shows: names, signatures, types, versions, and how it is built."""

import ast
import asyncio
import importlib.util
import inspect
import json
import os
import re
import subprocess
import sys
import tarfile
import urllib.request
import zipfile
from pathlib import Path

import pytest

import memory_spine
from memory_spine import AsyncMemorySpine, MemorySpine

SDK = Path(__file__).resolve().parent.parent
ROOT = SDK.parent.parent
SOURCES = sorted((SDK / "memory_spine").glob("*.py")) + [SDK / "build_backend" / "backend.py"]
PAGED = {"list", "versions", "tasks", "agents", "handoffs", "parked", "channels", "routes", "alerts", "spaces", "audit", "queues", "queue", "keys",
         "quarantined"}
# What asks the server nothing and returns something that does.
HANDLES = {"agent", "get_channel", "events"}
OLDEST_PYTHON = (3, 9)


def calls(client):
    return {name for name, value in vars(client).items() if inspect.isfunction(value) and not name.startswith("_")}


def test_both_clients_have_the_same_calls():
    assert calls(MemorySpine) == calls(AsyncMemorySpine)
    assert calls(MemorySpine) == {
        *(
            "store",
            "store_many",
            "get",
            "versions",
            "update",
            "revert",
            "pin",
            "unpin",
            "forget",
            "fetch",
            "search",
            "list",
        ),
        *("pack", "agent_handoff", "envelope", "resolve", "receipts", "considered", "verify", "diff", "task", "tasks", "fidelity", "blame", "waive"),
        *("send", "deliver_handoff", "handoff", "handoffs", "cancel", "move", "agent", "get_channel", "channels", "trace"),
        *("park_envelope", "parked", "redrive", "reroute", "shrink", "discard", "restore"),
        *("redrive_many", "reroute_many", "discard_many", "restore_many", "cancel_many", "move_many", "queues", "queue"),
        *("routes", "route", "put_route", "delete_route"),
        *("register_agent", "agent_info", "agents", "reset_breaker", "delete_agent", "space_info", "set_space", "delete_space", "spaces"),
        *("quarantine", "release_quarantined", "purge", "quarantined"),
        *("alerts", "alert_rules", "ack_alert", "silence_alert", "stats", "audit", "events"),
        *("create_key", "keys", "key", "rotate_key", "revoke_key", "session"),
        *("tokens", "status", "cluster", "healthy", "ready", "close"),
    }


@pytest.mark.parametrize("name", sorted(calls(MemorySpine)))
def test_a_call_is_documented_and_has_the_same_parameters_in_both_clients(name):
    sync, asynchronous = getattr(MemorySpine, name), getattr(AsyncMemorySpine, name)
    assert sync.__doc__ and asynchronous.__doc__
    assert inspect.signature(sync).parameters == inspect.signature(asynchronous).parameters
    assert "Steps" not in str(inspect.signature(sync))
    assert asyncio.iscoroutinefunction(asynchronous) == (name not in PAGED | HANDLES)


@pytest.mark.parametrize(
    "sync, asynchronous",
    [
        (memory_spine.Channel, memory_spine.AsyncChannel),
        (memory_spine.Receiver, memory_spine.AsyncReceiver),
        (memory_spine.ReceivedHandoff, memory_spine.AsyncReceivedHandoff),
        (memory_spine.HandoffClient, memory_spine.AsyncHandoffClient),
        (memory_spine.Inbox, memory_spine.AsyncInbox),
        (memory_spine.Events, memory_spine.AsyncEvents),
    ],
    ids=lambda one: one.__name__,
)
def test_everything_has_an_asynchronous_twin(sync, asynchronous):
    assert {name for name in dir(sync) if not name.startswith("_")} == {
        name for name in dir(asynchronous) if not name.startswith("_")
    }
    for name in calls(sync):
        one, other = getattr(sync, name), getattr(asynchronous, name)
        assert one.__doc__ and other.__doc__
        assert list(inspect.signature(one).parameters) == list(inspect.signature(other).parameters)


# What the objects show. Whatever is not here is for the package itself, and its name begins with an underscore.
SURFACE = {
    memory_spine.ReceivedHandoff: {
        *("prompt", "envelope", "envelope_id", "v1", "id", "attempt", "max_attempts", "redelivered"),
        *("from_agent", "to_agent", "channel", "priority", "delivery"),
        *("ack", "complete", "nack", "release", "reject", "need", "progress", "agent_handoff", "task", "store", "store_many"),
        *("pack", "hand_on", "since", "flags"),
        *("lease", "lease_expires_at", "keep", "release", "lease_lost", "settled", "in_doubt"),
    },
    memory_spine.Receiver: {"name", "instance", "receive", "peek", "inbox", "run", "stop"},
    memory_spine.Inbox: {"stop"},
    memory_spine.Events: {"position", "stop"},
    memory_spine.Channel: {"name", "publish", "join", "subscribe", "unsubscribe", "info", "describe"},
    memory_spine.HandoffClient: {"spine", "max_retries", "timeout", "send_handoff", "circuit"},
}


@pytest.fixture
def objects(other):
    """One object of each kind that SURFACE names."""
    other.send(other.agent_handoff("coder", "go"))
    receiver = other.agent("coder")
    made = [*receiver.receive(), receiver, receiver.inbox(), other.events(), other.get_channel("c")]
    return {type(one): one for one in (*made, memory_spine.HandoffClient(other))}


@pytest.mark.parametrize("kind", SURFACE, ids=lambda kind: kind.__name__)
def test_an_object_shows_what_the_readme_tells_of_and_nothing_else(objects, kind):
    assert {name for name in dir(objects[kind]) if not name.startswith("_")} == SURFACE[kind]
    told = " ".join(re.findall(r"`[^`\n]+`", (SDK / "README.md").read_text(encoding="utf-8")))
    assert [name for name in sorted(SURFACE[kind]) if not re.search(rf"\b{name}\b", told)] == []


# Each call of the protocol, by its name in /openapi.json, with the methods that make it.
ROUTES = {
    "listMemories": [MemorySpine.list, MemorySpine.search],
    "storeMemory": [MemorySpine.store],
    "storeMemories": [MemorySpine.store_many],
    "fetchMemories": [MemorySpine.fetch],
    "readMemory": [MemorySpine.get],
    "changeMemory": [MemorySpine.update],
    "forgetMemory": [MemorySpine.forget],
    "listVersions": [MemorySpine.versions],
    "pinMemory": [MemorySpine.pin],
    "unpinMemory": [MemorySpine.unpin],
    "revertMemory": [MemorySpine.revert],
    "handOff": [MemorySpine.pack, MemorySpine.agent_handoff],
    "readEnvelope": [MemorySpine.envelope, memory_spine.Handoff.prompt, memory_spine.Handoff.render],
    "verifyEnvelope": [MemorySpine.verify],
    "resolveEnvelope": [MemorySpine.resolve],
    "listReceipts": [MemorySpine.receipts],
    "readConsidered": [MemorySpine.considered],
    "compareEnvelopes": [MemorySpine.diff],
    "listTasks": [MemorySpine.tasks],
    "readTask": [MemorySpine.task],
    "readFidelity": [MemorySpine.fidelity],
    "blame": [MemorySpine.blame],
    "waive": [MemorySpine.waive],
    "traceTask": [MemorySpine.trace],
    "listAgents": [MemorySpine.agents],
    "readAgent": [MemorySpine.agent_info],
    "registerAgent": [MemorySpine.register_agent],
    "resetBreaker": [MemorySpine.reset_breaker],
    "deleteAgent": [MemorySpine.delete_agent],
    "deliver": [MemorySpine.send, MemorySpine.deliver_handoff],
    "listHandoffs": [MemorySpine.handoffs],
    "readHandoff": [MemorySpine.handoff],
    "receive": [memory_spine.Receiver.receive, memory_spine.Receiver.inbox, memory_spine.Receiver.run],
    "peek": [memory_spine.Receiver.peek],
    "ack": [memory_spine.ReceivedHandoff.ack],
    "nack": [memory_spine.ReceivedHandoff.nack],
    "release": [memory_spine.ReceivedHandoff.release],
    "reject": [memory_spine.ReceivedHandoff.reject],
    "progress": [memory_spine.ReceivedHandoff.progress],
    "complete": [memory_spine.ReceivedHandoff.complete, memory_spine.ReceivedHandoff.hand_on],
    "need": [memory_spine.ReceivedHandoff.need],
    "cancel": [MemorySpine.cancel],
    "move": [MemorySpine.move],
    "cancelMany": [MemorySpine.cancel_many],
    "moveMany": [MemorySpine.move_many],
    "listQueues": [MemorySpine.queues],
    "readQueue": [MemorySpine.queue],
    "park": [MemorySpine.park_envelope],
    "listParked": [MemorySpine.parked],
    "redrive": [MemorySpine.redrive],
    "reroute": [MemorySpine.reroute],
    "shrink": [MemorySpine.shrink],
    "discard": [MemorySpine.discard],
    "restore": [MemorySpine.restore],
    "redriveMany": [MemorySpine.redrive_many],
    "rerouteMany": [MemorySpine.reroute_many],
    "discardMany": [MemorySpine.discard_many],
    "restoreMany": [MemorySpine.restore_many],
    "listChannels": [MemorySpine.channels],
    "readChannel": [memory_spine.Channel.info],
    "makeChannel": [memory_spine.Channel.describe],
    "subscribe": [memory_spine.Channel.subscribe],
    "unsubscribe": [memory_spine.Channel.unsubscribe],
    "publish": [memory_spine.Channel.publish],
    "join": [memory_spine.Channel.join],
    "listRoutes": [MemorySpine.routes],
    "readRoute": [MemorySpine.route],
    "putRoute": [MemorySpine.put_route],
    "deleteRoute": [MemorySpine.delete_route],
    "watchEvents": [MemorySpine.events],
    "audit": [MemorySpine.audit],
    "stats": [MemorySpine.stats],
    "listAlerts": [MemorySpine.alerts, MemorySpine.alert_rules],
    "ackAlert": [MemorySpine.ack_alert],
    "silenceAlert": [MemorySpine.silence_alert],
    "listSpaces": [MemorySpine.spaces],
    "readSpace": [MemorySpine.space_info],
    "setSpace": [MemorySpine.set_space],
    "quarantine": [MemorySpine.quarantine],
    "releaseQuarantined": [MemorySpine.release_quarantined],
    "purge": [MemorySpine.purge],
    "listQuarantined": [MemorySpine.quarantined],
    "deleteSpace": [MemorySpine.delete_space],
    "createKey": [MemorySpine.create_key],
    "listKeys": [MemorySpine.keys],
    "readKey": [MemorySpine.key],
    "rotateKey": [MemorySpine.rotate_key],
    "revokeKey": [MemorySpine.revoke_key],
    "readSession": [MemorySpine.session],
    "countTokens": [MemorySpine.tokens],
    "status": [MemorySpine.status],
    "readCluster": [MemorySpine.cluster],
    "health": [MemorySpine.healthy],
    "readiness": [MemorySpine.ready],
}
# What is not for a program of an agent. The stream of handoffs is what `inbox` does, with receive.
NO_METHOD = {"streamHandoffs", "metrics", "listSchemas", "readSchema", "openapi"}
# What `spine export --whole` and `spine import` do.
NO_METHOD |= {"exportRows", "importRows"}
# The cookie of the dashboard.
NO_METHOD |= {"openSession", "closeSession"}
# Parameters that a method has under another name, or makes itself.
RENAMED = {"from": "from_", "envelope_id": "envelope"}
OWN = {"page_size", "page_token", "format", "limit"}


@pytest.fixture(scope="module")
def operations(server):
    """What /openapi.json says: each call by its name, with the names of its query parameters."""
    with urllib.request.urlopen(f"{server.url}/openapi.json") as answer:
        document = json.load(answer)

    def resolved(entry):
        return document["components"]["parameters"][entry["$ref"].rpartition("/")[2]] if "$ref" in entry else entry

    found = {}
    for path in document["paths"].values():
        for operation in (value for value in path.values() if isinstance(value, dict) and "operationId" in value):
            given = map(resolved, [*path.get("parameters", ()), *operation.get("parameters", ())])
            found[operation["operationId"]] = {one["name"] for one in given if one["in"] == "query"}
    return found


def test_every_call_of_the_protocol_has_a_method(operations):
    assert len(operations) > 60
    assert operations.keys() - NO_METHOD == ROUTES.keys(), "a call without a method, or a method without a call"
    made = {method for methods in ROUTES.values() for method in methods}
    assert {getattr(MemorySpine, name) for name in calls(MemorySpine)} - made == {
        getattr(MemorySpine, name) for name in ("agent", "get_channel", "close")
    }


@pytest.mark.parametrize("operation", ROUTES)
def test_every_parameter_of_a_call_can_be_given(operations, operation):
    given = {name for method in ROUTES[operation] for name in inspect.signature(method).parameters}
    wanted = {RENAMED.get(name, name) for name in operations[operation] - OWN}
    assert wanted - given == set()


def test_parameters_are_seen_through_an_object():
    with MemorySpine() as spine:
        assert list(inspect.signature(spine.get).parameters) == ["id", "version"]
        assert inspect.signature(spine.get).return_annotation == "Memory"
        assert inspect.signature(spine.list).return_annotation == "Pages[Memory]"
        assert inspect.signature(spine.envelope).return_annotation == "SyncEnvelope"
        assert inspect.signature(spine.agent_handoff).return_annotation == "Union[SyncEnvelope, DryRun]"


@pytest.mark.parametrize("client", [MemorySpine, AsyncMemorySpine])
def test_agent_handoff_takes_its_arguments_in_the_order_of_the_protocol(client):
    parameters = inspect.signature(client.agent_handoff).parameters.values()
    assert [parameter.name for parameter in parameters if parameter.kind is parameter.POSITIONAL_OR_KEYWORD] == [
        "self", "target_agent", "task_summary", "include_recent", "include_pins", "constraints", "execution_history",
        "expected_output", "intent", "state", "open_decisions", "parent", "task", "strategy", "refs", "max_hops", "waive",
    ]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_the_sources_are_in_the_language_of_the_oldest_python(path):
    ast.parse(path.read_text(encoding="utf-8"), feature_version=OLDEST_PYTHON)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_the_sources_import_the_standard_library_only(path):
    if not hasattr(sys, "stdlib_module_names"):
        pytest.skip("this Python does not know the names of its modules")
    allowed = sys.stdlib_module_names | {"typing_extensions"}  # for type checkers only, see method.py
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            names.append(node.module or "")
        assert {name.partition(".")[0] for name in names} <= allowed


def test_the_version_is_the_projects():
    assert memory_spine.__version__ == (ROOT / "VERSION").read_text().strip()


def test_types_are_complete():
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    oldest = ".".join(str(part) for part in OLDEST_PYTHON)
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, "--python-version", oldest, "memory_spine"],
        cwd=SDK,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert run.returncode == 0, run.stdout


def test_a_type_checker_knows_what_a_handoff_returns(tmp_path):
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    program = """
from memory_spine import AsyncMemorySpine, MemorySpine
spine = MemorySpine()
reveal_type(spine.agent_handoff("a", "b"))
reveal_type(spine.agent_handoff("a", "b", parent=spine.envelope("env-1"), constraints={"x": 1}).prompt())
reveal_type(spine.agent_handoff("a", "b", dry_run=True).budgets)
reveal_type(spine.tasks())
async def main() -> None:
    spine = AsyncMemorySpine()
    reveal_type(await spine.agent_handoff("a", "b"))
    reveal_type(await (await spine.envelope("env-1")).prompt())
    reveal_type(await spine.agent_handoff("a", "b", dry_run=True))
spine.agent_handoff("a", "b", include_recent="many")
spine.agent_handoff("a")
"""
    (tmp_path / "program.py").write_text(program)
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, str(tmp_path / "program.py")],
        env={**os.environ, "MYPYPATH": str(SDK)},
        stdout=subprocess.PIPE,
        text=True,
    )
    lines = run.stdout.splitlines()
    revealed = [line.partition('"')[2].rstrip('"') for line in lines if "Revealed type" in line]
    assert [name.replace("builtins.", "") for name in revealed] == [
        "memory_spine.handoff.SyncEnvelope",
        "str",
        "list[memory_spine.envelope.Budget]",
        "memory_spine.method.Pages[memory_spine.models.TaskEntry]",
        "memory_spine.handoff.AsyncEnvelope",
        "str",
        "memory_spine.envelope.DryRun",
    ], run.stdout
    assert len({line.split(":")[1] for line in lines if "error:" in line}) == 2, run.stdout


def test_a_type_checker_knows_what_delivery_returns(tmp_path):
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    program = """
from memory_spine import AsyncMemorySpine, HandoffClient, MemorySpine, ReceivedHandoff, idempotent
spine = MemorySpine()
reveal_type(spine.deliver_handoff("env-1", timeout=3))
reveal_type(spine.send({"task_summary": "x"}, "a", priority=3))
reveal_type(spine.agent("a").receive()[0].hand_on("b", "c", result=1))
reveal_type(spine.agent("a").run(lambda work: None, limit=1, concurrency=2))
reveal_type(spine.parked())
reveal_type(spine.redrive_many(spine.parked(to="a"), dry_run=True).done[0].to)
reveal_type(spine.queue("a"))
for handoff in spine.agent("a").inbox():
    reveal_type(handoff.envelope)
reveal_type(spine.get_channel("x").join("env-1"))
reveal_type(HandoffClient(spine).send_handoff("env-1", "b"))
@idempotent
def one(handoff: ReceivedHandoff) -> int:
    return 1
@idempotent(path="x.db")
def two(handoff: ReceivedHandoff) -> int:
    return 1
spine.agent("a").run(one)
spine.agent("a").run(two)
async def main() -> None:
    spine = AsyncMemorySpine()
    reveal_type(await spine.deliver_handoff("env-1"))
    async for handoff in spine.agent("a").inbox():
        reveal_type(handoff)
spine.deliver_handoff("env-1", timeout="soon")
spine.send()
"""
    (tmp_path / "program.py").write_text(program)
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, str(tmp_path / "program.py")],
        env={**os.environ, "MYPYPATH": str(SDK)},
        stdout=subprocess.PIPE,
        text=True,
    )
    lines = run.stdout.splitlines()
    assert [line.partition('"')[2].rstrip('"') for line in lines if "Revealed type" in line] == [
        "memory_spine.delivery.Ack",
        "memory_spine.delivery.Delivery",
        "memory_spine.delivery.Delivery",
        "builtins.int",
        "memory_spine.method.Pages[memory_spine.delivery.Parked]",
        "builtins.str",
        "memory_spine.method.Pages[memory_spine.board.QueueEntry]",
        "memory_spine.handoff.SyncEnvelope",
        "memory_spine.delivery.Join",
        "memory_spine.delivery.Ack",
        "memory_spine.delivery.Ack",
        "memory_spine.received.AsyncReceivedHandoff",
    ], run.stdout
    assert len({line.split(":")[1] for line in lines if "error:" in line}) == 2, run.stdout


def build(hook, folder):
    code = f"import sys; sys.path.insert(0, 'build_backend'); import backend; print(backend.{hook}(sys.argv[1]))"
    run = subprocess.run(
        [sys.executable, "-B", "-c", code, str(folder)],
        cwd=SDK,
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    return folder / run.stdout.strip()


def test_a_wheel_holds_the_whole_package_and_works(tmp_path):
    wheel = build("build_wheel", tmp_path)
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {f"memory_spine/{path.name}" for path in SOURCES[:-1]} | {"memory_spine/py.typed"} <= names
    assert not any("test" in name for name in names)
    code = "import memory_spine; print(memory_spine.__version__, memory_spine.__file__)"
    environment = {**os.environ, "PYTHONPATH": str(wheel)}
    run = subprocess.run(
        [sys.executable, "-B", "-c", code],
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    version, _, path = run.stdout.strip().partition(" ")
    assert version == memory_spine.__version__
    assert path.startswith(str(wheel))


def test_the_same_sources_make_the_same_wheel(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert build("build_wheel", tmp_path / "a").read_bytes() == build("build_wheel", tmp_path / "b").read_bytes()


def test_a_source_archive_can_be_built_from(tmp_path):
    with tarfile.open(build("build_sdist", tmp_path)) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "build_backend/backend.py", "memory_spine/client.py", "PKG-INFO"} <= names


@pytest.mark.parametrize("editable", [False, True], ids=["plain", "editable"])
def test_pip_installs_it_without_a_network(tmp_path, editable):
    if importlib.util.find_spec("pip") is None:
        pytest.skip("pip is not installed")
    # --no-index and isolation together: nothing may be fetched, not even a build tool.
    command = [sys.executable, "-B", "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    target = ["--prefix", str(tmp_path), "--ignore-installed", "--break-system-packages"]
    if editable:
        target += ["--editable"]
    if (
        "--break-system-packages"
        not in subprocess.run(
            [sys.executable, "-m", "pip", "install", "--help"], stdout=subprocess.PIPE, text=True
        ).stdout
    ):
        target.remove("--break-system-packages")
    run = subprocess.run([*command, *target, str(SDK)], env=environment, stderr=subprocess.PIPE, text=True)
    assert run.returncode == 0, run.stderr
    installed = {path.name for path in tmp_path.rglob("*memory_spine*")}
    assert f"memory_spine-{memory_spine.__version__}.dist-info" in installed
    assert ("_memory_spine.pth" if editable else "memory_spine") in installed
