"""
Waves of a reassignment whose every intermediate state is safe: see `wave_cut`.

Imports `model`, `log_dirs` and the compiler of the core.
"""
