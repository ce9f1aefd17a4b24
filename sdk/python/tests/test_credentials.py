"""Keys and certificates: where they come from, that they go nowhere else, and what is said where they do not do."""

import logging
import ssl
import threading

import pytest
from certificates import Authority
from peer import Peer, answering
from server import Server

from memory_spine import Forbidden, MemorySpine, SpineError, TlsError, Unauthorized

KEY = "spk_7_" + "Ab1-_" * 8 + "xyz"


def refusing(status, code):
    def serve(channel):
        while channel.read():
            problem = {"status": status, "code": code, "detail": f"as told: {code}", "field": "space"}
            channel.reply(status, problem, 'WWW-Authenticate: Bearer realm="memory-spine"')

    return serve


def key_file(tmp_path, text=KEY + "\n", mode=0o600):
    path = tmp_path / "key"
    path.write_text(text)
    path.chmod(mode)
    return path


# --- Where the key comes from --------------------------------------------------------------------


def sent(peer):
    return {headers.get("authorization") for _, _, headers, _ in peer.requests}


def test_without_a_key_none_is_sent(connect):
    with Peer(answering) as peer:
        connect(peer.url).get("ms-1")
    assert sent(peer) == {None}


@pytest.mark.parametrize("how", ["argument", "file", "environment", "environment file"])
def test_a_key_goes_with_every_request(connect, tmp_path, monkeypatch, how):
    more = {}
    if how == "argument":
        more = {"key": KEY}
    elif how == "file":
        more = {"key_file": key_file(tmp_path)}
    elif how == "environment":
        monkeypatch.setenv("SPINE_KEY", KEY)
        monkeypatch.setenv("SPINE_KEY_FILE", "/nowhere")
    else:
        monkeypatch.setenv("SPINE_KEY_FILE", str(key_file(tmp_path)))
    with Peer(answering) as peer:
        spine = connect(peer.url, **more)
        spine.get("ms-1")
        spine.store("x")
    assert sent(peer) == {f"Bearer {KEY}"}


def test_what_is_given_takes_the_place_of_the_environment(connect, tmp_path, monkeypatch):
    monkeypatch.setenv("SPINE_KEY", "spk_1_other")
    with Peer(answering) as peer:
        connect(peer.url, key_file=key_file(tmp_path)).get("ms-1")
    assert sent(peer) == {f"Bearer {KEY}"}


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_a_key_file_that_others_could_read_is_refused(tmp_path, mode):
    with pytest.raises(ValueError, match=r"can be read by others \(mode 0\d\d\d\): .* chmod 600") as raised:
        MemorySpine(key_file=key_file(tmp_path, mode=mode))
    assert KEY not in str(raised.value)


@pytest.mark.parametrize("text", ["", "\n", "two words\n", f"{KEY}\n{KEY}\n", "k" * 5000, "kéy"])
def test_a_file_without_a_key_is_an_error_and_never_no_key(tmp_path, text):
    with pytest.raises(ValueError, match="holds no key"):
        MemorySpine(key_file=key_file(tmp_path, text))


def test_a_missing_file_is_an_error_and_never_no_key(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="cannot be read: No such file"):
        MemorySpine(key_file=tmp_path / "none")
    monkeypatch.setenv("SPINE_KEY_FILE", str(tmp_path / "none"))
    with pytest.raises(ValueError, match="SPINE_KEY_FILE .* cannot be read"):
        MemorySpine()


@pytest.mark.parametrize("key", ["", "with blank", "line\nbreak", "ü"])
def test_what_is_no_key_is_refused_and_not_shown(key):
    with pytest.raises(ValueError) as raised:
        MemorySpine(key=key)
    assert not key or key not in str(raised.value)
    with pytest.raises(ValueError, match="give one of them"):
        MemorySpine(key=KEY, key_file="x")


def test_a_key_is_shown_nowhere(connect, caplog):
    caplog.set_level(logging.DEBUG)
    seen = []
    with Peer(refusing(401, "unauthorized")) as peer:
        spine = MemorySpine(peer.url, key=KEY)
        seen += [repr(spine), str(vars(spine)), repr(spine._transport._settings)]
        with pytest.raises(Unauthorized) as raised:
            spine.get("ms-1")
        seen += [repr(raised.value), str(raised.value), str(vars(raised.value))]
    with pytest.raises(SpineError) as raised:
        MemorySpine("http://127.0.0.1:1", key=KEY, retries=0).get("ms-1")
    seen += [repr(raised.value), str(raised.value), caplog.text]
    assert all(KEY not in text for text in seen)


# --- Refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("status, code, kind", [(401, "unauthorized", Unauthorized), (403, "forbidden", Forbidden)])
def test_a_refused_key_is_an_error_of_its_own_and_not_tried_again(connect, status, code, kind):
    with Peer(refusing(status, code)) as peer:
        spine = connect(peer.url, key=KEY)
        for call in (lambda: spine.get("ms-1"), lambda: spine.store("x"), lambda: next(iter(spine.events(after=0)))):
            peer.requests.clear()
            with pytest.raises(kind) as raised:
                call()
            assert (raised.value.status, raised.value.code, raised.value.field) == (status, code, "space")
            assert len(peer.requests) == 1


def test_a_receiver_whose_key_is_refused_ends_at_once(connect):
    with Peer(refusing(401, "unauthorized")) as peer:
        with pytest.raises(Unauthorized):
            connect(peer.url, key=KEY).agent("coder").run(lambda handoff: None)
    assert len(peer.requests) == 1


def test_a_redirect_is_not_followed_and_the_key_goes_nowhere_else(connect):
    with Peer(answering) as other:

        def elsewhere(channel):
            channel.read()
            channel.reply(307, {}, f"Location: {other.url}/v1/memories/ms-1")

        with Peer(elsewhere) as peer:
            with pytest.raises(SpineError) as raised:
                connect(peer.url, key=KEY).get("ms-1")
    assert raised.value.code == "invalid_response"
    assert other.requests == [] and len(peer.requests) == 1


# --- Certificates --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    made = Authority(tmp_path_factory.mktemp("authority"))
    made.sign("server", "IP:127.0.0.1,DNS:localhost")
    made.sign("elsewhere", "DNS:elsewhere.example")
    made.sign("client", "DNS:client")
    return made


@pytest.fixture(scope="module")
def stranger(tmp_path_factory):
    made = Authority(tmp_path_factory.mktemp("stranger"))
    made.sign("client", "DNS:client")
    return made


@pytest.fixture(scope="module")
def secure(tmp_path_factory, authority):
    """Starts a real server with a certificate; the same again for the same options."""
    running = {}

    def start(*options):
        if options not in running:
            data = tmp_path_factory.mktemp("secure") / "data"
            running[options] = Server(data, *authority.serving(*options)).wait_until_ready()
        return running[options]

    yield start
    for one in running.values():
        assert one.terminate() == 0, one.log_tail()


def test_a_server_of_an_authority_of_ones_own_is_spoken_to(connect, secure, authority, monkeypatch):
    server = secure("server")
    assert server.url.startswith("https://")
    spine = connect(server.url, ca_file=authority.path("ca.pem"))
    memory = spine.store("x" * 200_000)
    assert len(spine.get(memory.id).content) == 200_000
    spine.send(spine.agent_handoff("coder", "go"))
    assert next(iter(spine.events(after=0))).event == "memory.stored"
    monkeypatch.setenv("SPINE_CA_FILE", authority.path("ca.pem"))
    assert connect(server.url.replace("127.0.0.1", "localhost")).get(memory.id).id == memory.id


def test_what_waits_over_tls_can_be_stopped(secure, authority):
    spine = MemorySpine(secure("server").url, space="stopped", ca_file=authority.path("ca.pem"))
    agent = spine.agent("idle")
    done = []
    thread = threading.Thread(target=lambda: done.append(agent.run(lambda handoff: None)), daemon=True)
    thread.start()
    while not any(one.name == "idle" for one in spine.agents()):
        assert thread.is_alive()  # it is known from when it has asked for work
    agent.stop()
    thread.join(20)
    assert done == [0]


def refused(connect, caplog, url, **more):
    """The error; that it is not tried again is seen from the time: none of it is waited for."""
    spine = connect(url, timeout=60, **more)
    for call in (lambda: spine.get("ms-1"), lambda: spine.agent("a").run(print), lambda: next(iter(spine.events()))):
        with pytest.raises(TlsError) as raised:
            call()
        assert (raised.value.code, raised.value.status, raised.value.retryable) == ("tls_failed", None, False)
    assert "trying again" not in caplog.text
    return str(raised.value)


def test_an_unknown_authority_is_refused_with_what_to_do(connect, secure, stranger, caplog):
    for more in ({}, {"ca_file": stranger.path("ca.pem")}):
        text = refused(connect, caplog, secure("server").url, key=KEY, **more)
        assert "not from an authority that is trusted here" in text and "SPINE_CA_FILE" in text and KEY not in text


def test_the_certificate_of_another_host_is_refused_with_what_to_do(connect, secure, authority, caplog):
    text = refused(connect, caplog, secure("elsewhere").url, ca_file=authority.path("ca.pem"))
    assert "its certificate is not for '127.0.0.1'" in text and "use the name that the certificate has" in text


def test_a_client_certificate_is_shown_where_it_is_asked_for(connect, secure, authority, stranger, caplog):
    url = secure("server", "--tls-client-ca", authority.path("ca.pem")).url
    ca = authority.path("ca.pem")
    mine = {"cert_file": authority.path("client.pem"), "cert_key_file": authority.path("client.key")}
    assert connect(url, ca_file=ca, **mine).store("x").id
    assert "asks for a client certificate" in refused(connect, caplog, url, ca_file=ca)
    theirs = {"cert_file": stranger.path("client.pem"), "cert_key_file": stranger.path("client.key")}
    assert "SPINE_CERT_FILE" in refused(connect, caplog, url, ca_file=ca, **theirs)


def test_a_plain_server_is_told_from_a_secure_one(connect, server, caplog):
    text = refused(connect, caplog, server.url.replace("http:", "https:"))
    assert "does not speak TLS" in text and "is it http://" in text


def test_files_that_cannot_be_used_are_refused_at_once(authority, tmp_path):
    empty = tmp_path / "empty.pem"
    empty.write_text("")
    url = "https://127.0.0.1:1"
    for more in (
        {"ca_file": "/nowhere"},
        {"ca_file": empty},
        {"cert_file": authority.path("client.pem"), "cert_key_file": authority.path("server.key")},
        {"cert_file": empty},
        {"cert_key_file": authority.path("client.key")},
    ):
        with pytest.raises(ValueError, match="_file"):
            MemorySpine(url, **more)
    # Nothing is secured there, so that nothing is looked at.
    MemorySpine("http://127.0.0.1:1", ca_file="/nowhere")


def test_old_versions_of_tls_are_not_spoken(authority):
    spine = MemorySpine("https://127.0.0.1:1", ca_file=authority.path("ca.pem"))
    context = spine._transport._settings.tls
    assert context.minimum_version == ssl.TLSVersion.TLSv1_2
    assert context.verify_mode == ssl.CERT_REQUIRED and context.check_hostname


# --- Keys on the real server ---------------------------------------------------------------------


@pytest.fixture
def locked(start_server):
    """A server that asks for keys, and the first of them."""
    server = start_server()
    with MemorySpine(server.url) as spine:
        assert spine.session().mode == "open"
        return server, spine.create_key("operator", space="*", scopes="admin")


def test_keys_are_made_listed_rotated_and_revoked(connect, locked):
    server, first = locked
    admin = connect(server.url, key=first.secret)
    assert (first.id, first.scopes, first.space, first.status) == ("key-1", ("admin",), "*", "valid")
    made = admin.create_key("pipeline", space="team", agent="coder", scopes=["read", "write"], ttl_s=3600)
    assert made.secret not in repr(made) and made.agent == "coder" and made.expires_at > made.created_at
    assert [one.id for one in admin.keys(page_size=1)] == ["key-1", "key-2"]
    assert admin.key("key-2").name == "pipeline"
    me = connect(server.url, key=made.secret).session()
    assert (me.mode, me.key.id, me.key.space, me.key.agent) == ("keys", "key-2", "team", "coder")
    again = admin.rotate_key("key-2", grace_s=0)
    assert again.secret != made.secret
    with pytest.raises(Unauthorized):
        connect(server.url, key=made.secret).store("x")
    assert connect(server.url, key=again.secret).store("x").agent == "coder"
    assert admin.revoke_key("key-2", reason="a test").status == "revoked"
    with pytest.raises(Unauthorized):
        connect(server.url, key=again.secret).store("x")


def test_what_a_key_may_not_do_is_told(connect, locked):
    server, first = locked
    with pytest.raises(Unauthorized):
        connect(server.url).store("x")
    assert connect(server.url).session().key is None
    reader = connect(server.url, key=first.secret).create_key("reader", space="team", scopes=["read"])
    spine = connect(server.url, key=reader.secret)
    for call, said in [
        (lambda: spine.store("x"), "write"),
        (lambda: list(spine.keys()), "admin"),
        (lambda: connect(server.url, key=reader.secret, space="other").search("x"), "team"),
    ]:
        with pytest.raises(Forbidden, match=said):
            call()


def test_a_stream_whose_key_is_revoked_ends_with_the_refusal(locked):
    server, first = locked
    admin = MemorySpine(server.url, key=first.secret, space="team")
    one = admin.create_key("short", space="team", scopes=["read"])
    admin.store("seen")
    events = iter(MemorySpine(server.url, key=one.secret).events(after=0))
    next(events)
    admin.revoke_key(one.id)
    with pytest.raises(Unauthorized):
        for _ in events:
            pass


def test_a_secret_is_not_made_twice_where_its_answer_is_lost(connect):
    def lose(channel):
        channel.read()

    with Peer(lose, lose) as peer:
        with pytest.raises(SpineError) as raised:
            connect(peer.url, timeout=5).create_key("x")
    assert raised.value.code == "connection_lost" and len(peer.requests) == 1
