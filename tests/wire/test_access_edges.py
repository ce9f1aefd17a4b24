"""Keys at their edges: where they are told, what they may be called and be, whose leases and sessions are whose, and what
the server and the command line say before there is one."""

import subprocess

import pytest

from cli import Cli, USAGE
from keys import Keyed
from mcp import LEGACY, Stream
import stores
from server import Server, binary, clean_environment
from test_access import hand_over, receive
from test_access_matrix import KeyedMcp


@pytest.fixture(scope="module")
def keyed(tmp_path_factory):
    running = Keyed(tmp_path_factory.mktemp("keyed") / "data")
    yield running
    assert running.server.terminate() == 0, running.server.log_tail()


def audit(keyed, space, key=None):
    answer = keyed.ask("GET", "/v1/audit?page_size=1000", key=key or keyed.root, headers={"Spine-Space": space})
    assert answer.status == 200, answer
    return answer.json["entries"]


# --- Where keys are told ---


def test_what_happens_to_a_key_is_told_in_its_own_space_also_where_that_is_not_there_yet(keyed):
    made = keyed.make(keyed.root, name="of the tenant", space="tenant-9")
    keyed.ask("POST", f"/v1/keys/{made['id']}/rotate", {}, keyed.root)
    keyed.ask("POST", f"/v1/keys/{made['id']}/revoke", {}, keyed.root)
    assert "of the tenant" not in str(audit(keyed, "default"))
    told = [entry["action"] for entry in audit(keyed, "tenant-9") if entry["object"] == made["id"]]
    assert sorted(told) == ["key.create", "key.revoke", "key.rotate"]


def test_a_key_that_is_made_in_the_data_directory_is_told_in_its_own_space(tmp_path):
    own = Keyed(tmp_path / "data")
    assert own.server.terminate() == 0
    spine = Cli(tmp_path)
    assert spine("key", "create", "of a tenant", "--space", "tenant-3", *stores.where(own.server.data)).code == 0
    own.server = Server(own.server.data).wait_until_ready()
    assert "of a tenant" not in str(audit(own, "default")) and "of a tenant" in str(audit(own, "tenant-3"))
    assert own.server.terminate() == 0


# --- Who did it ---


def test_the_audit_tells_keys_apart_that_are_called_the_same(keyed):
    one, two = (keyed.make(keyed.root, name="twin", space="twins", scopes=["admin"]) for _ in range(2))
    for made in (one, two):
        assert keyed.ask("POST", "/v1/memories", {"content": made["id"]}, made["key"]).status == 201
    actors = [entry["actor"] for entry in audit(keyed, "twins") if entry["action"] == "memory.store"]
    assert sorted(actors) == sorted([f"{one['id']} twin", f"{two['id']} twin"])
    third = keyed.make(one["key"], name="third")
    assert third["created_by"] == f"{one['id']} twin"


@pytest.mark.parametrize("name", ["a\u202eb", "a\u200bb", "a\u2066b", "\u200e", "a\u2028b", "a\u00adb", "a\nb", "a\u0085b", " \u3000"])
def test_a_name_of_a_key_hides_nothing(keyed, tmp_path, name):
    keyed.refused(422, "invalid_field", "POST", "/v1/keys", {"name": name}, key=keyed.root, field="name")
    result = Cli(tmp_path)("key", "create", name, *stores.where(tmp_path / "data"))
    assert result.code != 0 and "name" in result.err


@pytest.mark.parametrize("name", ["Zoë", "کلید", "ключ 7", "鍵"])
def test_a_name_of_a_key_may_be_of_any_script(keyed, name):
    assert keyed.make(keyed.root, name=name)["name"] == name


def test_nobody_names_himself_as_the_audit_names_a_key(keyed):
    admin = keyed.key(name="ops", space="imitation", scopes=["admin"])
    for headers, body in (({"Spine-Agent": "key-1 root"}, {"content": "x"}), ({}, {"content": "x", "agent": "key-1 root"}),
                          ({"Spine-Agent": "key-1"}, {"content": "x"})):
        keyed.refused(422, "invalid_field", "POST", "/v1/memories", body, key=admin, headers=headers)
    for person in ("key-1 root", "Ada (key-1 root)", "Ada (key root)"):
        keyed.refused(422, "invalid_field", "POST", "/v1/tasks/t/waive", {"key": "k", "reason": "x"}, key=admin,
                      headers={"Spine-Person": person}, field="Spine-Person")
    assert keyed.ask("POST", "/v1/memories", {"content": "x"}, admin, {"Spine-Agent": "key-keeper"}).status == 201


# --- What a key may be ---


def test_a_key_that_is_bound_to_an_agent_cannot_be_admin(keyed, tmp_path):
    said = keyed.refused(422, "invalid_field", "POST", "/v1/keys", {"name": "x", "agent": "ann", "scopes": ["admin"]},
                         key=keyed.root, field="scopes")
    assert "bound to an agent cannot be admin" in said["detail"]
    spine = Cli(tmp_path)
    assert spine("key", "create", "root", *stores.where(tmp_path / "data")).code == 0
    result = spine("key", "create", "x", "--agent", "ann", "--scope", "admin", *stores.where(tmp_path / "data"))
    assert result.code != 0 and "bound to an agent cannot be admin" in result.err


def test_a_bound_admin_of_before_keeps_what_it_has(tmp_path):
    own = Keyed(tmp_path / "data")
    bound = own.bound_admin(space="team", agent="ann")
    assert own.ask("GET", "/v1/session", key=bound).json["key"]["scopes"] == ["admin"]
    assert own.ask("GET", "/v1/keys", key=bound).status == 200
    assert own.server.terminate() == 0


def test_an_administrator_ends_a_key_that_is_trusted_more_but_gets_none(keyed):
    """Whoever sees that a key was stolen can end it."""
    strong = keyed.make(keyed.root, name="strong", space="ends", scopes=["admin"], trust="user")
    weak = keyed.key(space="ends", scopes=["admin"], trust="external")
    keyed.refused(403, "forbidden", "POST", f"/v1/keys/{strong['id']}/rotate", {}, weak, field="trust")
    assert keyed.ask("POST", f"/v1/keys/{strong['id']}/revoke", {}, weak).status == 200
    keyed.refused(404, "key_not_found", "POST", "/v1/keys/key-1/revoke", {}, weak)


def test_a_rotated_secret_is_not_said_to_outlive_its_key(keyed):
    made = keyed.make(keyed.root, name="short", ttl_s=3600)
    rotated = keyed.ask("POST", f"/v1/keys/{made['id']}/rotate", {"grace_s": 86400}, keyed.root).json
    assert rotated["rotated_until"] == rotated["expires_at"] == made["expires_at"]
    sooner = keyed.ask("POST", f"/v1/keys/{made['id']}/rotate", {"grace_s": 60}, keyed.root).json
    assert sooner["rotated_until"] < made["expires_at"]


# --- Leases ---


def test_a_lease_of_another_agent_among_those_to_settle_is_refused_by_itself(keyed):
    space = "settling"
    bob, mal = keyed.key(space=space, agent="bob"), keyed.key(space=space, agent="mal")
    hand_over(keyed, space)
    hand_over(keyed, space, to="mal")
    bobs, mals = receive(keyed, "bob", bob)[0], receive(keyed, "mal", mal)[0]
    answer = keyed.ask("POST", "/v1/agents/mal/receive", {"settle": [
        {"id": bobs["id"], "lease": bobs["lease"], "verb": "complete"},
        {"id": mals["id"], "lease": mals["lease"], "verb": "complete"}]}, mal)
    assert answer.status == 200, answer
    theirs, own = answer.json["settled"]
    assert theirs["problem"]["code"] == "forbidden" and own["handoff"]["state"] == "completed", answer
    states = [keyed.ask("GET", f"/v1/handoffs/{work['id']}", key=key).json["state"] for work, key in ((bobs, bob), (mals, mal))]
    assert states[0] != "completed" and states[1] == "completed"


def in_many_states(keyed, space):
    """Handoffs of ann's to bob, whose envelopes name ms-1, with the leases that bob has or could have."""
    def send():
        body = {"envelope": {"target_agent": "bob", "task_summary": "work", "refs": ["ms-1"], "include_recent": 0}}
        return keyed.ask("POST", "/v1/handoffs", body, keyed.key(space=space, agent="ann")).json["id"]

    bob = keyed.key(space=space, agent="bob")
    for _ in range(2):
        assert keyed.ask("POST", "/v1/memories", {"content": "a memory"}, bob).status == 201
    ids = [send() for _ in range(4)]
    for verb in (None, "ack", "complete"):
        work = receive(keyed, "bob", bob)[0]
        if verb:
            assert keyed.ask("POST", f"/v1/handoffs/{work['id']}/{verb}", {"lease": work["lease"]}, bob).status == 200
    return [(one, f"{one}.{number}") for one in ids for number in (1, 2, 9)]


THENS = [{"envelope": {"target_agent": "cid", "task_summary": "x"}}, {"envelope_id": "env-1"}, {"envelope_id": "env-77"},
         {"envelope": {"target_agent": "cid", "task_summary": "x", "task": "task-1"}}]


@pytest.mark.parametrize("scopes", [["receive"], ["read", "write", "receive"]], ids=str)
def test_what_is_with_another_is_refused_before_anything_else_is_looked_at(keyed, scopes):
    space = f"settle-{len(scopes)}"
    leases = in_many_states(keyed, space)
    key = keyed.key(space=space, agent="mal", scopes=scopes)
    client = KeyedMcp(keyed, key, agent="mal", version=LEGACY)

    def words(detail, handoff):
        assert f'{handoff} is not with "mal"' in detail, detail

    for handoff, lease in leases:
        for refs in (["ms-1"], ["ms-2"], ["ms-777"], ["ms-1@7"]):
            answer = keyed.refused(403, "forbidden", "POST", f"/v1/handoffs/{handoff}/need", {"lease": lease, "refs": refs}, key, field="id")
            words(answer["detail"], handoff)
        for then in THENS if "write" in scopes else []:
            for verb in ("ack", "complete"):
                body = {"lease": lease, "then": then}
                words(keyed.refused(403, "forbidden", "POST", f"/v1/handoffs/{handoff}/{verb}", body, key, field="id")["detail"], handoff)
                item = {"id": handoff, "verb": verb, **body}
                (settled,) = keyed.ask("POST", "/v1/agents/mal/receive", {"settle": [item]}, key).json["settled"]
                assert settled["problem"]["code"] == "forbidden", settled
                words(settled["problem"]["detail"], handoff)
            words(client.tool_error("handoff_settle", id=handoff, verb="complete", lease=lease, then=then), handoff)


def test_a_lease_that_has_ended_opens_nothing(keyed):
    """Whoever receives for no agent in particular may have any lease, and learns nothing of what goes with another."""
    leases = in_many_states(keyed, "stale")
    key = keyed.key(space="stale", scopes=["receive"])
    for handoff, lease in leases:
        if (handoff, lease[-2:]) in [("ho-1", ".1"), ("ho-2", ".1")]:
            continue
        told = {keyed.ask("POST", f"/v1/handoffs/{handoff}/need", {"lease": lease, "refs": [ref]}, key).data for ref in ("ms-1", "ms-2", "ms-777")}
        assert len(told) == 1 and b"stale_lease" in told.pop(), (handoff, lease)


# --- MCP ---


def test_a_key_of_a_space_subscribes_to_an_inbox_without_naming_the_space(keyed):
    ann = keyed.key(space="listeners", agent="ann")
    legacy = KeyedMcp(keyed, ann, version=LEGACY)
    legacy.initialize()
    assert "result" in legacy.call("resources/subscribe", {"uri": "spine://inbox/ann"}).json
    stream = Stream(KeyedMcp(keyed, ann), "subscriptions/listen", {"notifications": {"resourceSubscriptions": ["spine://inbox/ann"]}})
    stream.next()
    hand_over(keyed, "listeners", to="ann", sender="bob")
    assert stream.next()["params"]["uri"] == "spine://inbox/ann"
    stream.close()


def test_a_session_of_another_key_is_none(keyed):
    mine, other = keyed.make(keyed.root, name="mine", space="mcp", agent="ann"), keyed.key(space="mcp", agent="ann")
    first = KeyedMcp(keyed, mine["key"], version=LEGACY)
    first.initialize()
    assert first.ok("ping") == {}
    stranger = KeyedMcp(keyed, other, version=LEGACY)
    stranger.session = first.session
    stranger.refused(-32001, "ping", status=404)
    first.key = keyed.ask("POST", f"/v1/keys/{mine['id']}/rotate", {}, keyed.root).json["key"]
    assert first.ok("ping") == {}, "a new secret is the same key"


# --- Starting ---


def serve(data, *options):
    return subprocess.run([str(binary()), "serve", "--quiet", "--listen", "127.0.0.1:0", "--data", str(data),
                           *stores.options(data), *options], env=clean_environment(), capture_output=True, text=True, timeout=20)


def test_a_public_url_without_keys_is_refused_unless_insecure_is_spelled_out(tmp_path, start):
    refused = serve(tmp_path / "open", "--public-url", "https://spine.example")
    assert refused.returncode == USAGE and "keys" in refused.stderr and "--insecure" in refused.stderr, refused
    assert stores.SERVER or not (tmp_path / "open").exists()
    start("--public-url", "https://spine.example", "--insecure").wait_until_ready()
    own = Keyed(tmp_path / "data")
    assert own.server.terminate() == 0
    again = Server(own.server.data, "--public-url", "https://spine.example").wait_until_ready()
    assert again.terminate() == 0


@pytest.mark.parametrize("how", ["required", "optional"])
def test_certificates_of_clients_are_not_said_to_be_asked_for_where_none_are(tmp_path, how):
    refused = serve(tmp_path / "data", "--tls-client", how)
    assert refused.returncode == USAGE and "--tls-client-ca" in refused.stderr, refused
    assert not (tmp_path / "data").exists()


# --- The command line ---


def test_the_doctor_says_that_a_key_is_needed(keyed, tmp_path):
    result = Cli(tmp_path, SPINE_URL=keyed.server.url)("doctor", "--json")
    (only,) = result.json["findings"]
    assert only["about"] == "server" and "key" in only["do"] and "start it" not in only["do"], only
    assert "spine serve" not in only["do"]


@pytest.mark.parametrize("url", ["http://ada:hunter2@127.0.0.1:1", "http://hunter2@127.0.0.1:1", "ada:hunter2@127.0.0.1:1"])
@pytest.mark.parametrize("command", [["status"], ["doctor"], ["store", "x"], ["list"], ["setup", "claude-code"], ["mcp"]])
def test_a_password_in_the_address_is_not_said_again(tmp_path, url, command):
    result = Cli(tmp_path)(*command, "--url", url)
    assert result.code != 0 and "hunter2" not in result.out + result.err, result
