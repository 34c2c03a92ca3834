from hypothesis import given

from packer.algebra import steps_of
from packer.arrow import output_schema, pack_batch
from packer.arrow.together import program
from tests.arrow.batches import Job, as_rows, jobs, row_by_row
from tests.generators import policies


def compare(job: Job) -> None:
    """Check that a batch is packed as `pack` packs each of its rows."""
    result = pack_batch(job.batch, job.policy, on_error="set-aside", **job.options)
    for found, wanted in zip(as_rows(result), row_by_row(job), strict=True):
        if wanted is not None and wanted["error"] == "INVALID_BUDGET":
            assert found is not None
            assert found["error"] == "INVALID_BUDGET"
        else:
            assert found == wanted


@given(jobs())
def test_a_batch_is_packed_as_pack_packs_each_of_its_rows(job: Job) -> None:
    compare(job)


@given(jobs())
def test_the_rows_stay_as_they_are_and_the_schema_is_known_beforehand(job: Job) -> None:
    result = pack_batch(job.batch, job.policy, on_error="set-aside", **job.options)
    result.select(range(3, result.num_columns)).validate(full=True)
    kept = result.select(job.batch.column_names)
    assert repr(kept.to_pylist()) == repr(job.batch.to_pylist())  # where NaN equals NaN
    assert result.schema == output_schema(job.batch.schema, template=job.options["template"])


TOGETHER = policies(
    filters=("threshold", "max_candidates", "top", "dedup"),
    selectors=("greedy", "prefix", "density", "mmr", "knapsack"),
    orders=("natural", "by_score", "ushape", "reverse"),
)


@given(jobs(TOGETHER) | jobs(TOGETHER, most=16))
def test_what_runs_on_all_rows_at_once_gives_what_the_stages_give(job: Job) -> None:
    contained = any(getattr(step, "metric", None) == "containment" for step in steps_of(job.policy))
    assert (program(job.policy) is None) == contained
    compare(job)
