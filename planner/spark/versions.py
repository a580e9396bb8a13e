"""Versions of Spark that this package supports; imports PySpark only when called."""

from planner.errors import BadInputError, InputProblem

LEAST_SPARK = 4
"""Major version. Rows go to and from Python as Arrow tables: 3.5 has neither
`DataFrame.toArrow`, nor `createDataFrame` of an Arrow table, nor `mergeInto`."""


def require_new_spark(version: str, *, what: str = "PySpark") -> None:
    """
    Reject a Spark that is too old.

    Parameters
    ----------
    version
        Version of Spark, as ``4.1.4``.
    what
        Part of Spark that has the version.

    Raises
    ------
    BadInputError
        If it is older than Spark 4.

    Examples
    --------
    >>> require_new_spark("4.0.0")
    """
    major = version.partition(".")[0]
    if not major.isdigit() or int(major) >= LEAST_SPARK:
        return
    rule = (
        f"{what} {version} is too old: fleets need Spark {LEAST_SPARK}.0 or newer, "
        "3.5 takes and gives no Arrow tables"
    )
    remedy = "install it: python -m pip install 'pyspark>=4', or use a runtime with it"
    problem = InputProblem(
        file="Spark", place="", value=version, rule=rule, remedy=remedy
    )
    msg = f"{rule}; {remedy}"
    raise BadInputError(msg, [problem])


def require_new_pyspark() -> None:
    """
    Reject an installed PySpark that is too old; without PySpark, do nothing.

    Raises
    ------
    BadInputError
        If it is older than Spark 4.
    """
    try:
        from pyspark import __version__
    except ImportError:
        return
    require_new_spark(__version__)
