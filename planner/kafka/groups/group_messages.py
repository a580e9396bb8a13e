"""
Requests for groups without a method of kafka-python's admin client.

The admin client supports classic groups only. Groups of the consumer protocol and share
groups have messages of their own, with fields in `planner.kafka.messages`. These are
sent through the same client, with its retries, SASL and TLS.
"""

from typing import Any

from kafka.protocol.api_message import ApiMessage

_FIELDS = "planner.kafka.messages"


class ConsumerGroupDescribeRequest(ApiMessage, load_json=_FIELDS):  # type: ignore[misc, call-arg]  # untyped base
    """Request for the description of groups of the consumer protocol."""


class ConsumerGroupDescribeResponse(ApiMessage, load_json=_FIELDS):  # type: ignore[misc, call-arg]  # untyped base
    """Description of groups of the consumer protocol by a coordinator."""


class ShareGroupDescribeRequest(ApiMessage, load_json=_FIELDS):  # type: ignore[misc, call-arg]  # untyped base
    """Request for the description of share groups."""


class ShareGroupDescribeResponse(ApiMessage, load_json=_FIELDS):  # type: ignore[misc, call-arg]  # untyped base
    """Description of share groups by a coordinator."""


class DescribeShareGroupOffsetsRequest(ApiMessage, load_json=_FIELDS):  # type: ignore[misc, call-arg]  # untyped base
    """Request for the start offsets of share groups."""


class DescribeShareGroupOffsetsResponse(ApiMessage, load_json=_FIELDS):  # type: ignore[misc, call-arg]  # untyped base
    """Start offset of each partition in share groups."""


def send(admin: Any, request: Any, broker_id: int) -> Any:  # noqa: ANN401 - kafka-python is not typed
    """Send a request to one broker, in the newest version that both sides support."""

    async def sent() -> Any:  # noqa: ANN401 - likewise
        return await manager.send(request, node_id=broker_id)

    manager = admin._manager  # noqa: SLF001 - there is no public way to send a request
    return manager.run(sent)
