import pytest

from tests.engines.agreement import agrees, needed

needed("ray", "ray[data]")


@pytest.mark.filterwarnings("default")  # theirs are not ours
def test_ray_gives_what_pack_batch_gives() -> None:
    agrees("ray")
