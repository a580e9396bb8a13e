"""The benchmark of small clusters of many shapes."""

from benchmarks.shapes import drawn, measured, summary


def test_a_row_tells_what_a_plan_copies_and_what_is_proven():
    shapes = list(drawn(40))
    least = min(shapes, key=lambda shape: shape.partitions * shape.size.brokers)

    one = measured(least, "quick")

    assert [str(shape) for shape in drawn(40)] == [str(shape) for shape in shapes]
    assert all(shape.size.racks >= 3 for shape in shapes)
    assert one.num_findings == 0
    assert one.gap >= 0
    assert summary([one]).startswith("1 plans")
