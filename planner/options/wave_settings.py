"""Settings of waves, as the documents of a plan have them."""

from typing import Any

from placement.waves.wave_settings import WaveSettings


def settings_document(settings: WaveSettings | None) -> dict[str, Any] | None:
    """Return the settings of the waves for a document."""
    if settings is None:
        return None
    return {
        "max_moves_in": settings.max_in,
        "max_moves_out": settings.max_out,
        "max_moves_per_broker": settings.max_shared,
        "max_moves_per_partition": settings.max_per_partition,
        "bandwidth_bytes_per_s": settings.bandwidth_bytes_per_s,
        "order": str(settings.order),
    }
