"""Shares of the work for the least cost, by solve and by search."""

FIRST = 0.9
"""Share of the remaining work for one solve that others follow (0-1)."""
SEARCH = 0.4
"""Share of the work for the search node by node (0-1)."""
NODES = 0.65
"""Share of the remaining work for the bounds node by node (0-1)."""
FAR, MOST_FAR = 4.0, 4.5
"""Work far from these bounds, in multiples of all work, and its upper limit."""
PLACED = 0.5
"""Share of the remaining work for roles at the places of all nodes (0-1)."""
TURNS = 0.8
"""Share of the remaining work for places and roles in alternation (0-1)."""
NEAR = ((1e-4, 2), (1e-5, 3))
"""Relative gaps up to which to search for a cheaper answer again, and seeds for it."""
AGAIN = 1.0
"""Further work for each of these searches, as a share of all work."""
MOST_AGAIN = 4.0
"""Upper limit of that work, in deterministic seconds."""
KERNEL = 1.3
"""Further work for the kernel of the relaxation, as a share of all work."""
MOST_KERNEL = 5.0
"""Upper limit of that work, in deterministic seconds."""
FEW_CELLS = 400
"""Largest number of (group, bin) pairs for a model of all between kernel searches."""
BRIEF = 0.15
"""Share of the work for each solve of that model (0-1)."""
UNRELAXED = 0.4
"""Share of the work for it without linear relaxations (0-1)."""
PROVEN = 0.4
"""Share of the work for a model of more pairs after these searches (0-1)."""
ROLES = 0.2
"""Share of the remaining work for minimising role changes (0-1)."""
