"""
Rules: each a small class that fills the tables of a draft or of the core's problem.

`draft` holds the tables, `tables` those that rules add. `levels` has the hard rules of
placement, `left_alone` keeps off what must not be touched; these always hold. On
request: `racks`, `broker_sets`, `keep`, and goals about further loads in `columns`.
"""
