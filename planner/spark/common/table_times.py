"""Days of times in tables, independent of the session's time zone."""

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

MICROS_PER_DAY = 86_400_000_000


def day_of(moment: str) -> Column:
    """Return the date in UTC of a time column."""
    days = F.floor(F.unix_micros(moment) / MICROS_PER_DAY).cast("int")
    return F.date_add(F.lit("1970-01-01").cast("date"), days).cast("string")
