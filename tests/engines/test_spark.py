import shutil

import pytest

from tests.engines.agreement import agrees, needed

needed("pyspark", "pyspark")


@pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java 17")
@pytest.mark.filterwarnings("default")  # theirs are not ours
def test_spark_gives_what_pack_batch_gives() -> None:
    agrees("spark")
