"""
Requests about groups that kafka-python's admin client has no method for.

It knows classic groups only. New-protocol and share groups are described by messages of
their own, whose fields stand in `planner.kafka.messages`; they are sent through the
same client, and so with its retries, its SASL and its TLS.
"""

from typing import Any

from kafka.protocol.api_message import ApiMessage

_FIELDS = "planner.kafka.messages"


class ConsumerGroupDescribeRequest(ApiMessage, load_json=_FIELDS):  # type: ignore[misc, call-arg]  # untyped base
    """Describe groups of the new protocol."""


class ConsumerGroupDescribeResponse(ApiMessage, load_json=_FIELDS):  # type: ignore[misc, call-arg]  # untyped base
    """What a coordinator knows of groups of the new protocol."""


class ShareGroupDescribeRequest(ApiMessage, load_json=_FIELDS):  # type: ignore[misc, call-arg]  # untyped base
    """Describe share groups."""


class ShareGroupDescribeResponse(ApiMessage, load_json=_FIELDS):  # type: ignore[misc, call-arg]  # untyped base
    """What a coordinator knows of share groups."""


class DescribeShareGroupOffsetsRequest(ApiMessage, load_json=_FIELDS):  # type: ignore[misc, call-arg]  # untyped base
    """Ask from where share groups read."""


class DescribeShareGroupOffsetsResponse(ApiMessage, load_json=_FIELDS):  # type: ignore[misc, call-arg]  # untyped base
    """From where share groups read each partition."""


def send(admin: Any, request: Any, broker_id: int) -> Any:  # noqa: ANN401 - kafka-python is not typed
    """Send a request to one broker, in the newest version that both know."""

    async def sent() -> Any:  # noqa: ANN401 - likewise
        return await manager.send(request, node_id=broker_id)

    manager = admin._manager  # noqa: SLF001 - there is no public way to send a request
    return manager.run(sent)
