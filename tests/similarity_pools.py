"""Pools as the similarity kernels take them: drawn ones and realistic ones."""

import re
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from packer.kernels import pairs, trigrams

from . import naive_similarity as naive

T = TypeVar("T", bound=np.generic)
Grams = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]


def frozen(values: npt.NDArray[T]) -> npt.NDArray[T]:
    values = np.ascontiguousarray(values)
    values.flags.writeable = False
    return values


def built(texts: Sequence[str]) -> Grams:
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    indptr, grams = trigrams.build(codes, frozen(offsets))
    return frozen(indptr), frozen(grams)


def features(
    unit: npt.NDArray[np.float32], embedded: npt.NDArray[np.bool_], texts: Sequence[str]
) -> naive.Features:
    return frozen(unit), frozen(embedded), *built(texts)


def only_texts(texts: Sequence[str]) -> naive.Features:
    n = len(texts)
    return features(np.zeros((n, 0), np.float32), np.zeros(n, np.bool_), texts)


def only_embeddings(unit: npt.NDArray[np.float32]) -> naive.Features:
    n = len(unit)
    empty = frozen(np.zeros(n + 1, np.int64)), frozen(np.zeros(0, np.int32))
    return frozen(unit), frozen(np.ones(n, np.bool_)), *empty


def normalised(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(norms > 0, norms, 1.0)).astype(np.float32)


def clustered(n: int, d: int, seed: int = 0) -> npt.NDArray[np.float32]:
    """Unit rows: half near one of n / 10 centres (cosine 0.8 to 0.99), half nearly orthogonal."""
    rng = np.random.default_rng(seed)
    centres = normalised(rng.standard_normal((max(n // 10, 1), d)))[rng.integers(0, n // 10, n)]
    noise = normalised(rng.standard_normal((n, d)))
    near = np.where(rng.random(n) < 0.5, rng.uniform(0.8, 0.99, n), 0.0)[:, None]
    return normalised(near * centres + np.sqrt(1.0 - near**2) * noise)


def prose(n: int) -> list[str]:
    """Folded docstrings of numpy, one in four an edited copy of an earlier one."""
    words = re.sub(r"\s+", " ", " ".join(str(getattr(np, name).__doc__) for name in dir(np)))
    texts = [words[k * 250 : (k + 1) * 250].lower().strip() for k in range(n)]
    for k in range(4, n, 4):
        texts[k] = texts[k - 3][:120] + "edited" + texts[k - 3][120 + k % 30 :]
    return texts


def kernel_matrix(found: naive.Features) -> npt.NDArray[np.float64]:
    """The similarity of every pair by the kernel, which is symmetric, float64[n, n]."""
    n = len(found[1])
    matrix = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            matrix[i, j] = matrix[j, i] = pairs.similarity(*found, i, j)
    return matrix


TEXTS = st.lists(
    st.text("ab 日本😀\U0010ffff\ud800", max_size=12)
    | st.text(max_size=5)
    | st.builds("aab".__mul__, st.integers(0, 9)),
    max_size=12,
)
ROWS = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 12), st.integers(1, 6)),
    elements=st.sampled_from([0.0, 1.0, -1.0, 0.5, 3.0]),
).map(normalised)
THRESHOLDS = st.sampled_from([1.0, 0.9, 0.75, 2 / 3, 0.5, 1 / 3, 0.1]) | st.floats(1e-3, 1.0)


@st.composite
def mixed(draw: st.DrawFn) -> tuple[naive.Features, list[set[str]]]:
    """Pools whose rows have text, and some an embedding, with equal and zero rows among them."""
    unit = draw(ROWS)
    n = len(unit)
    texts = [*draw(TEXTS), *(n * [""])][:n]
    embedded = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    return features(unit, embedded, texts), [naive.trigrams(text) for text in texts]
