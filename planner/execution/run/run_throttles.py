"""
Throttles of a run: set before copies, and always taken off again.

Rates are set on live brokers alone. The lists of throttled replicas hold the copies
under way and no others, because the in-sync traffic of every listed replica counts
against the rate. Only values of ours are removed; what was set before comes back.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from planner.execution.admission import Admitted
from planner.execution.cluster.running_cluster import RunningCluster
from planner.execution.run.journal import Journal, Line
from planner.kafka.actions.config_changes import NO_TOPIC, ConfigAction, Place
from planner.throttles import BROKER_THROTTLES, TOPIC_THROTTLES

LEADER_LIST, FOLLOWER_LIST = TOPIC_THROTTLES
Entries = dict[str, dict[str, set[str]]]
"""
Values by name of a place and config key: rates of a broker, or throttled replicas,
``partition:broker``, of a topic.
"""
Values = dict[str, str]


@dataclass(slots=True)
class OwnThrottles:
    """
    Throttles that a run has set, and what was there before.

    Parameters
    ----------
    rates
        Our values by broker id and config key: one of them is in force, since a run may
        have ended before it set the last one.
    entries
        Throttled replicas of ours by topic and config key.
    before
        Values of every place before the run.
    """

    rates: Entries = field(default_factory=dict)
    entries: Entries = field(default_factory=dict)
    before: dict[Place, Values] = field(default_factory=dict)

    @classmethod
    def from_journal(cls, lines: Iterable[Line]) -> "OwnThrottles":
        """Return the throttles that the last runs may have left behind."""
        found = cls()
        for line in lines:
            if line.get("event") == "throttled":
                for one in line["places"]:
                    found.note(one)
            elif line.get("event") == "cleaned" and not line.get("left"):
                found = cls()
        return found

    def note(self, line: Line) -> None:
        """Add the throttles of one place, as the journal has them."""
        place = Place(line["scope"], line["name"])
        # The first one counts: a later run finds ours there.
        self.before.setdefault(place, dict(line["before"]))
        kept = self.rates if place.scope == "broker" else self.entries
        own = kept.setdefault(place.name, {})
        for key, value in line["values"].items():
            own.setdefault(key, set()).update(value.split(","))

    @property
    def places(self) -> list[Place]:
        """Every broker and topic with a throttle of ours."""
        brokers = [Place("broker", name) for name in sorted(self.rates, key=int)]
        return brokers + [Place("topic", name) for name in sorted(self.entries)]

    def explains(self, scope: str, name: str, key: str, value: str) -> bool:
        """Return whether a throttle in force is ours, or one of before the run."""
        if scope == "broker":
            return value in self.rates.get(name, {}).get(key, ())
        place = Place("topic", name)
        before = _entries(self.before.get(place, {}).get(key, ""))
        own = self.entries.get(name, {}).get(key, set())
        return scope == "topic" and set(_entries(value)) <= own | set(before)

    def undone(self, place: Place, now: Values) -> dict[str, tuple[ConfigAction, str]]:
        """Return the changes that take ours off a place, and bring back the others."""
        before = self.before.get(place, {})
        if place.scope == "broker":
            ours = self.rates.get(place.name, {})
            # A value that another tool has set since is left alone; a broker that lags
            # shows the one of before.
            return {
                key: _restored(before.get(key))
                for key, values in ours.items()
                if now.get(key) in {*values, before.get(key)}
            }
        changes = {
            key: _list_restored(own, before.get(key), now.get(key))
            for key, own in self.entries.get(place.name, {}).items()
        }
        return {key: change for key, change in changes.items() if change is not None}


def _list_restored(
    own: Collection[str], before: str | None, now: str | None
) -> tuple[ConfigAction, str] | None:
    """
    Return the change that takes entries of ours off a list; `None`: there is none.

    A broker that lags shows the list as it was before entries of ours came or went:
    neither one that lacks, nor one without entries of ours, is left as it is.
    """
    if now is None and before is not None:
        return None
    had = _entries(before or "")
    if all(entry in own and entry not in had for entry in _entries(now or "")):
        return _restored(before)
    ours = sorted(set(own).difference(had))
    return ("SUBTRACT", ",".join(ours)) if ours else None


def _restored(value: str | None) -> tuple[ConfigAction, str]:
    return ("DELETE", "") if value is None else ("SET", value)


def _entries(value: str) -> list[str]:
    return [one for one in value.split(",") if one]


class RunThrottles:
    """
    Throttles of the copies under way.

    Parameters
    ----------
    cluster
        The cluster.
    journal
        Journal that each change is written to first.
    own
        Throttles left behind by earlier runs of the plan.
    rate_bytes_per_s
        Rate at which a broker sends, and at which it receives; `None`: no throttle.
    """

    def __init__(
        self,
        cluster: RunningCluster,
        journal: Journal,
        own: OwnThrottles,
        rate_bytes_per_s: int | None,
    ) -> None:
        self._cluster, self._journal, self.own = cluster, journal, own
        self.rate = rate_bytes_per_s
        self._limited: dict[int, int] = {}

    def limit(self, brokers: Collection[int]) -> None:
        """Set the rates on live brokers that lack them."""
        if self.rate is None:
            return
        values = dict.fromkeys(BROKER_THROTTLES, str(self.rate))
        new = [b for b in sorted(brokers) if self._limited.get(b) != self.rate]
        if not new:
            return
        now = self._cluster.configs([Place("broker", str(broker)) for broker in new])
        # A broker that is down gets its rate when it is back.
        refused = self._set(dict.fromkeys(now, values), now)
        limited = [int(place.name) for place in now if place not in refused]
        self._limited |= dict.fromkeys(limited, self.rate)

    def other_rates(self, brokers: Iterable[int]) -> list[str]:
        """Return the rates of brokers that are no longer those that were set here."""
        places = [
            Place("broker", str(b)) for b in sorted(set(brokers) & {*self._limited})
        ]
        now = self._cluster.configs(places) if places else {}
        return [
            f"{key} of broker {place.name} is {value}"
            for place, values in now.items()
            for key in BROKER_THROTTLES
            if (value := values.get(key)) not in {None, str(self.rate)}
        ]

    def change_rate(self, rate_bytes_per_s: int) -> None:
        """Change the rate of every broker that has one."""
        self.rate = rate_bytes_per_s
        self.limit(list(self._limited))

    def admit(self, steps: Iterable[Admitted]) -> None:
        """Throttle the copies of some steps."""
        if self.rate is None:
            return
        wanted = _lists(steps)
        places = [Place("topic", topic) for topic in sorted(wanted)]
        new = [place for place in places if place not in self.own.before]
        now = self._cluster.configs(new) if new else {}
        changes = {
            place: {
                key: ",".join(sorted(some)) for key, some in wanted[place.name].items()
            }
            for place in places
        }
        self._set(changes, now, "APPEND")

    def release(self, steps: Iterable[Admitted]) -> None:
        """End the throttles of copies that are over."""
        lists = _lists(steps)
        changes = {
            Place("topic", topic): found
            for topic, keys in sorted(lists.items())
            if (found := self._to_release(topic, keys))
        }
        if not changes:
            return
        self._cluster.set_configs(changes)

    def _to_release(
        self, topic: str, keys: Mapping[str, set[str]]
    ) -> dict[str, tuple[ConfigAction, str]]:
        own = self.own.entries.get(topic, {})
        before = self.own.before.get(Place("topic", topic), {})
        found: dict[str, tuple[ConfigAction, str]] = {}
        for key, entries in keys.items():
            ours = entries & own.get(key, set()) - set(_entries(before.get(key, "")))
            if ours:
                found[key] = ("SUBTRACT", ",".join(sorted(ours)))
        return found

    def _set(
        self,
        changes: Mapping[Place, Values],
        now: Mapping[Place, Values],
        action: ConfigAction = "SET",
    ) -> dict[Place, str]:
        """Write changes to the journal, make them, and return the refusals."""
        lines: list[Line] = [
            {
                "scope": place.scope,
                "name": place.name,
                "before": self.own.before.get(place, now.get(place, {})),
                "values": values,
            }
            for place, values in changes.items()
        ]
        if not lines:
            return {}
        self._journal.write("throttled", places=lines)
        for line in lines:
            self.own.note(line)
        return self._cluster.set_configs(
            {
                place: {key: (action, value) for key, value in values.items()}
                for place, values in changes.items()
            }
        )

    def clean(self) -> list[str]:
        """
        Take every throttle of ours off, and bring back what was there before.

        Returns
        -------
        list
            Places where that is not possible now, with the reason.
        """
        places = self.own.places
        if not places:
            return []
        now = self._cluster.configs(places)
        changes = {
            place: found
            for place in places
            if place in now and (found := self.own.undone(place, now[place]))
        }
        refused = self._cluster.set_configs(changes) if changes else {}
        left = [*_down(places, now), *_left(refused)]
        self._journal.write("cleaned", left=left)
        if not left:
            self.own = OwnThrottles()
        return left


def _down(places: Iterable[Place], now: Collection[Place]) -> Iterator[str]:
    """Yield the brokers that do not answer; a topic that is gone has no throttle."""
    for place in places:
        if place not in now and place.scope == "broker":
            yield f"{_text(place)}: it is down"


def _left(refused: Mapping[Place, str]) -> Iterator[str]:
    """Yield the places that refused; a topic that was deleted has no throttle."""
    for place, reason in refused.items():
        if NO_TOPIC not in reason:
            yield f"{_text(place)}: {reason}"


def _text(place: Place) -> str:
    return f"{place.scope} {place.name}"


def _lists(steps: Iterable[Admitted]) -> Entries:
    """Return the throttled replicas of steps: those that send, and those that come."""
    found: Entries = {}
    for one in steps:
        if not one.step.copies:
            continue
        topic, number = one.change.key
        lists = found.setdefault(topic, {LEADER_LIST: set(), FOLLOWER_LIST: set()})
        lists[LEADER_LIST] |= {f"{number}:{broker}" for broker in one.before}
        lists[FOLLOWER_LIST] |= {f"{number}:{broker}" for broker in one.step.copies}
    return found
