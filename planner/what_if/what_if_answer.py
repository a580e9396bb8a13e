"""The document of `what-if`."""

from datetime import datetime
from typing import Any

from planner.text.data_age import dated_fields
from planner.what_if.play_scenarios import WhatIf
from planner.what_if.what_if_document import assumptions_document
from planner.what_if.what_if_records import (
    PricesToldRecord,
    ScenarioOutcomeRecord,
    WhatIfAssumptionsRecord,
    WhatIfRecord,
)


def to_document(found: WhatIf, *, now: datetime) -> dict[str, Any]:
    """Return the document of `what-if --format json`."""
    options, snapshot = found.options, found.snapshot
    return WhatIfRecord(
        **dated_fields(snapshot.cluster_id, snapshot.taken_at, now),
        assumptions=WhatIfAssumptionsRecord(
            **assumptions_document(
                options.settings.capacity_thresholds, options.bandwidth_bytes_per_s
            ),
            growth=bool(found.file.context.growth),
            prices=_prices(found),
        ),
        today=ScenarioOutcomeRecord.model_validate(found.today),
        scenarios=[ScenarioOutcomeRecord.model_validate(r) for r in found.scenarios],
    ).model_dump(by_alias=True)


def _prices(found: WhatIf) -> PricesToldRecord | None:
    prices = found.file.context.prices
    if prices is None:
        return None
    return PricesToldRecord(per=prices.per, currency=prices.currency)
