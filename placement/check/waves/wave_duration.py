"""Copies of one wave by broker, and the duration of the wave."""

from collections import Counter
from collections.abc import Iterable, Mapping

from placement.check.waves.throttle_lists import WaveProperties


class Passing:
    """
    Copies of one wave between brokers, and moves inside brokers, by broker.

    `num_out` and `num_in` count copies; `sent`, `got` and `inside` are bytes.
    """

    def __init__(self) -> None:
        self.num_out: Counter[int] = Counter()
        self.num_in: Counter[int] = Counter()
        self.sent: Counter[int] = Counter()
        self.got: Counter[int] = Counter()
        self.inside: Counter[int] = Counter()

    def come(self, sender: int | None, brokers: Iterable[int], size: int) -> None:
        """Add copies of a size, in bytes, from a sender to brokers."""
        for broker in brokers:
            self.num_in[broker] += 1
            self.got[broker] += size
            if sender is not None:
                self.num_out[sender] += 1
                self.sent[sender] += size

    def move(self, sizes: Mapping[int, int]) -> None:
        """Add moves inside brokers, with the bytes by broker."""
        self.num_in.update(sizes.keys())
        self.inside.update(sizes)

    def seconds(
        self, properties: WaveProperties, inside_bytes_per_s: float | None
    ) -> float:
        """Return the copy seconds of the busiest broker; 0 if the rate is unknown."""
        if properties.bytes_per_s is None:
            return 0.0
        between = max([*self.sent.values(), *self.got.values()], default=0)
        inside = max(self.inside.values(), default=0)
        rate = inside_bytes_per_s or properties.bytes_per_s
        return max(between / properties.bytes_per_s, inside / rate)
