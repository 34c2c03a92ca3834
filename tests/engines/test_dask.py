import pytest

from tests.engines.agreement import agrees, needed

needed("dask", "dask[dataframe]")


@pytest.mark.filterwarnings("default")  # theirs are not ours
def test_dask_gives_what_pack_batch_gives() -> None:
    agrees("dask")
