"""
Layout of the memory of a search: names of rows, fields and columns.

Field ``f`` of row ``i`` of a table of width ``w`` that starts at ``T`` is
``ints[ints[T] + i * w + f]``. Entries of `ints` below `HEADER` are scalars, and the
start of each column in `ints` or `floats`.
"""

# groups: one row more than groups, so that the items of g end at the start of g + 1;
# from GROUP_WEIGHTS on: R weights, R role weights, and a cap per level with caps.
# GROUP_KIND is twice the class, plus 1 if the role may move.
GROUP_START, GROUP_KIND, GROUP_COST, GROUP_ROLE_HOME, GROUP_WEIGHTS = 0, 1, 2, 3, 4
# items: one number each, because searches wait for memory; from the lowest bits:
# movability, home bin plus 1, and group
KIND_BITS, HOME_BITS = 2, 30
# bins: from BIN_NODES on: the node at every level with limits, with caps, with a price
BIN_RECEIVES, BIN_LEADS, BIN_RELEASES, BIN_CLASS, BIN_NODES = 0, 1, 2, 3, 4
# limits of a node's resource, the row `node * R + r`
ROW_LOWER, ROW_UPPER, ROW_CAPACITY, ROW_WIDTH = 0, 1, 2, 3
# loads, of the same rows
LOAD_NOW, LOAD_PEAK, LOAD_WIDTH = 0, 1, 2
# lists of bins: movable items are `slots[start:start + count]`; `cursor` is the start
# of the next scan, `room` the capacity of the list in its place. Immovable items are
# stored apart, so that scans need not skip them.
LIST_START, LIST_COUNT, LIST_ROOM, LIST_CURSOR = 0, 1, 2, 3
STILL_START, STILL_COUNT, STILL_CURSOR, LIST_WIDTH = 4, 5, 6, 7
# entries of the log: item (or -1 - group) and its former bin (or former role holder)
LOG_WHAT, LOG_WAS, LOG_WIDTH = 0, 1, 2

# The header: first the scalars (random state, end of the slots in use, whether a list
# found no room, cost of all moves, entries in the log and whether it is written; then
# constants) ...
NOISE, SLOT_TOP, IS_FULL, COST, LOGGED, IS_LOGGING = 0, 1, 2, 3, 4, 5
NUM_ITEMS, NUM_GROUPS, NUM_BINS, NUM_RESOURCES, NUM_NODES = 6, 7, 8, 9, 10
NUM_LOAD_LEVELS, NUM_CAP_LEVELS, NUM_PRICE_LEVELS, NUM_BIN_CLASSES = 11, 12, 13, 14
GROUP_WIDTH, BIN_WIDTH, HAS_EXTRA, PRICE_ACROSS, PRICE_PER_MOVE = 15, 16, 17, 18, 19
COST_RESOURCE, NUM_RECEIVERS, NUM_SLOTS, IS_WIDE = 20, 21, 22, 53
MOVED, HAS_CAPS, MAX_COST, MAX_MOVES = 54, 55, 56, 57
# ... then the start of each column of integers ...
GROUPS, ITEMS, BINS, LIMITS, EXTRA, IS_ELIGIBLE, IS_TRANSIENT = (
    23,
    24,
    25,
    26,
    27,
    28,
    29,
)
IS_OF_ROLE, RECEIVERS, IS_EVEN, NODE_FIRST, OPEN_BINS, PRICE = 30, 31, 32, 33, 34, 35
BIN_OF, ROLE_OF, LOADS, SLOTS, SLOT_OF, LISTS, LOG, SHORT = (
    36,
    37,
    38,
    39,
    40,
    41,
    42,
    43,
)
STUCK, HUNGRY, FAT = 44, 45, 46
# ... and each column of floats
SCALE, FILL_UNIT, DISTANCE, PENALTY, WORTH, EXCESS = 47, 48, 49, 50, 51, 52
# ... and those of the collections, and whether their soft caps apply.
COLLECTION_OF, COLLECTION_COUNT, COLLECTION_CAP, MINDS_SPREAD = 58, 59, 60, 61
COLLECTION_ROLES, COLLECTION_ROLE_CAP, HAS_ROLE_CAPS = 64, 65, 66
# ... and for each block of bins the worst bin not stuck, and whether it is known.
BLOCK_WORST, BLOCK_IS_KNOWN = 62, 63
# ... and those of the cap on moves between zones; MAX_CROSSING below 0: no cap.
CROSSED, MAX_CROSSING, ZONE_OF_BIN, SOURCE_ZONE = 67, 68, 69, 70
# ... and whether a resource has a lower end in any bin.
IS_SHARED = 71
# ... and a sink for values read only to bring them into the cache.
TOUCHED = 72
HEADER = 73
# floats that are no column
COST_UNIT, BASE_PRICE, FLOAT_HEADER = 0, 1, 2

BLOCK = 64
"""Number of bins of a block whose worst bin is cached."""
SHORT_LIST = 32
"""Number of candidates that a scan keeps."""
LOG_SIZE = 16384
"""Largest number of changes that can be undone together."""
