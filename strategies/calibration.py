"""From scores to probabilities: `utility`, and how it is fitted on the caller's own labels."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, final

import attrs
import numpy as np
import numpy.typing as npt

from packer.algebra import Scoring, Stage
from packer.arrays import Bools, Floats
from packer.errors import InvalidParameter, shown
from packer.parameters import number, numbers, refusal
from packer.pool import Pool

from .scales import sigmoid

__all__ = ["fit_utility", "utility"]

Method: TypeAlias = Literal["logistic", "isotonic"]
METHODS: Final = ("logistic", "isotonic")


@final
@attrs.frozen(repr=False)
class Utility(Scoring):
    name = "utility"
    alternatives = (("intercept", "slope"), ("knots", "values"))
    intercept: float | None = number(kw_only=True, optional=True)
    slope: float | None = number(kw_only=True, optional=True)
    knots: tuple[float, ...] | None = numbers(kw_only=True, optional=True)
    values: tuple[float, ...] | None = numbers(0.0, 1.0, kw_only=True, optional=True)

    def __attrs_post_init__(self) -> None:
        given = [field.name for field in attrs.fields(Utility) if self._has(field.name)]
        if not given:
            message = (
                "utility has no coefficients, and there are none that hold for every corpus; fit "
                "them on your own labelled queries: fit_utility(pools, labels)"
            )
            raise InvalidParameter(message, details={"stage": self.name})
        if tuple(given) not in self.alternatives:
            message = (
                f"utility has {' and '.join(given)}; give intercept and slope, or knots and values"
            )
            raise InvalidParameter(message, details={"stage": self.name, "given": tuple(given)})
        if self.knots is not None and self.values is not None:
            if list(self.knots) != sorted(set(self.knots)):
                raise refusal(self.name, "knots", self.knots, "scores that rise, each once")
            if list(self.values) != sorted(self.values):
                raise refusal(self.name, "values", self.values, "probabilities that do not fall")
            if len(self.knots) != len(self.values):
                wanted = f"one for each of the {len(self.knots)} knots"
                raise refusal(self.name, "values", self.values, wanted)

    def _has(self, name: str) -> bool:
        return getattr(self, name) is not None

    def __call__(self, pool: Pool, /) -> Pool:
        if self.knots is not None and self.values is not None:
            return pool.rescore(np.interp(pool.scores, self.knots, self.values), calibrated=True)
        assert self.intercept is not None  # or they are both there
        assert self.slope is not None
        with np.errstate(over="ignore"):  # infinity has the probability 0 or 1
            chances = sigmoid(self.intercept + self.slope * pool.scores)
        return pool.rescore(chances, calibrated=True)


def utility(
    *,
    intercept: float | None = None,
    slope: float | None = None,
    knots: Sequence[float] | None = None,
    values: Sequence[float] | None = None,
) -> Scoring:
    """Turn the score into the probability that the chunk holds evidence.

    1 / (1 + e^-(intercept + slope * score)), or the line through the points (knots, values), level
    beyond the first and the last; knots rise, values lie in 0..1 and do not fall.  Then
    `knapsack` maximises the evidence that is to be expected, and ``threshold(0.2)`` means one in
    five.  Make one by `fit_utility`: coefficients hold for the corpus, the retriever and the
    stages before that they were fitted with, and for no other.  O(n).

    Raises INVALID_PARAMETER without coefficients.

    >>> from packer.pool import Pool

    from .scales import sigmoid
    >>> stage = utility(intercept=-4.0, slope=8.0)
    >>> stage(Pool.from_arrays([0.5, 1.0], [1, 1])).scores.round(3).tolist()
    [0.5, 0.982]
    >>> utility(knots=[0.2, 0.6], values=[0.1, 0.5])
    utility(knots=[0.2, 0.6], values=[0.1, 0.5])
    """
    return Utility(intercept=intercept, slope=slope, knots=knots, values=values)  # type: ignore[arg-type]


# -- fitting --------------------------------------------------------------------------------


def fit_utility(
    pools: Iterable[Pool | npt.ArrayLike],
    labels: Iterable[Iterable[object]],
    method: Method = "logistic",
    *,
    before: Stage[Pool, Pool] | None = None,
    l2: float = 1.0,
) -> Scoring:
    """The `utility` that fits labelled queries best.

    `pools`: for each query its candidates, a Pool (with its `query`, where a stage before looks at
    it) or their scores, float[n].  `labels`: for each query the ids of the chunks that hold
    evidence (what retrieval missed among them is passed over), or bool[n].  `before`: the stages
    that will stand before it, such as ``normalize()``; their score is what is calibrated, and
    what they drop is left out.  Some 25 to 60 queries do.

    "logistic": log likelihood less l2 / 2 times the square of the slope per standard deviation,
    by Newton's method; two numbers, for scores that rise evenly with the odds.  "isotonic": the
    rising steps nearest to the labels (pool adjacent violators; Ayer et al. 1955), with one
    observation more of the mean at either end, so that nothing is certain; any rising shape, for
    hundreds of labelled chunks.  Coefficients are rounded to six digits.  O(n log n).

    A slope below 0 says that the labels fall as the scores rise: look for distances among them.

    Raises INVALID_PARAMETER when pools and labels do not match, or when no chunk, or every one, is
    labelled.

    >>> scores = [[0.9, 0.8, 0.3, 0.2], [0.7, 0.6, 0.4, 0.1]]
    >>> labels = [[True, False, False, False], [True, True, False, False]]
    >>> fit_utility(scores, labels, "isotonic")
    utility(knots=[0.1, 0.4, 0.6, 0.8, 0.9], values=[0.075, 0.075, 0.666667, 0.666667, 0.6875])
    """
    if method not in METHODS:
        wanted = "one of " + ", ".join(map(repr, METHODS))
        raise refusal("fit_utility", "method", method, wanted)
    if not l2 > 0:
        raise refusal("fit_utility", "l2", l2, "a number above 0")
    pairs = [
        _labelled(place, pool, marks, before)
        for place, (pool, marks) in enumerate(_together(list(pools), list(labels)))
    ]
    scores = np.concatenate([found for found, _ in pairs]) if pairs else np.empty(0)
    hits = np.concatenate([found for _, found in pairs]) if pairs else np.empty(0, np.bool_)
    if not hits.any() or hits.all():
        words = "all" if len(hits) and hits.all() else "none"
        message = (
            f"{words} of the {len(hits)} chunks of {len(pairs)} queries are labelled as evidence; "
            "a probability is fitted on both kinds; look whether the ids in labels are those of "
            "the chunks"
        )
        raise InvalidParameter(message, details={"labelled": int(hits.sum()), "chunks": len(hits)})
    if method == "logistic":
        intercept, slope = _logistic_fit(scores, hits, l2)
        return Utility(intercept=_rounded(intercept), slope=_rounded(slope))
    knots, values = _isotonic_fit(scores, hits)
    points = {_rounded(knot): _rounded(value) for knot, value in zip(knots, values, strict=True)}
    return Utility(knots=tuple(points), values=tuple(points.values()))


def _together(pools: list[Any], labels: list[Any]) -> Iterable[tuple[Any, Any]]:
    if len(pools) != len(labels):
        message = f"fit_utility has {len(pools)} pools and {len(labels)} labels; give one for each"
        raise InvalidParameter(message, details={"pools": len(pools), "labels": len(labels)})
    return zip(pools, labels, strict=True)


def _labelled(
    place: int, given: Any, marks: Any, before: Stage[Pool, Pool] | None
) -> tuple[Floats, Bools]:
    """The scores of one query's chunks after the stages before, and which hold evidence."""
    pool = given
    if not isinstance(given, Pool):
        found = np.asarray(given, np.float64)
        pool = Pool.from_arrays(found, np.ones(found.shape, np.int64))
    hits = _hits(place, pool, marks)
    if before is None:
        return pool.scores, hits
    after = before(pool)
    if not isinstance(after, Pool):
        wanted = "stages that give a pool, such as normalize()"
        raise refusal("fit_utility", "before", before, wanted)
    of_row = dict(zip(pool.table_rows.tolist(), hits.tolist(), strict=True))
    return after.scores, np.array([of_row[row] for row in after.table_rows.tolist()], np.bool_)


def _hits(place: int, pool: Pool, given: Any) -> Bools:
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        hint = f", such as [{shown(given)}]" if isinstance(given, str) else ""
        message = (
            f"labels[{place}] is {shown(given)}; give a list of ids, or of True and False for each "
            f"chunk{hint}"
        )
        raise InvalidParameter(message, details={"place": place})
    marks = list(given)
    if marks and all(isinstance(mark, bool | np.bool_) for mark in marks):
        if len(marks) != len(pool):
            message = (
                f"labels[{place}] has {len(marks)} entries and pools[{place}] {len(pool)} chunks"
            )
            raise InvalidParameter(message, details={"place": place})
        return np.array(marks, np.bool_)
    if all(isinstance(mark, str) for mark in marks):
        return np.isin(np.array(pool.ids, object), marks)
    message = f"labels[{place}] is {shown(marks)}; give ids, or True and False for each chunk"
    raise InvalidParameter(message, details={"place": place})


def _logistic_fit(scores: Floats, hits: Bools, l2: float) -> tuple[float, float]:
    """Intercept and slope of the greatest penalised likelihood, by damped Newton steps."""
    mean, spread = float(scores.mean()), float(scores.std())
    spread = spread or 1.0
    z = (scores - mean) / spread
    columns = np.stack([np.ones(len(z)), z])
    penalty = np.array([0.0, l2])
    rate = float(hits.mean())
    at = np.array([np.log(rate / (1.0 - rate)), 0.0])

    def loss(at: Floats) -> float:
        logits = at @ columns
        return float(np.logaddexp(0.0, logits).sum() - logits[hits].sum() + penalty @ at**2 / 2)

    for _ in range(STEPS):
        chance = sigmoid(at @ columns)
        slope = columns @ (chance - hits) + penalty * at
        bend = (columns * (chance * (1.0 - chance))) @ columns.T + np.diag(penalty)
        step = np.linalg.solve(bend, slope)
        size = 1.0
        while loss(at - size * step) > loss(at) and size > SMALLEST:
            size /= 2
        at -= size * step
        if np.abs(size * step).max() < SMALLEST:
            break
    return float(at[0] - at[1] * mean / spread), float(at[1] / spread)


STEPS: Final = 100
SMALLEST: Final = 1e-10
"""A Newton step that changes nothing."""


def _isotonic_fit(scores: Floats, hits: Bools) -> tuple[list[float], list[float]]:
    """The ends of the steps, and their heights."""
    xs, inverse = np.unique(scores, return_inverse=True)
    weights = np.bincount(inverse).astype(np.float64)
    sums = np.bincount(inverse, weights=hits.astype(np.float64))
    for end in (0, -1):
        weights[end] += 1.0
        sums[end] += hits.mean()
    blocks: list[tuple[float, float, int, int]] = []  # sum, weight, first, last
    for place in range(len(xs)):
        block = (float(sums[place]), float(weights[place]), place, place)
        while blocks and blocks[-1][0] * block[1] >= block[0] * blocks[-1][1]:
            total, weight, first, _ = blocks.pop()
            block = (total + block[0], weight + block[1], first, block[3])
        blocks.append(block)
    knots: list[float] = []
    values: list[float] = []
    for total, weight, first, last in blocks:
        for place in dict.fromkeys((first, last)):
            knots.append(float(xs[place]))
            values.append(total / weight)
    return knots, values


def _rounded(value: float) -> float:
    """Six digits, which any label noise drowns, so that the text of a policy stays short."""
    return float(f"{value:.6g}")
