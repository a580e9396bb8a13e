"""Tables made shorter on their way are what they were when they arrive."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.spark import narrow
from planner.spark.chunk import FACTORS
from planner.spark.kernels.tally import FIRSTS
from planner.spark.narrow import AS_IS, narrowed, widened
from planner.spark.parcels import Unpacked, packed, sent

KEY = ("eu", 7)
EDGES = [s * 2**b + d for s in (1, -1) for b in (0, 7, 15, 31) for d in (-1, 0)]
EDGES += [-(2**63), 2**63 - 1]
FLOATS = [0.0, 1e-300, -2.5, float("nan"), float("inf")]
SCHEMA = pa.schema(
    [("a", pa.int64()), ("b", pa.int32()), ("c", pa.float64()), ("d", pa.string())]
)
ROWS = st.lists(
    st.tuples(
        st.sampled_from(EDGES),
        st.sampled_from([0, 5]),
        st.sampled_from(FLOATS),
        st.sampled_from(["", "x"]),
    ),
    min_size=1,
    max_size=4,
)
ABSENT = st.sets(st.sampled_from(SCHEMA.names))


def table_of(rows, absent, some):
    """Rows, and columns that are null; one of them with a null among the rest."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    arrays = [
        pa.nulls(len(rows), field.type)
        if field.name in absent
        else pa.array([None, *values[1:]] if field.name == some else values, field.type)
        for field, values in zip(SCHEMA, columns, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=SCHEMA)


@given(ROWS, ABSENT, st.sampled_from([None, *SCHEMA.names]))
def test_what_arrives_is_what_was_sent(rows, absent, some):
    table = table_of(rows, absent, some)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(narrow, "WORTH_IT", 1)
        codes, short = narrowed(pa.concat_tables([table, table]))

    found = widened(short.to_batches(), SCHEMA, codes)
    assert found.schema == SCHEMA
    assert str(found.to_pydict()) == str(pa.concat_tables([table, table]).to_pydict())


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        pytest.param([-128, 127], pa.int8(), id="one byte"),
        pytest.param([-129, 127], pa.int16(), id="two"),
        pytest.param([0, 32768], pa.int32(), id="four"),
        pytest.param([0, 2**31], pa.int64(), id="eight"),
    ],
)
def test_whole_numbers_take_as_many_bytes_as_the_largest(values, kind, monkeypatch):
    monkeypatch.setattr(narrow, "WORTH_IT", 2)

    _, short = narrowed(pa.table({"a": pa.array(values, pa.int64())}))

    assert short.column("a").type == kind


def test_columns_of_nothing_are_left_out():
    rows = narrow.WORTH_IT
    nothing = {"zeros": pa.array([0] * rows), "nulls": pa.nulls(rows, pa.int64())}
    floats = {"no_floats": pa.array([0.0] * rows)}
    table = pa.table({"a": pa.array(range(rows)), **nothing, **floats})

    codes, short = narrowed(table)

    assert short.column_names == ["a"]
    assert widened(short.to_batches(), table.schema, codes).equals(table)


def test_few_rows_stay_as_they_are():
    table = pa.table({"a": pa.array([0] * (narrow.WORTH_IT - 1), pa.int64())})

    assert narrowed(table) == (AS_IS, table)


def test_parcels_of_one_kind_may_be_as_narrow_as_each_can(monkeypatch):
    monkeypatch.setattr(narrow, "WORTH_IT", 1)
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
