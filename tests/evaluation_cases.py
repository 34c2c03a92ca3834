"""Labelled queries for the tests of evaluation: made by Hypothesis, and a small set by hand."""

from typing import Any

from hypothesis import strategies as st

from packer.evaluation import CaseSet, case

WORDS = ("refund", "parcel", "label", "warranty", "lamp", "35", "days")


@st.composite
def records(draw: st.DrawFn, *, embedded: bool | None = None) -> dict[str, Any]:
    """A query as a mapping: its evidence may be missing among the candidates, or be there twice."""
    count = draw(st.integers(1, 8))
    with_vectors = draw(st.booleans()) if embedded is None else embedded
    vector = st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0]), min_size=2, max_size=2)
    candidates = [
        {
            "id": f"c{at}",
            "content": " ".join(draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5))),
            "score": draw(st.sampled_from([0.1, 0.25, 0.5, 0.5, 0.9])),
            "tokens": draw(st.integers(0, 40)),
            **({"embedding": draw(vector)} if with_vectors else {}),
        }
        for at in range(count)
    ]
    ids = st.sampled_from([f"c{at}" for at in range(count)] + ["elsewhere", "nowhere"])
    groups = draw(st.lists(st.lists(ids, min_size=1, max_size=3), max_size=4))
    return {
        "query": "who pays for the label?",
        "candidates": candidates,
        "evidence_groups": groups,
        "answers": draw(st.lists(st.sampled_from(["35", "refund parcel", "nothing"]), max_size=2)),
    }


def words(text: str) -> int:
    """A counter that goes to other processes: words."""
    return len(text.split())


def shortened() -> dict[str, Any]:
    """A query with four chunks of 20 sentences of 10 words each, without token counts."""
    sentences = [f"Fact{at} {'word ' * 8}ends{at}." for at in range(20)]
    chunks = [
        {"id": f"c{at}", "content": " ".join(sentences), "score": 0.9 - at / 10} for at in range(4)
    ]
    return {"query": "which?", "evidence": ["c0"], "candidates": chunks}


def by_hand() -> list[CaseSet]:
    """Two sets in which `density` and `greedy` go different ways."""

    def asked(number: int, right: str) -> Any:
        chunks = [
            {"id": "long", "content": "The long one.", "score": 0.9, "tokens": 90},
            {"id": "short", "content": "It takes 35 days.", "score": 0.8, "tokens": 20},
            {"id": "other", "content": "It was 1935.", "score": 0.7, "tokens": 20},
        ]
        record = {
            "query": "how long?",
            "evidence": [right],
            "answers": ["35"],
            "candidates": chunks,
        }
        return case({**record, "query_id": f"q{number}"})

    return [
        CaseSet("faq", [asked(number, "short") for number in range(12)]),
        CaseSet("manual", [asked(number, "long") for number in range(12)]),
    ]
