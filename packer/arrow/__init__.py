"""Packing batches of Arrow: a request per row, columns in and columns out.

Needs the extra ``chunk-packer[arrow]`` (pyarrow).  `pack_batch` takes a RecordBatch or a Table,
and so runs inside every engine that maps over batches of Arrow; `output_schema` says beforehand
what it gives.
"""

from importlib.util import find_spec

if find_spec("pyarrow") is None:
    message = "packer.arrow needs pyarrow; install chunk-packer[arrow]"
    raise ImportError(message, name="pyarrow")

# isort: split
from .packing import pack_batch
from .schema import output_schema

__all__ = ["output_schema", "pack_batch"]
