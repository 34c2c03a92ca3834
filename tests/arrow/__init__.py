import pytest

pytest.importorskip("pyarrow", reason="the extra `arrow` (pyarrow) is not installed")
