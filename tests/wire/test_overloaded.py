"""More than the server can queue: what is refused is told so and not done, and the rest is done."""

from api import Api, check_problem
from delivery import Background

CALLS = 40


def all_at_once(server, method, path, bodies):
    """Each on a connection of its own."""
    return [call.result() for call in [Background(server.address, "busy", method, path, body) for body in bodies]]


def check(answers, good):
    """Some are refused, all of these in the same way."""
    refused = [answer for answer in answers if answer.status != good]
    for answer in refused:
        assert check_problem(answer, 503, "overloaded")["retryable"] is True
        assert int(answer.headers["Retry-After"]) >= 1
    return refused


def test_a_write_that_finds_no_room_in_the_queue_is_refused_and_not_done(start):
    server = start("--max-queue", "1").wait_until_ready()
    refused = []
    for round_ in range(50):
        texts = [f"memory {round_} {number}" for number in range(CALLS)]
        answers = all_at_once(server, "POST", "/v1/memories", [{"content": text} for text in texts])
        refused = check(answers, 201)
        if refused:
            break
    assert refused, "the queue was never full"
    api = Api(server.address, "busy")
    stored = {answer.json["id"]: text for answer, text in zip(answers, texts) if answer.status == 201}
    for memory_id, text in stored.items():
        assert api.get(memory_id)["content"] == text
    assert api.list(f"query=%22memory+{round_}%22&page_size=1")["memories"] or not stored
    kept = {memory["content"] for memory in api.list("page_size=1000")["memories"]}
    assert not kept & {text for answer, text in zip(answers, texts) if answer.status == 503}
    api.store("it goes on")


def test_a_large_request_that_finds_no_worker_and_no_room_is_refused_and_others_go_on(start):
    server = start("--max-queue", "1").wait_until_ready()
    refused = []
    for _ in range(20):
        answers = all_at_once(server, "POST", "/v1/tokens", [{"text": "a word " * 150_000}] * 12)
        refused = check(answers, 200)
        if refused:
            break
    assert refused, "there was always room"
    assert Api(server.address).ok("POST", "/v1/tokens", {"text": "a word"})["tokens"] == 2
