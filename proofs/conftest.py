"""The proofs run under the profiles of the tests."""

from tests import conftest as profiles

__all__ = ["profiles"]
