"""The error of a law that does not hold: which, where, and the code to see it again."""

from typing import final

from packer.errors import PackError

from .cases import Case
from .lawbook import Law

__all__ = ["LawBroken"]


@final
class LawBroken(AssertionError):
    """A stage or policy breaks a law; the text has the least case found, as code.

    `law`: its name.  `stage`: the stage.  `case`: the case (`case.chunks` is the list).  `code`:
    Python that rebuilds the chunks and the call.
    """

    def __init__(self, message: str, *, law: str, case: Case, code: str) -> None:
        super().__init__(message)
        self.law = law
        self.stage = case.stage
        self.case = case
        self.code = code

    @classmethod
    def of(cls, law: Law, case: Case, fault: Exception | None, tried: int) -> "LawBroken":
        """The error for a law that a case breaks by raising `fault`, after so many cases."""
        code = case.code(law.state)
        message = (
            f"{case.stage!r} breaks the law {law.name}, found by case {tried}.\n\n"
            f"    law    {law.statement}\n"
            f"    found  {_told(fault)}\n\n{code}"
        )
        return cls(message, law=law.name, case=case, code=code)


def _told(fault: Exception | None) -> str:
    """What was found, on one line."""
    text = " ".join(str(fault).split())
    if isinstance(fault, PackError):
        return f"{fault.code}: {text}"
    if isinstance(fault, AssertionError):
        return text or "the law's assertion fails"
    return f"{type(fault).__name__}: {text}"
