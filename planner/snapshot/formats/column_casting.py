"""
Casts of columns of any Arrow writer to the types of a snapshot.

Strings come as string, large_string, string_view or dictionary; lists with 32 or 64
bit offsets; maps as map or as list of (key, value) structs; integers in any width; a
column without a value as null; integers as floats or decimals, as pandas writes them
if a value is missing. All of them are cast to the type of their `Column`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from planner.snapshot.formats.canonical_columns import is_within
from planner.snapshot.formats.number_text import finite_number, whole_number
from planner.snapshot.tables.snapshot_columns import STRING_MAP, ArrowArray, Column
from planner.snapshot.tables.table_rows import Rows

_STRINGS = (pa.string(), pa.large_string())
_WORDS = {
    pa.int32(): "an integer",
    pa.int64(): "an integer",
    pa.float64(): "a number",
    pa.string(): "a string",
    pa.list_(pa.int32()): "a list of integers",
    pa.list_(pa.int64()): "a list of integers",
    pa.list_(pa.string()): "a list of strings",
    STRING_MAP: "a map from string to string",
}


class ColumnTypeError(TypeError):
    """A column has a type that cannot be cast to the canonical type."""


@dataclass(frozen=True, slots=True)
class CellProblem:
    """A cell that violates the rule of its column."""

    row: int
    value: object
    rule: str


@dataclass(frozen=True, slots=True)
class Cast:
    """
    A column in its canonical type.

    Parameters
    ----------
    values
        The Arrow array; rejected cells are null.
    problems
        The rejected cells.
    """

    values: ArrowArray
    problems: tuple[CellProblem, ...] = ()


def type_words(column: Column) -> str:
    """Return the type of a column in words."""
    return _WORDS[column.type]


def cast_column(array: ArrowArray, column: Column) -> Cast:
    """
    Cast a column to its canonical type, and check every cell.

    Text in place of numbers is parsed as SQL's ``try_cast`` parses it.

    Parameters
    ----------
    array
        Arrow array as read.
    column
        Column to cast to.

    Raises
    ------
    ColumnTypeError
        If the type cannot be cast to the canonical one.
    """
    if array.type == column.type and is_within(array, column):
        return Cast(array)
    array = _decode(array)
    if pa.types.is_null(array.type):
        cast = Cast(pa.nulls(len(array), column.type))
    elif column.type == STRING_MAP:
        cast = _cast_map(array)
    elif pa.types.is_list(column.type):
        cast = _cast_list(array, column)
    else:
        cast = _cast_flat(array, column, column.type)
    missing = _missing(cast.values, column) if not cast.problems else ()
    return Cast(cast.values, (*cast.problems, *missing))


def _is_text(kind: ArrowArray) -> bool:
    return kind in _STRINGS or bool(pa.types.is_string_view(kind))


def _decode(array: ArrowArray) -> ArrowArray:
    while pa.types.is_dictionary(array.type) or pa.types.is_run_end_encoded(array.type):
        is_named = pa.types.is_dictionary(array.type)
        array = array.dictionary_decode() if is_named else pc.run_end_decode(array)
    return array


def _missing(array: ArrowArray, column: Column) -> tuple[CellProblem, ...]:
    if not column.is_required or not array.null_count:
        return ()
    rows = np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False))
    rule = f"{column.name} must not be null"
    return tuple(CellProblem(row, "null", rule) for row in rows.tolist())


def _cast_flat(array: ArrowArray, column: Column, wanted: ArrowArray) -> Cast:
    if wanted == pa.string():
        return _cast_strings(array, column)
    if _is_text(array.type):
        return _cast_spelt(array, column, wanted)
    if pa.types.is_floating(wanted):
        return _cast_floats(array, column)
    return _cast_integers(array, column, wanted)


def _cast_strings(array: ArrowArray, column: Column) -> Cast:
    if not _is_text(array.type):
        raise ColumnTypeError
    values = array if array.type == pa.string() else array.cast(pa.string())
    if not column.choices:
        return Cast(values)
    is_fine = pc.is_in(values, value_set=pa.array([*column.choices, None]))
    rule = f"{column.name} must be one of {', '.join(column.choices)}"
    return _refuse(values, is_fine, rule)


def _cast_spelt(texts: ArrowArray, column: Column, wanted: ArrowArray) -> Cast:
    """Cast texts that represent numbers of the column; parse each text once."""
    coded = texts.dictionary_encode()
    read = finite_number if pa.types.is_floating(wanted) else whole_number
    found = [read(text.strip()) for text in coded.dictionary.to_pylist()]
    low, high = column.low, column.high
    is_known = [number is not None and low <= number <= high for number in found]
    kept = [n if fine else None for n, fine in zip(found, is_known, strict=True)]
    is_fine = pa.array(is_known, pa.bool_()).take(coded.indices).fill_null(True)
    refused = _refuse(texts, is_fine, _range_rule(column, wanted))
    return Cast(pa.array(kept, wanted).take(coded.indices), refused.problems)


def _range_rule(column: Column, wanted: ArrowArray) -> str:
    if pa.types.is_floating(wanted):
        rule = f"{column.name} must be a number from {column.low} to {column.high:g}"
        return f"{rule}, or null where it is unknown"
    ends = f"from {column.low} to {int(column.high)}"
    return f"{column.name} must be an integer {ends}"


def _cast_floats(array: ArrowArray, column: Column) -> Cast:
    kinds = (pa.types.is_floating, pa.types.is_integer, pa.types.is_decimal)
    if not any(is_kind(array.type) for is_kind in kinds):
        raise ColumnTypeError
    values = array.cast(pa.float64(), safe=False)
    numbers = values.fill_null(0).to_numpy(zero_copy_only=False)
    with np.errstate(invalid="ignore"):
        is_fine = (numbers >= column.low) & (numbers <= column.high)
    return _refuse(values, pa.array(is_fine), _range_rule(column, pa.float64()))


def _cast_integers(array: ArrowArray, column: Column, wanted: ArrowArray) -> Cast:
    if pa.types.is_floating(array.type) or pa.types.is_decimal(array.type):
        return _cast_whole(array, column, wanted)
    if not pa.types.is_integer(array.type):
        raise ColumnTypeError
    numbers = array.fill_null(0).to_numpy(zero_copy_only=False)
    is_fine = (numbers >= column.low) & (numbers <= int(column.high))
    cast = _refuse(array, pa.array(is_fine), _range_rule(column, wanted))
    return Cast(cast.values.cast(wanted), cast.problems)


def _cast_whole(array: ArrowArray, column: Column, wanted: ArrowArray) -> Cast:
    """Cast floats and decimals with integer values; NaN becomes null."""
    if pa.types.is_floating(array.type):
        array = array.cast(pa.float64())
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
    low, high = (pa.scalar(int(end), pa.int64()) for end in (column.low, column.high))
    is_fine = pc.and_(
        pc.equal(array, pc.floor(array)),
        pc.and_(pc.greater_equal(array, low), _at_most(array, high)),
    ).fill_null(True)
    cast = _refuse(array, is_fine, _range_rule(column, wanted))
    return Cast(cast.values.cast(wanted, safe=False), cast.problems)


def _at_most(array: ArrowArray, high: ArrowArray) -> ArrowArray:
    """Return whether numbers are at most a limit; a float of 2^63 exceeds 2^63 - 1."""
    if pa.types.is_decimal(array.type):
        return pc.less_equal(array, high)
    return pc.less(array, float(high.as_py() + 1))


def _refuse(array: ArrowArray, is_fine: ArrowArray, rule: str) -> Cast:
    fine = is_fine.to_numpy(zero_copy_only=False)
    if fine.all():
        return Cast(array)
    problems = tuple(
        CellProblem(row, _cell_value(array[row]), rule)
        for row in np.flatnonzero(~fine).tolist()
    )
    return Cast(pc.if_else(is_fine, array, pa.scalar(None, array.type)), problems)


def _cell_value(cell: ArrowArray) -> object:
    value = cell.as_py()
    return str(value) if isinstance(value, float) else value


def _as_rows(array: ArrowArray) -> Rows:
    kind = array.type
    if pa.types.is_fixed_size_list(kind) or pa.types.is_list_view(kind):
        array = array.cast(pa.list_(kind.field(0)))
    elif pa.types.is_large_list_view(kind):
        array = array.cast(pa.large_list(kind.field(0)))
    elif not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        raise ColumnTypeError
    return Rows.from_arrow(array)


def _cast_list(array: ArrowArray, column: Column) -> Cast:
    rows = _as_rows(array)
    elements = _decode(rows.values)
    wanted = column.type.value_type
    if pa.types.is_null(elements.type):
        cast = Cast(pa.nulls(len(elements), wanted))
    else:
        cast = _cast_flat(elements, column, wanted)
    problems = [*cast.problems, *_null_elements(elements, column)]
    row_idx = rows.row_idx if problems else rows.start
    found = tuple(
        CellProblem(int(row_idx[each.row]), each.value, f"each of {each.rule}")
        for each in problems
    )
    return Cast(_list_array(rows, cast.values, found), found)


def _null_elements(elements: ArrowArray, column: Column) -> Iterator[CellProblem]:
    if column.may_hold_null or not elements.null_count:
        return
    rows = np.flatnonzero(elements.is_null().to_numpy(zero_copy_only=False))
    for row in rows.tolist():
        yield CellProblem(row, "null", f"{column.name} must not be null")


def _refused_rows(
    rows: Rows, problems: tuple[CellProblem, ...]
) -> npt.NDArray[np.bool_]:
    refused = rows.is_absent.copy()
    refused[[each.row for each in problems]] = True
    return refused


def _list_array(
    rows: Rows,
    elements: ArrowArray,
    problems: tuple[CellProblem, ...],
) -> ArrowArray:
    if len(elements) > np.iinfo(np.int32).max:
        raise ColumnTypeError
    is_null = _refused_rows(rows, problems) if problems else rows.is_absent
    return pa.ListArray.from_arrays(
        pa.array(rows.start.astype(np.int32)),
        elements,
        mask=pa.array(is_null) if is_null.any() else None,
    )


def _cast_map(array: ArrowArray) -> Cast:
    array = _map_of_objects(array)
    if pa.types.is_map(array.type):
        array = array.cast(pa.list_(array.type.field(0)))
    rows = _as_rows(array)
    keys, items = _entries(rows.values)
    texts = Column("key", pa.string())
    keys = _cast_texts(keys, texts)
    items = _cast_texts(items, texts)
    problems = (*_map_nulls(rows, keys, items), *_duplicate_keys(rows, keys))
    lists = _list_array(rows, pa.array(np.arange(len(keys))), problems)
    if problems:
        # Entries of a rejected row are dropped with the row.
        lists = pa.array(lists.to_pylist(), lists.type)
        order = lists.flatten()
        keys, items = keys.take(order), items.take(order)
    return Cast(_map_array(lists, keys, items), problems)


def _map_of_objects(array: ArrowArray) -> ArrowArray:
    """Return a map from dicts, or from lists of pairs, as pandas writes them."""
    kind = array.type
    is_dict = pa.types.is_struct(kind)
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    is_pairs = is_list and _is_pair(kind.value_type)
    if not (is_dict or is_pairs):
        return array
    rows = [
        None if row is None else [*row.items()] if is_dict else [*map(tuple, row)]
        for row in array.to_pylist()
    ]
    # Each dict also has the keys of all other dicts, without values.
    entries = [row and [pair for pair in row if pair[1:] != (None,)] for row in rows]
    return pa.array(entries if is_dict else rows, STRING_MAP)


def _is_pair(kind: ArrowArray) -> bool:
    """Return whether a type may be that of pairs; it is null if all maps are empty."""
    kinds = (pa.types.is_list, pa.types.is_large_list, pa.types.is_null)
    return any(is_kind(kind) for is_kind in kinds)


def _entries(values: ArrowArray) -> tuple[ArrowArray, ArrowArray]:
    kind = values.type
    if not pa.types.is_struct(kind) or kind.num_fields != 2:
        raise ColumnTypeError
    fields: Callable[[int], ArrowArray] = values.flatten().__getitem__
    if kind.field(0).name == "value" and kind.field(1).name == "key":
        return fields(1), fields(0)
    if kind.field(0).name != "key" or kind.field(1).name != "value":
        raise ColumnTypeError
    return fields(0), fields(1)


def _cast_texts(values: ArrowArray, texts: Column) -> ArrowArray:
    values = _decode(values)
    if pa.types.is_null(values.type):
        return pa.nulls(len(values), pa.string())
    return _cast_strings(values, texts).values


def _map_nulls(
    rows: Rows, keys: ArrowArray, items: ArrowArray
) -> tuple[CellProblem, ...]:
    is_null = pc.or_(keys.is_null(), items.is_null()).to_numpy(zero_copy_only=False)
    rule = "neither a key nor its value may be null"
    return tuple(
        CellProblem(int(rows.row_idx[at]), keys[at].as_py(), rule)
        for at in np.flatnonzero(is_null).tolist()
    )


def _duplicate_keys(rows: Rows, keys: ArrowArray) -> tuple[CellProblem, ...]:
    codes = keys.dictionary_encode().indices.fill_null(-1)
    width = np.int64(len(keys) + 1)
    code = rows.row_idx * width + codes.to_numpy(zero_copy_only=False)
    order = np.argsort(code, kind="stable")
    repeated = order[1:][np.equal(code[order][1:], code[order][:-1])]
    return tuple(
        CellProblem(int(rows.row_idx[at]), keys[at].as_py(), "a key must occur once")
        for at in sorted(repeated.tolist())
        if keys[at].is_valid
    )


def _map_array(lists: ArrowArray, keys: ArrowArray, items: ArrowArray) -> ArrowArray:
    rows = Rows.from_arrow(lists)
    offsets = pa.array(
        rows.start.astype(np.int32), mask=np.append(rows.is_absent, False)
    )
    return pa.MapArray.from_arrays(offsets, keys, items, type=STRING_MAP)
