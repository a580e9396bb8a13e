"""Parsers of host and port pairs in `--bootstrap-server` and `--resolve`."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from planner.errors import InputProblem, raise_problems

DEFAULT_PORT = 9092
_ADDRESS = re.compile(r"(?:\[([^\]\s]+)\]|([^\[\]:\s,=]+))(?::(\d{1,5}))?")


class Address(NamedTuple):
    """Host and port of a listener."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def _parse(text: str) -> Address | None:
    match = _ADDRESS.fullmatch(text)
    if match is None:
        return None
    port = int(match[3] or DEFAULT_PORT)
    return Address(match[1] or match[2], port) if 0 < port < 65536 else None


def _problem(option: str, value: str, rule: str) -> InputProblem:
    return InputProblem.of_option(
        option, repr(value), rule, "write host:port, an IPv6 address in brackets"
    )


def parse_bootstrap(text: str) -> tuple[Address, ...]:
    """
    Parse a comma-separated list of brokers; the default port is 9092.

    Raises
    ------
    BadInputError
        With every part that is not an address.

    Examples
    --------
    >>> [str(address) for address in parse_bootstrap("k1:19092, [::1]")]
    ['k1:19092', '[::1]:9092']
    """
    parts = [part.strip() for part in text.split(",")]
    # Kafka accepts and ignores a protocol before the address.
    bare = [re.sub(r"^[A-Za-z_]+://", "", part) for part in parts]
    found = [_parse(part) for part in bare]
    option = "--bootstrap-server"
    problems = [
        _problem(option, part, "must be host:port")
        for part, address in zip(parts, found, strict=True)
        if address is None
    ]
    raise_problems("no address of a broker", problems)
    return tuple(address for address in found if address is not None)


def parse_resolve(values: Sequence[str]) -> Mapping[Address, Address]:
    """
    Parse ``ADVERTISED=REAL`` pairs.

    Raises
    ------
    BadInputError
        With every value that is not such a pair, or repeats an advertised address.

    Examples
    --------
    >>> pairs = parse_resolve(["kafka-1:9092=127.0.0.1:19092"])
    >>> [f"{a} at {b}" for a, b in pairs.items()]
    ['kafka-1:9092 at 127.0.0.1:19092']
    """
    found: dict[Address, Address] = {}
    problems = []
    for value in values:
        sides = [_parse(side.strip()) for side in value.split("=")]
        if len(sides) != 2 or sides[0] is None or sides[1] is None:
            rule = "must be ADVERTISED=REAL, host:port each"
            problems.append(_problem("--resolve", value, rule))
        elif sides[0] in found:
            rule = "must resolve each advertised address once"
            problems.append(_problem("--resolve", value, rule))
        else:
            found[sides[0]] = sides[1]
    raise_problems("no resolution of an address", problems)
    return found
