"""Search and packing do not get worse unnoticed: the small set (bench/recall/README.md) against limits."""

import pytest

from recall import SMALL_SET, fill, noise, pack, read_labelled, search, serving

# What must be reached. "Measured" is what the server reached when the limit was set: neighbours lend, stop words find
# nothing, packing goes by relevance with a floor. (Before that: R@10 0.725, packed 0.341 with recent 50, 19.9 memories
# with unrelated work.) The limits are a little worse, by two questions of a collection or four of all. `make recall`
# prints today's figures; when they rise, so should the limits.
LIMITS = {
    # figure                                  measured   limit
    "R@10":                                   (0.880, "at least", 0.85),
    "R@10, payment retries":                  (0.906, "at least", 0.84),
    "R@10, moving the backups":               (0.823, "at least", 0.76),
    "R@10, museum kiosks":                    (0.965, "at least", 0.90),
    "R@10, greenhouse facts":                 (0.829, "at least", 0.77),
    "nDCG@10, technical documents":           (0.760, "at least", 0.74),
    "packed at 1,000 tokens, recent 20":      (0.883, "at least", 0.85),
    "packed at 1,000 tokens, recent 50":      (0.883, "at least", 0.85),
    "packed at 1,000 tokens, recent 100":     (0.883, "at least", 0.85),
    "memories with unrelated work":           (0.92, "at most", 1.2),
    "tokens with unrelated work":             (167, "at most", 220),
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
