"""The package that this one succeeds, case by case: same options, same choice, same reasons."""

import json
from pathlib import Path
from typing import Any

import pytest

from packer import Packed, pack
from strategies import from_options

CASES = (
    Path(__file__).resolve().parents[1].parent / "shared" / "conformance" / "seed_behaviour.jsonl"
)
STRATEGIES = ("greedy", "mmr", "knapsack")
BATCHES = 8

OPTIONS = {
    "strategy": "strategy",
    "lambda": "lambda_",
    "ordering": "ordering",
    "redundancyThreshold": "redundancy_threshold",
    "similarityMetric": "similarity_metric",
    "maxCandidates": "max_candidates",
}
CALL = {"budget": "budget", "chunkOverheadTokens": "overhead"}


def _cases() -> list[dict[str, Any]]:
    if not CASES.exists():
        pytest.skip("the recorded cases (shared/conformance) are not beside this repository")
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


def _packed(case: dict[str, Any]) -> Packed:
    options = case["options"]
    assert set(options) <= set(OPTIONS) | set(CALL), case["case"]
    policy = from_options(**{OPTIONS[key]: options[key] for key in OPTIONS if key in options})
    return pack(
        case["chunks"], policy, **{CALL[key]: options[key] for key in CALL if key in options}
    )


def _same_reasons(case: dict[str, Any], packed: Packed, *, selector_too: bool) -> None:
    """Each exclusion of the case is ours; `selector_too`: also those that the selector made."""
    found = {out.id: out for out in packed.report.excluded}
    for id_, wanted in case["expected"]["excluded"].items():
        if wanted["reason"] in {"budget", "strategy"} and not selector_too:
            continue
        out = found[id_]
        assert out.reason.value == wanted["reason"], (case["case"], id_)
        assert out.redundant_with == wanted.get("redundant_with"), (case["case"], id_)
        if "similarity" in wanted:
            assert out.similarity == pytest.approx(wanted["similarity"], rel=0, abs=1e-6)
        else:
            assert out.similarity is None, (case["case"], id_)


def test_the_record_has_399_cases_of_three_strategies() -> None:
    cases = _cases()
    assert len(cases) == 399
    assert {case["options"].get("strategy", "greedy") for case in cases} == set(STRATEGIES)


@pytest.mark.parametrize("batch", range(BATCHES))
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_recorded_case_reproduces(strategy: str, batch: int) -> None:
    cases = [case for case in _cases() if case["options"].get("strategy", "greedy") == strategy]
    assert len(cases) >= BATCHES
    for case in cases[batch::BATCHES]:
        expected, packed = case["expected"], _packed(case)
        ids = [chunk.id for chunk in packed]
        everything = {*ids, *(out.id for out in packed.report.excluded)}
        assert len(ids) + packed.report.excluded_count == len(case["chunks"]) == len(everything)
        if strategy == "knapsack":  # any best subset will do
            total = sum(chunk.score for chunk in packed)
            assert total == pytest.approx(expected["total_score"], rel=0, abs=1e-9), case["case"]
            assert packed.report.tokens_used <= case["options"]["budget"], case["case"]
            _same_reasons(case, packed, selector_too=False)
        else:
            assert ids == expected["ids"], case["case"]
            assert packed.report.tokens_used == expected["tokens_used"], case["case"]
            assert {out.id for out in packed.report.excluded} == set(expected["excluded"])
            _same_reasons(case, packed, selector_too=True)
