"""
Waves of a reassignment, every state in between safe: see `wave_cut`.

Imports `model`, `log_dirs` and the compiler of the core.
"""
