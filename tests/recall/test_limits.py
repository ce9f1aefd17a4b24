"""Search and packing do not get worse unnoticed: the small set (bench/recall/README.md) against limits."""

import pytest

from recall import SMALL_SET, fill, noise, pack, read_labelled, search, serving

# What must be reached. "Measured" is what the server reached when the limit was set, at 4f70969: BM25 over all words,
# packing by size among what is relevant, nothing left out because it is irrelevant. The limits are a little worse than
# that, by two questions of a collection or four of all. `make recall` prints today's figures; when they rise, so should
# the limits.
LIMITS = {
    # figure                                  measured   limit
    "R@10":                                   (0.725, "at least", 0.70),
    "R@10, payment retries":                  (0.688, "at least", 0.62),
    "R@10, moving the backups":               (0.726, "at least", 0.66),
    "R@10, museum kiosks":                    (0.707, "at least", 0.64),
    "R@10, greenhouse facts":                 (0.776, "at least", 0.71),
    "nDCG@10, technical documents":           (0.756, "at least", 0.73),
    "packed at 1,000 tokens, recent 20":      (0.770, "at least", 0.74),
    "packed at 1,000 tokens, recent 50":      (0.341, "at least", 0.31),
    "packed at 1,000 tokens, recent 100":     (0.215, "at least", 0.19),
    "memories with unrelated work":           (19.88, "at most", 20.0),
    "tokens with unrelated work":             (1083, "at most", 1150),
}


@pytest.fixture(scope="module")
def figures():
    with serving(None) as client:
        spaces = fill(client, read_labelled(SMALL_SET))
        found = search(client, spaces)
        packed = pack(client, spaces, budgets=(1000,))["whole"]
        carried = noise(client, spaces)
    told = {"R@10": found["recall"]["10"]}
    for one in found["collections"]:
        if "recall" in one:
            told[f"R@10, {one['name']}"] = one["recall"]["10"]
        if "ndcg_10" in one:
            told[f"nDCG@10, {one['name']}"] = one["ndcg_10"]
    for recent, shares in packed.items():
        told[f"packed at 1,000 tokens, recent {recent}"] = shares["1000"]
    told["memories with unrelated work"] = carried["memories"]
    told["tokens with unrelated work"] = carried["tokens"]
    return told


@pytest.mark.parametrize("name", LIMITS)
def test_it_is_no_worse_than_its_limit(figures, name):
    _, direction, limit = LIMITS[name]
    value = figures[name]
    assert value >= limit if direction == "at least" else value <= limit, f"{name}: {value:.3f}, {direction} {limit}"


def test_every_figure_has_a_limit(figures):
    assert set(figures) == set(LIMITS)
