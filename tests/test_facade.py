import copy
import datetime as dt
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import attrs
import numpy as np
import pytest

from packer import (
    Chunk,
    Filter,
    Packed,
    Packer,
    PackError,
    Pool,
    Template,
    approximate,
    pack,
    utf8_estimate,
    utf8_upper_bound,
    warm,
)
from packer.algebra import Step
from strategies import (
    CATALOG,
    chronological,
    current,
    custom,
    dedup,
    density,
    fresh,
    greedy,
    knapsack,
    mmr,
    prefix,
    threshold,
    top,
    ushape,
)

NOW = dt.datetime(2024, 5, 31, tzinfo=dt.UTC)
CHUNKS = [
    Chunk("alpha beta", 0.9, id="a", tokens=4, metadata={"timestamp": "2024-05-01"}),
    Chunk("gamma delta", 0.8, id="b", tokens=5, metadata={"timestamp": "2020-05-01"}),
    Chunk("epsilon", 0.7, id="c", tokens=6, metadata={"timestamp": "2024-05-30"}),
]


def ids(packed: Packed) -> list[str]:
    return [one.id for one in packed]


# -- pack -----------------------------------------------------------------------------------


def test_pack_takes_its_options_by_name_only() -> None:
    with pytest.raises(TypeError):
        pack(CHUNKS, greedy, 9)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="budget"):
        pack(CHUNKS, greedy)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="bugdet"):
        pack(CHUNKS, greedy, budget=9, bugdet=9)  # type: ignore[call-arg]


def test_pack_is_a_packer_used_once() -> None:
    policy = threshold(0.75) | greedy | ushape
    assert pack(CHUNKS, policy, budget=9, overhead=1, now=NOW) == Packer(
        policy, budget=9, overhead=1
    ).pack(CHUNKS, now=NOW)


def test_pack_leaves_its_input_as_it_is() -> None:
    before = copy.deepcopy(CHUNKS)
    mappings = [{"content": "a", "score": 0.5, "metadata": {"tags": ["x"]}}]
    pack(CHUNKS, greedy, budget=9)
    pack(mappings, greedy, budget=9)
    assert before == CHUNKS
    assert mappings == [{"content": "a", "score": 0.5, "metadata": {"tags": ["x"]}}]


def test_the_policy_is_checked_even_where_there_are_no_chunks() -> None:
    with pytest.raises(PackError) as caught:
        pack([], threshold(0.5), budget=9)  # type: ignore[arg-type]
    assert caught.value.code == "INVALID_POLICY"


def test_two_runs_are_equal_but_for_the_clock() -> None:
    one, two = (pack(CHUNKS, dedup() | mmr(0.7) | ushape, budget=9) for _ in range(2))
    assert one == two
    assert one.to_dict()["chunks"] == two.to_dict()["chunks"]
    assert one != pack(CHUNKS, dedup() | mmr(0.7) | ushape, budget=10)


# -- Packer ---------------------------------------------------------------------------------


def test_a_packer_is_called_or_asked_to_pack() -> None:
    packer = Packer(greedy, budget=9)
    assert packer(CHUNKS) == packer.pack(CHUNKS)
    assert ids(packer(CHUNKS)) == ["a", "b"]


def test_a_packer_is_a_frozen_value_that_prints_its_configuration() -> None:
    packer = Packer(threshold(0.5) | greedy, budget=9, overhead=1, query="what?")
    assert packer == Packer(threshold(0.5) | greedy, budget=9, overhead=1, query="what?")
    assert packer != Packer(threshold(0.5) | greedy, budget=9)
    assert hash(packer) == hash(
        Packer(threshold(0.5) | greedy, budget=9, overhead=1, query="what?")
    )
    assert repr(packer) == (
        "Packer(policy=threshold(0.5) | greedy, budget=9, overhead=1, count_tokens=approximate, "
        "query='what?', template=None, on_invalid='raise', now=None)"
    )
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        packer.budget = 10  # type: ignore[misc]
    assert attrs.evolve(packer, budget=15, overhead=0, query=None)(CHUNKS) == pack(
        CHUNKS, threshold(0.5) | greedy, budget=15
    )


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"budget": 0}, "INVALID_BUDGET"),
        ({"budget": 9, "overhead": -1}, "INVALID_PARAMETER"),
        ({"budget": 9, "count_tokens": None}, "INVALID_COUNTER"),
        ({"budget": 9, "query": 3}, "INVALID_PARAMETER"),
        ({"budget": 9, "now": "soon"}, "INVALID_TIMESTAMP"),
        ({"budget": 9, "policy": ushape}, "INVALID_POLICY"),
        ({"budget": 9, "policy": mmr}, "INVALID_POLICY"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_a_packer_checks_its_configuration_when_it_is_made(
    arguments: dict[str, Any], code: str
) -> None:
    with pytest.raises(PackError) as caught:
        Packer(**{"policy": greedy, **arguments})
    assert caught.value.code == code


def test_an_unknown_on_invalid_is_refused_by_a_packer_too() -> None:
    with pytest.raises(PackError, match="on_invalid is 'drop'"):
        Packer(greedy, budget=9, on_invalid="drop")([])  # type: ignore[arg-type]


def test_a_packer_sets_bad_chunks_aside_where_it_is_told_to() -> None:
    packer = Packer(greedy, budget=9, on_invalid="exclude")
    assert ids(packer([*CHUNKS[:1], Chunk("bad", float("nan"))])) == ["a"]


def test_now_and_query_of_a_request_come_before_the_configured_ones() -> None:
    seen: list[tuple[str | None, dt.datetime | None]] = []

    class Look(Filter):
        def __call__(self, pool: Pool, /) -> Pool:
            seen.append((pool.query, pool.now))
            return pool

    configured = Packer(Look() | greedy, budget=9, query="configured", now=NOW)
    configured(CHUNKS)
    configured(CHUNKS, query="asked")
    configured(CHUNKS, now="2030-01-01")
    configured.pack(CHUNKS, query="", now=0)
    configured.select(Pool.from_arrays([0.5], [1]), query="selected")
    later = dt.datetime(2030, 1, 1, tzinfo=dt.UTC)
    epoch = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    assert seen == [
        ("configured", NOW),
        ("asked", NOW),
        ("configured", later),
        ("", epoch),
        ("selected", NOW),
    ]


def test_the_clock_is_read_once_a_call_where_no_now_is_given() -> None:
    moments: list[dt.datetime | None] = []

    class Look(Filter):
        def __call__(self, pool: Pool, /) -> Pool:
            moments.append(pool.now)
            return pool

    before = dt.datetime.now(dt.UTC)
    packed = Packer(Look() | Look() | greedy, budget=9)(CHUNKS, query="asked")
    after = dt.datetime.now(dt.UTC)
    assert moments[0] is not None
    assert before <= moments[0] <= after
    assert moments[0] == moments[1]
    assert packed.report.timestamp == moments[0].isoformat(timespec="milliseconds")


def test_a_request_with_a_bad_now_or_query_is_refused() -> None:
    packer = Packer(greedy, budget=9)
    with pytest.raises(PackError, match="now is 'soon'"):
        packer(CHUNKS, now="soon")
    with pytest.raises(PackError, match="query is 3"):
        packer(CHUNKS, query=3)  # type: ignore[arg-type]


def test_age_is_of_the_request() -> None:
    packer = Packer(fresh("60d") | greedy, budget=99)
    assert ids(packer(CHUNKS, now="2024-05-31")) == ["a", "c"]
    assert ids(packer(CHUNKS, now="2020-05-31")) == ["a", "b", "c"]


def test_a_packer_can_be_shared_between_threads() -> None:
    packer = Packer(dedup() | mmr(0.7) | ushape, budget=9)
    expected = packer(CHUNKS, now=NOW)
    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(lambda _: packer(CHUNKS, now=NOW), range(16)))
    assert results == [expected] * 16


def test_a_packer_can_be_copied_and_pickled() -> None:
    counters: list[Any] = [approximate, utf8_estimate, utf8_upper_bound, len]
    for count in counters:
        packer = Packer(threshold(0.5) | greedy, budget=9, count_tokens=count)
        for twin in (copy.deepcopy(packer), pickle.loads(pickle.dumps(packer))):
            assert twin == packer
            assert twin([Chunk("a" * 9, 0.5)]) == packer([Chunk("a" * 9, 0.5)])


# -- select ---------------------------------------------------------------------------------


def test_select_gives_rows_of_the_callers_arrays() -> None:
    pool = Pool.from_arrays([0.2, 0.9, 0.5, 0.7], [60, 60, 30, 10])
    layout = Packer(threshold(0.3) | greedy | ushape, budget=100).select(pool)
    assert layout.rows.tolist() == [1, 2, 3]
    assert layout.ids == ["chunk-1", "chunk-2", "chunk-3"]
    assert Packer(greedy, budget=70).select(pool).rows.tolist() == [1, 3]


def test_select_puts_its_own_call_in() -> None:
    pool = Pool.from_arrays([0.9, 0.5], [10, 10], budget=5, overhead=99)
    layout = Packer(greedy, budget=21, overhead=1).select(pool)
    assert layout.rows.tolist() == [0]
    assert layout.pool.budget == 21
    assert layout.pool.cuts[0].detail(0) == "needs 1 more tokens"


def test_select_agrees_with_pack() -> None:
    vectors = np.random.default_rng(5).standard_normal((12, 4)).astype(np.float32)
    scores, tokens = np.linspace(0.9, 0.1, 12), np.arange(1, 13)
    for policy in (greedy, prefix, density, knapsack, mmr(0.5), dedup(0.7) | mmr(0.3) | ushape):
        packer = Packer(policy, budget=20)
        layout = packer.select(Pool.from_arrays(scores, tokens, vectors))
        packed = packer(
            [
                Chunk("text", float(score), tokens=int(count), embedding=vector)
                for score, count, vector in zip(scores, tokens, vectors, strict=True)
            ]
        )
        assert layout.ids == ids(packed)


def test_select_over_no_rows_is_an_empty_layout() -> None:
    assert Packer(greedy, budget=1).select(Pool.from_arrays([], [])).rows.tolist() == []


# -- warm -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "policy",
    [
        greedy,
        prefix,
        density,
        knapsack,
        mmr(),
        mmr(metric="cosine"),
        mmr(metric="jaccard"),
        dedup() | greedy,
        dedup(metric="cosine") | knapsack | ushape,
        dedup(metric="jaccard") | greedy | chronological(),
        fresh("1d") | current() | top(1) | custom(lambda chunks, _: chunks),
    ],
    ids=repr,
)
def test_warm_takes_any_policy(policy: Any) -> None:
    assert warm(policy) is None  # type: ignore[func-returns-value]


def test_warm_runs_the_stages_that_use_kernels_and_no_others() -> None:
    seen: list[str] = []

    class Look(Filter):
        name = "look"

        def __call__(self, pool: Pool, /) -> Pool:
            seen.append("plain")
            return pool

    class Kernel(Look):
        uses_kernels = True

        def __call__(self, pool: Pool, /) -> Pool:
            seen.append("vectors" if pool.has_embedding.all() else "texts")
            return pool

    warm(Look() | Kernel() | greedy)
    assert seen == ["texts", "vectors"]


def test_warm_refuses_what_is_no_policy() -> None:
    for policy in (threshold(0.5), ushape, mmr, "greedy"):
        with pytest.raises(PackError) as caught:
            warm(policy)  # type: ignore[arg-type]
        assert caught.value.code == "INVALID_POLICY"


def test_warm_lets_no_error_of_a_stage_out_but_a_bug() -> None:
    class Broken(Filter):
        uses_kernels = True

        def __call__(self, pool: Pool, /) -> Pool:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        warm(Broken() | greedy)


def test_the_stages_that_use_kernels_say_so() -> None:
    made = {"dedup": dedup(), "mmr": mmr(), "knapsack": knapsack, "greedy": greedy}
    assert {name for name, stage in made.items() if stage.uses_kernels} == {
        "dedup",
        "mmr",
        "knapsack",
    }
    assert set(made) <= set(CATALOG)


# -- errors ---------------------------------------------------------------------------------


def test_an_error_is_the_builtin_that_a_python_user_would_catch() -> None:
    with pytest.raises(ValueError, match="budget is 0"):
        pack(CHUNKS, greedy, budget=0)
    with pytest.raises(TypeError, match="budget is '9'"):
        pack(CHUNKS, greedy, budget="9")  # type: ignore[arg-type]


def test_an_error_can_be_pickled_and_copied_with_its_facts() -> None:
    with pytest.raises(PackError) as caught:
        pack([Chunk("bad", float("inf"), id="x")], greedy, budget=9)
    for twin in (pickle.loads(pickle.dumps(caught.value)), copy.copy(caught.value)):
        assert type(twin) is type(caught.value)
        assert (twin.code, twin.message, twin.details) == (
            "INVALID_CHUNK",
            caught.value.message,
            caught.value.details,
        )
        assert str(twin) == caught.value.message


def test_the_details_of_an_error_are_read_only() -> None:
    error = PackError("message", "CODE", {"a": 1})
    assert (error.code, error.details) == ("CODE", {"a": 1})
    with pytest.raises(TypeError):
        error.details["a"] = 2  # type: ignore[index]
    assert PackError("message").code == "PACK_ERROR"
    assert PackError("message").details == {}


def test_every_code_of_the_contract_has_its_error() -> None:
    codes = {error.default_code for error in PackError.__subclasses__()}
    assert codes == {
        "INVALID_BUDGET",
        "MISSING_CUSTOM_STRATEGY",
        "INVALID_STRATEGY",
        "DIMENSION_MISMATCH",
        "MISSING_EMBEDDINGS",
        "INVALID_CHUNK",
        "INVALID_PARAMETER",
        "INVALID_POLICY",
        "INVALID_TIMESTAMP",
        "INVALID_COUNTER",
        "OVER_BUDGET",
        "INFEASIBLE",
    }
    assert all(issubclass(error, ValueError) for error in PackError.__subclasses__())


def test_the_default_counter_is_approximate() -> None:
    assert Packer(greedy, budget=1).count_tokens is approximate


def test_a_packer_takes_its_policy_apart_once(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    plain = Step.__repr__

    def counted(step: Step[Any, Any]) -> str:
        written.append(step.name)
        return plain(step)

    monkeypatch.setattr(Step, "__repr__", counted)
    packer = Packer(threshold(0.5) | greedy | ushape, budget=9)
    once = len(written)
    for _ in range(5):
        packer([Chunk("a" * 9, 0.7), Chunk("b" * 9, 0.6)])
        packer.select(Pool.from_arrays([0.7, 0.6], [3, 4]))
    assert len(written) == once


def test_a_request_with_a_query_counts_no_ends_again() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return len(text)

    template = Template("{content}", header="Sources: ", separator="\n")
    packer = Packer(greedy, budget=100, count_tokens=count, template=template)
    assert counted == ["Sources: ", "\n"]
    packer.pack([Chunk("one", 0.9, tokens=3)], query="which?")
    assert counted.count("Sources: ") == counted.count("\n") == 1
