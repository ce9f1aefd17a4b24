"""A coder and a reviewer who pass the work back and forth until the reviewer is content.

    PYTHONPATH=sdk/python python3 examples/review-loop/review_loop.py

The server tells a review from a quarrel: work that goes back with new instructions is not a loop, the same instruction
again with nothing new is refused (RoutingLoop), and the chain ends at its hop limit whatever happens.
"""

import threading

from memory_spine import HopLimit, MemorySpine, RoutingLoop

# What the models would say. Replace both functions by calls of yours; examples/pipeline/model.py shows how.
REMARKS = ["Retries need a limit.", "The limit needs a test."]


def write(prompt: str, remarks: int) -> str:
    return f"Version {remarks + 1} of retry.py."


def criticise(prompt: str, round_: int) -> "str | None":
    """The remark, or None where nothing is left to say."""
    return REMARKS[round_] if round_ < len(REMARKS) else None


def reviews(work) -> int:
    """How often the work has been reviewed: the history travels with it."""
    return sum(step["agent"] == "reviewer" for step in work.envelope.history)


def code(work):
    rounds = reviews(work)
    work.hand_on("reviewer", f"Review version {rounds + 1}.", result=write(work.prompt, rounds))


def review(work):
    remark = criticise(work.prompt, reviews(work))
    if remark is None:
        return "Approved."
    try:
        work.hand_on("coder", remark, result=remark)
    except (RoutingLoop, HopLimit) as error:
        work.reject(f"no agreement: {error}")       # a person finds it among what is parked, with this reason


def main():
    with MemorySpine(agent="lead", space="review-loop") as spine:
        envelope = spine.pack("coder", "Write retry.py.", intent="Payments survive a flaky gateway.", max_hops=8)
        spine.send(envelope)
        coder, reviewer = spine.agent("coder"), spine.agent("reviewer")
        thread = threading.Thread(target=coder.run, args=(code,), kwargs={"limit": len(REMARKS) + 1})
        thread.start()
        reviewer.run(review, limit=len(REMARKS) + 1)
        thread.join()
        for delivery in spine.trace(envelope.task).deliveries:
            print(f"{delivery.to_agent}: {spine.handoff(delivery).result}")


if __name__ == "__main__":
    main()
