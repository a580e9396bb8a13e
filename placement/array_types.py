"""
Types of numpy arrays, each declared once.

The core and everything above it import them from here.
"""

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]
CodeArray = npt.NDArray[np.int8]
"""Members of an enumeration."""
IndexArray = npt.NDArray[np.int32]
"""Rows of a table, as the tables keep them; -1 for none."""
RowArray = npt.NDArray[np.int64]
"""Rows of a table, as numpy returns them."""
OffsetArray = npt.NDArray[np.int64]
"""Starts of compressed rows, and the end of the last one."""
IntArray = npt.NDArray[np.int64]
CountArray = npt.NDArray[np.int64]
BytesArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
RateArray = npt.NDArray[np.float64]
"""Bytes/s, or cores; NaN where unknown."""
