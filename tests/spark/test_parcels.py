"""Tables arrive as they were sent."""

import pyarrow as pa

from planner.spark.scoring.kernels.tally import FIRSTS
from planner.spark.scoring.shuffle.shuffle_rows import Unpacked, packed, sent
from planner.spark.scoring.sums.partial_sums import FACTORS

KEY = ("eu", 7)


def test_parcels_of_one_kind_are_put_together():
    tables = [
        pa.table({"factor": [1], **{name: [value] for name in FIRSTS}}, schema=FACTORS)
        for value in (0, 5, 2**40)
    ]

    parcels = [parcel for each in tables for parcel in packed(KEY, "factor", each)]
    found = Unpacked(KEY, pa.Table.from_batches(sent(parcels)))

    assert found.has_first
    assert found.table("factor").equals(pa.concat_tables(tables).combine_chunks())
    assert [*found.as_sent("factor")] == parcels
    assert len(found.table("count")) == 0
