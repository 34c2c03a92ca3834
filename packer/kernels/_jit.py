"""The one place that names numba.

`kernel` compiles a function of arrays without the GIL and keeps the machine code on disk.
`reassociating` also lets the compiler reorder sums, which is what makes a dot product
vectorise; NaN and infinity keep their meaning (never `nnan`, never `ninf`).

With ``NUMBA_DISABLE_JIT=1`` both give the Python function back, so that coverage and a
debugger see the lines.
"""

import functools
import hashlib
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba

P = ParamSpec("P")
R = TypeVar("R")

REASSOCIATION = {"reassoc", "contract", "nsz"}

_uncached: list[str] = []


def _digest_of_kernels() -> str:
    """A digest of all files beside this one.

    numba keeps the code of a kernel until the kernel's own file changes; what it calls in other
    files stands in that code too, so a change in any of them must make all anew.
    """
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


_SOURCES = _digest_of_kernels()


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` on its first call; the result can be called from other kernels."""
    return _compile(function, fastmath=False)


def reassociating(function: Callable[P, R]) -> Callable[P, R]:
    """As `kernel`, with leave to reassociate and contract floating-point sums."""
    return _compile(function, fastmath=REASSOCIATION)


def _guard(compiled: Any) -> None:
    """Let a kernel run without its cache when that is damaged or full, with one warning.

    numba lets such errors through: EOFError from an index cut short, OSError from a full disk.
    """
    cache = getattr(compiled, "_cache", None)
    for name in ("load_overload", "save_overload"):
        if hasattr(cache, name):
            setattr(cache, name, _forgiving(getattr(cache, name)))


def _forgiving(method: Callable[P, R]) -> Callable[P, R | None]:
    @functools.wraps(method)
    def attempt(*args: P.args, **kwargs: P.kwargs) -> R | None:
        try:
            return method(*args, **kwargs)
        except Exception as error:  # noqa: BLE001  # whatever a broken file raises when unpickled
            _warn_once(f"the cache of compiled kernels cannot be used ({error!r})")
            return None

    return attempt


def _warn_once(fault: str) -> None:
    if not _uncached:
        warnings.warn(
            f"{fault}, so this process compiles them anew (some seconds); "
            "set NUMBA_CACHE_DIR to a writable folder to keep them",
            RuntimeWarning,
            stacklevel=4,
        )
    _uncached.append(fault)


def _compile(function: Callable[P, R], *, fastmath: Any) -> Callable[P, R]:
    try:
        compiled = numba.njit(cache=True, nogil=True, fastmath=fastmath)(function)
    except RuntimeError as error:  # numba's word for "no cache folder is writable"
        if "no locator available" not in str(error):
            raise
        _warn_once("no folder for compiled kernels is writable")
        compiled = numba.njit(nogil=True, fastmath=fastmath)(function)
    _guard(compiled)
    cache_file: Any = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if hasattr(cache_file, "_source_stamp"):
        cache_file._source_stamp = (cache_file._source_stamp, _SOURCES)  # noqa: SLF001
    return cast("Callable[P, R]", compiled)
