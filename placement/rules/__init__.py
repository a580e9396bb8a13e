"""
Rules: each a small class that fills the tables of a draft or of the core's problem.

`draft` holds the tables; `left_alone` keeps off what must not be touched; `racks` and
`capacity` are the hard rules of placement.
"""
