from hypothesis import given

from packer.arrow import output_schema, pack_batch
from tests.arrow.batches import Job, as_rows, jobs, row_by_row


@given(jobs())
def test_a_batch_is_packed_as_pack_packs_each_of_its_rows(job: Job) -> None:
    result = pack_batch(job.batch, job.policy, on_error="set-aside", **job.options)
    expected = row_by_row(job)
    for found, wanted in zip(as_rows(result), expected, strict=True):
        if wanted is not None and wanted["error"] == "INVALID_BUDGET":
            assert found is not None
            assert found["error"] == "INVALID_BUDGET"
        else:
            assert found == wanted


@given(jobs())
def test_the_rows_stay_as_they_are_and_the_schema_is_known_beforehand(job: Job) -> None:
    result = pack_batch(job.batch, job.policy, on_error="set-aside", **job.options)
    result.select(range(3, result.num_columns)).validate(full=True)
    kept = result.select(job.batch.column_names)
    assert repr(kept.to_pylist()) == repr(job.batch.to_pylist())  # where NaN equals NaN
    assert result.schema == output_schema(job.batch.schema, template=job.options["template"])
