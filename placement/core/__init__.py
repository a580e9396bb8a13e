"""
Optimisation core: items on bins, without any knowledge of Kafka.

`solve`, `solve_roles` and `solve_parts` are the entry points; `certificate` states the
proven bounds of an answer; each folder holds one method. Imports numpy, numba, scipy,
PuLP, HiGHS and OR-Tools, and of `placement` outside `placement.core` nothing but the
array types.
"""
