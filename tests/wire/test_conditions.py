"""Idempotency-Key and If-Match: the same request twice, and two people at once."""

import threading

import pytest
from api import Api, wait_until
from database import connect as open_database
import stores


def keyed(key):
    return {"Idempotency-Key": key}


# --- Idempotency-Key -------------------------------------------------------------------------------


def test_the_same_key_with_the_same_request_gets_the_first_answer_again(api):
    body = {"content": "a", "unknown": 1}
    first = api.call("POST", "/v1/memories", body, keyed("k"))
    assert first.status == 201 and "Idempotent-Replayed" not in first.headers
    api.patch("ms-1", content="changed since")
    again = api.call("POST", "/v1/memories", body, keyed("k"))
    assert again.status == 201
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.data == first.data
    for name in ("ETag", "Location", "Content-Type"):
        assert again.headers[name] == first.headers[name]
    assert api.count() == 1


def test_a_batch_is_replayed_whole(api):
    body = {"memories": [{"content": str(i)} for i in range(20)]}
    first = api.call("POST", "/v1/memories/batch", body, keyed("k"))
    again = api.call("POST", "/v1/memories/batch", body, keyed("k"))
    assert (again.status, again.data, again.headers["Idempotent-Replayed"]) == (201, first.data, "true")
    assert api.count() == 20


@pytest.mark.parametrize("path, body, headers", [
    ("/v1/memories", {"content": "b"}, {}),
    ("/v1/memories", {"content": "a", "pinned": True}, {}),
    ("/v1/memories/batch", {"memories": [{"content": "a"}]}, {}),
    ("/v1/memories", {"content": "a"}, {"Spine-Agent": "somebody"}),
])
def test_a_key_that_was_used_for_another_request_is_refused(api, path, body, headers):
    api.ok("POST", "/v1/memories", {"content": "a"}, keyed("k"), 201)
    api.refused(422, "idempotency_conflict", "POST", path, body, {**keyed("k"), **headers}, field="Idempotency-Key")
    assert api.count() == 1


def test_refusals_are_not_kept(api):
    api.refused(422, "invalid_field", "POST", "/v1/memories", {"content": ""}, keyed("k"))
    api.refused(404, "memory_not_found", "POST", "/v1/memories", {"content": "a", "supersedes": "ms-1"}, keyed("k"))
    assert api.call("POST", "/v1/memories", {"content": "a"}, keyed("k")).status == 201
    assert api.count() == 1


def test_a_request_that_was_refused_may_succeed_later_with_its_key(api):
    body = {"content": "b", "supersedes": "ms-1"}
    api.refused(404, "memory_not_found", "POST", "/v1/memories", body, keyed("k"))
    api.store("a")
    answer = api.call("POST", "/v1/memories", body, keyed("k"))
    assert answer.status == 201 and "Idempotent-Replayed" not in answer.headers


def test_a_key_belongs_to_its_space(api, connect):
    other = connect()
    api.ok("POST", "/v1/memories", {"content": "a"}, keyed("k"), 201)
    answer = other.call("POST", "/v1/memories", {"content": "b"}, keyed("k"))
    assert answer.status == 201 and "Idempotent-Replayed" not in answer.headers
    assert other.get("ms-1")["content"] == "b"


def test_a_refused_request_with_a_key_leaves_no_space_behind(api):
    api.refused(404, "memory_not_found", "POST", "/v1/memories", {"content": "a", "supersedes": "ms-1"}, keyed("k"))
    assert api.store()["id"] == "ms-1"


@pytest.mark.parametrize("key", ["", "k" * 256, "a b", "é", "a\tb"])
def test_a_key_is_1_to_255_visible_ascii_characters(api, key):
    answer = api.call("POST", "/v1/memories", {"content": "a"}, {"Idempotency-Key": key.encode("latin-1")})
    assert answer.status in (400, 422), answer
    if answer.status == 422:
        assert answer.json["field"] == "Idempotency-Key"
    assert api.count() == 0


def test_a_key_of_255_characters_is_taken(api):
    key = "".join(chr(33 + i % 94) for i in range(255))
    api.ok("POST", "/v1/memories", {"content": "a"}, keyed(key), 201)
    assert api.call("POST", "/v1/memories", {"content": "a"}, keyed(key)).headers["Idempotent-Replayed"] == "true"
    api.refused(422, "idempotency_conflict", "POST", "/v1/memories", {"content": "b"}, keyed(key))


def test_the_same_key_at_the_same_time_stores_once(server, api):
    body, answers = {"content": "once"}, []
    barrier = threading.Barrier(16)

    def run():
        mine = Api(server.address, api.space)
        barrier.wait()
        answers.append(mine.call("POST", "/v1/memories", body, keyed("at-once")))
        mine.close()

    threads = [threading.Thread(target=run) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.status for answer in answers] == [201] * 16
    assert len({answer.data for answer in answers}) == 1
    assert sum("Idempotent-Replayed" not in answer.headers for answer in answers) == 1
    assert api.count() == 1


def test_what_was_forgotten_does_not_come_back_with_its_key(server, api):
    body = {"content": "zqsecret content", "tags": ["zqsecret"]}
    api.ok("POST", "/v1/memories", body, keyed("k"), 201)
    batch = {"memories": [{"content": "one"}, {"content": "zqsecret two"}]}
    api.ok("POST", "/v1/memories/batch", batch, keyed("b"), 201)
    api.forget("ms-1")
    api.forget("ms-3")
    problem = api.refused(409, "memory_forgotten", "POST", "/v1/memories", body, keyed("k"), field="Idempotency-Key")
    assert "/v1/memories/ms-1" in problem["detail"]
    api.refused(409, "memory_forgotten", "POST", "/v1/memories/batch", batch, keyed("b"))
    assert api.count() == 1
    for name in () if stores.SERVER else ("spine.db", "spine.db-wal"):
        assert b"zqsecret" not in (server.data / name).read_bytes(), name


def test_answers_are_kept_over_a_restart_and_for_24_hours(start):
    server = start().wait_until_ready()
    api = Api(server.address)
    body = {"content": "a"}
    first = api.call("POST", "/v1/memories", body, keyed("k"))
    assert server.terminate() == 0
    for hours, replayed in ((23, True), (25, False)):
        database = open_database(server.data / "spine.db")
        with database:
            database.execute("UPDATE reply SET at = (SELECT max(created_at) FROM memory) - ?", (hours * 3600 * 1000,))
        database.close()
        server = start(data=server.data).wait_until_ready()
        api = Api(server.address)
        again = api.call("POST", "/v1/memories", body, keyed("k"))
        assert again.status == 201
        assert (again.headers.get("Idempotent-Replayed") == "true") is replayed
        assert (again.data == first.data) is replayed
        assert api.count() == (1 if replayed else 2)
        # From then on it is the new answer that is kept.
        assert api.call("POST", "/v1/memories", body, keyed("k")).data == again.data
        assert server.terminate() == 0


def test_an_answer_is_kept_no_longer_than_its_time(start):
    server = start("--idempotency-ttl", "1s").wait_until_ready()
    api = Api(server.address)
    api.ok("POST", "/v1/memories", {"content": "a"}, keyed("k"), 201)
    # From some moment on the same request is a new one, and another request may have the key.
    wait_until(lambda: "Idempotent-Replayed" not in api.call("POST", "/v1/memories", {"content": "a"},
                                                             keyed("k")).headers, "the answer is forgotten")
    assert api.count() == 2
    wait_until(lambda: api.call("POST", "/v1/memories", {"content": "b"}, keyed("k")).status == 201, "the key is free")
    assert server.terminate() == 0


def test_old_answers_are_removed(start):
    server = start("--idempotency-ttl", "1s").wait_until_ready()
    api = Api(server.address)
    for number in range(20):
        api.ok("POST", "/v1/memories", {"content": "a"}, keyed(str(number)), 201)
    assert server.terminate() == 0
    database = open_database(server.data / "spine.db")
    with database:
        database.execute("UPDATE reply SET at = at - 2000")
    database.close()
    server = start("--idempotency-ttl", "1s", data=server.data).wait_until_ready()
    Api(server.address).ok("POST", "/v1/memories", {"content": "a"}, keyed("new"), 201)
    assert server.terminate() == 0
    database = open_database(server.data / "spine.db")
    assert database.execute("SELECT key FROM reply").fetchall() == [("new",)]
    assert database.execute("SELECT count(*) FROM reply_memory").fetchone() == (1,)
    database.close()


# --- If-Match, ETag --------------------------------------------------------------------------------

CHANGES = [("PATCH", "", {"content": "b"}), ("DELETE", "", None), ("POST", "/pin", None), ("POST", "/unpin", None),
           ("POST", "/revert", {"version": 1})]


@pytest.mark.parametrize("method, path, body", CHANGES)
def test_if_match_lets_a_change_through_where_the_version_is_still_that(api, method, path, body):
    api.store("a")
    tag = api.call("GET", "/v1/memories/ms-1").headers["ETag"]
    assert api.call(method, f"/v1/memories/ms-1{path}", body, {"If-Match": tag}).status == 200


@pytest.mark.parametrize("method, path, body", CHANGES)
def test_where_the_memory_has_moved_on_it_is_412_with_the_current_version(api, method, path, body):
    api.store("a")
    api.patch("ms-1", content="moved on")
    before = api.get("ms-1")
    for tag in ('"ms-1@1"', '"ms-1@3"'):
        problem = api.refused(412, "precondition_failed", method, f"/v1/memories/ms-1{path}", body, {"If-Match": tag})
        assert problem["current_version"] == 2
    assert api.get("ms-1") == before


@pytest.mark.parametrize("tag", ["ms-1@1", '"ms-1"', '"ms-1@0"', '""', '"', 'W/"ms-1@1"', '"ms-2@1"',
                                 '"ms-1@1", "ms-1@2"', '"ms-1@x"'])
def test_an_if_match_that_is_no_etag_of_the_memory_is_refused(api, tag):
    api.store("a")
    api.refused(422, "invalid_field", "PATCH", "/v1/memories/ms-1", {"content": "b"}, {"If-Match": tag},
                field="If-Match")
    assert api.get("ms-1")["version"] == 1


def test_if_match_star_is_any_version(api):
    api.store("a")
    assert api.patch("ms-1", {"If-Match": "*"}, content="b")["version"] == 2


def test_if_match_of_an_unknown_memory_is_404(api):
    api.store("a")
    api.refused(404, "memory_not_found", "PATCH", "/v1/memories/ms-2", {"content": "b"}, {"If-Match": '"ms-2@1"'})


def test_pinning_does_not_change_the_etag(api):
    tag = api.call("POST", "/v1/memories", {"content": "a"}).headers["ETag"]
    assert api.call("POST", "/v1/memories/ms-1/pin").headers["ETag"] == tag
    assert api.call("POST", "/v1/memories/ms-1/unpin", None, {"If-Match": tag}).status == 200


AGENT = "/v1/agents/coder"


def test_an_agent_is_known_by_its_etag(api):
    made = api.call("PUT", AGENT, {"max_tokens": 500})
    tag = made.headers["ETag"]
    assert tag[0] == tag[-1] == '"' and len(tag) > 10
    assert api.call("GET", AGENT).headers["ETag"] == tag
    assert api.call("HEAD", AGENT).headers["ETag"] == tag
    changed = api.call("PUT", AGENT, {"max_tokens": 501}, {"If-Match": tag})
    assert changed.status == 200 and changed.headers["ETag"] not in (tag, None)
    assert api.call("GET", AGENT).headers["ETag"] == changed.headers["ETag"]


def test_settings_as_deep_as_a_request_may_be_keep_their_etag(api):
    deep = b'{"max_tokens":500,"more":' + b"[" * 60 + b"]" * 60 + b"}"
    tag = api.call("PUT", AGENT, deep).headers["ETag"]
    answer = api.call("GET", AGENT)
    assert answer.headers["ETag"] == tag and answer.json["max_tokens"] == 500


def test_an_agent_that_was_registered_anew_is_412_and_stays(api):
    old = api.call("PUT", AGENT, {"max_tokens": 500}).headers["ETag"]
    now = api.call("PUT", AGENT, {"max_tokens": 501})
    for tag in (old, '"0"', '""'):
        api.refused(412, "precondition_failed", "PUT", AGENT, {"max_tokens": 502}, {"If-Match": tag})
    assert api.call("GET", AGENT).data == now.data
    # The same settings again are another registration.
    again = api.call("PUT", AGENT, {"max_tokens": 501}, {"If-Match": "*"})
    assert again.status == 200


def test_an_agent_that_nobody_registered_meets_no_condition(api):
    for tag in ("*", '"0"'):
        api.refused(412, "precondition_failed", "PUT", AGENT, {}, {"If-Match": tag})
    api.refused(404, "agent_not_found", "GET", AGENT)


@pytest.mark.parametrize("tag", ["0", '"', 'W/"0"', "", '"0'])
def test_an_if_match_that_is_no_etag_of_an_agent_is_refused(api, tag):
    before = api.call("PUT", AGENT, {"max_tokens": 500}).data
    api.refused(422, "invalid_field", "PUT", AGENT, {"max_tokens": 501}, {"If-Match": tag}, field="If-Match")
    assert api.call("GET", AGENT).data == before


def test_a_registration_is_the_same_request_only_with_the_same_condition(api):
    tag = api.call("PUT", AGENT, {}).headers["ETag"]
    first = api.call("PUT", AGENT, {"max_tokens": 500}, {"If-Match": tag, **keyed("k")})
    again = api.call("PUT", AGENT, {"max_tokens": 500}, {"If-Match": tag, **keyed("k")})
    assert (again.status, again.data, again.headers["ETag"]) == (200, first.data, first.headers["ETag"])
    assert again.headers["Idempotent-Replayed"] == "true"
    api.refused(422, "idempotency_conflict", "PUT", AGENT, {"max_tokens": 500}, {"If-Match": "*", **keyed("k")})
    api.refused(422, "idempotency_conflict", "PUT", AGENT, {"max_tokens": 500}, keyed("k"))


def test_of_two_people_who_register_the_same_agent_one_wins(server, api):
    """Eight read the agent and change it. One change is made; everybody else is told."""
    tag = api.call("PUT", AGENT, {}).headers["ETag"]
    results, start = [], threading.Barrier(8)

    def work(number):
        own = Api(server.address, api.space)
        start.wait()
        results.append((own.call("PUT", AGENT, {"max_tokens": number + 1}, {"If-Match": tag}).status, number + 1))
        own.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(status for status, _ in results) == [200] + [412] * 7
    assert api.ok("GET", AGENT)["max_tokens"] == dict(results)[200]


def test_of_two_people_who_change_the_same_version_one_wins(server, api):
    """Sixteen read version 1 and change it. One change is made; everybody else is told."""
    api.store("a")
    statuses = []
    barrier = threading.Barrier(16)

    def run(number):
        mine = Api(server.address, api.space)
        barrier.wait()
        statuses.append(mine.call("PATCH", "/v1/memories/ms-1", {"content": str(number)},
                                  {"If-Match": '"ms-1@1"'}).status)
        mine.close()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200] + [412] * 15
    assert api.get("ms-1")["version"] == 2


def test_what_was_answered_is_answered_again_also_where_it_would_be_refused_by_now(api):
    api.ok("PUT", "/v1/routes/r", {"to": "zz"})
    routed = {"target_agent": "next", "task_summary": "go on"}
    small = {"target_agent": "small", "task_summary": "go on " * 50}
    first = [api.call("POST", "/v1/envelopes", body, keyed(key)) for key, body in (("a", routed), ("b", small))]
    assert [answer.status for answer in first] == [201, 201]
    api.call("DELETE", "/v1/routes/r")
    api.call("PUT", "/v1/agents/small", {"max_tokens": 10})
    again = [api.call("POST", "/v1/envelopes", body, keyed(key)) for key, body in (("a", routed), ("b", small))]
    assert [answer.data for answer in again] == [answer.data for answer in first]
    api.refused(422, "no_route", "POST", "/v1/envelopes", routed, keyed("c"))
    api.refused(422, "budget_too_small", "POST", "/v1/envelopes", small, keyed("d"))
