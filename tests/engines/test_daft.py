import os

import pytest

from tests.engines.agreement import agrees, needed

needed("daft", "daft")

os.environ.setdefault("DO_NOT_TRACK", "true")  # no network in a test


@pytest.mark.filterwarnings("default")  # theirs are not ours
def test_daft_gives_what_pack_batch_gives() -> None:
    agrees("daft")
