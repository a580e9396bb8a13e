# ruff: noqa: ANN401 - kafka-python is not typed
"""Diagnosis of a controllers' quorum that does not answer."""

from collections.abc import Sequence
from typing import Any

from planner.errors import BadInputError
from planner.kafka.client.address_probe import is_refused
from planner.kafka.client.addresses import Address, parse_bootstrap
from planner.kafka.client.background_tasks import each_at_once
from planner.kafka.client.connection_failures import REFUSED

_VOTERS = "controller.quorum.voters"
_SERVERS = "controller.quorum.bootstrap.servers"


def find_lost_quorum(admin: Any) -> str:
    """
    Return the reason why the controllers cannot answer; empty if uncertain.

    Parameters
    ----------
    admin
        Admin client whose brokers answer. A broker's configs list the controllers, and
        a closed port shows that a controller is down.
    """
    addresses = _controllers(admin)
    refused = each_at_once(is_refused, addresses, at_once=max(len(addresses), 1))
    down = [one for one, is_down in zip(addresses, refused, strict=True) if is_down]
    if not down or 2 * (len(addresses) - len(down)) > len(addresses):
        return ""
    named = ", ".join(f"{address}: {REFUSED}" for address in down)
    what = "the controller is down"
    if len(addresses) > 1:
        what = (
            f"{len(down)} of {len(addresses)} controllers are down, no quorum is left"
        )
    return f"the brokers answer, but {what} ({named}); start it, then try again"


def _controllers(admin: Any) -> Sequence[Address]:
    """Return the controllers from the configs of the first broker that lists them."""
    from kafka.admin import ConfigResource

    live = [
        one["broker_id"]
        for one in admin.describe_cluster()["brokers"]
        if not one.get("is_fenced")
    ]
    for broker_id in live[:3]:
        asked = ConfigResource("broker", str(broker_id), [_VOTERS, _SERVERS])
        found = admin.describe_configs([asked], config_filter="all")
        values = found.get("broker", {}).get(asked.name, {})
        for key in (_VOTERS, _SERVERS):
            text = values.get(key, {}).get("value") or ""
            if text:
                return _addresses(text)
    return ()


def _addresses(text: str) -> Sequence[Address]:
    """Parse ``100@host:port,…`` or ``host:port,…``."""
    bare = ",".join(part.rpartition("@")[2] for part in text.split(","))
    try:
        return parse_bootstrap(bare)
    except BadInputError:
        return ()
