"""Controllers' quorum in a scenario: voters that are gone, and the majority left."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from placement.failures.controller_majority import Voter, keeps_majority, over_all
from placement.failures.failure_domains import DomainKind
from placement.model.cluster import ClusterState
from placement.scenarios.scenario_outcome import Outcome
from planner.text.format import brokers_text


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioQuorum:
    """
    The controllers of a scenario's cluster.

    Parameters
    ----------
    voters
        Voters of the quorum today; a scenario adds none.
    brokers, racks
        Ids of the brokers and names of the racks that are lost or removed.
    removed
        Ids of removed brokers whose processes vote.
    """

    voters: Sequence[Voter]
    brokers: frozenset[int]
    racks: frozenset[str]
    removed: frozenset[int]

    @property
    def has_majority(self) -> bool | None:
        """Whether the voters that are left are a majority; `None` where unknown."""
        return self._keeps()

    def survives_one_more(self, state: ClusterState, kind: DomainKind) -> bool | None:
        """Return whether the majority survives the loss of any one broker or rack."""
        if kind is DomainKind.BROKER:
            return over_all(self._keeps(brokers={int(b)}) for b in state.brokers.ids)
        names = {rack for rack in state.brokers.racks if rack is not None}
        return over_all(self._keeps(racks={name}) for name in sorted(names))

    def _keeps(
        self, brokers: Collection[int] = (), racks: Collection[str] = ()
    ) -> bool | None:
        return keeps_majority(
            self.voters,
            brokers=self.brokers.union(brokers),
            racks=self.racks.union(racks),
        )

    def shortfalls(self) -> Iterator[str]:
        """Yield what the quorum lacks."""
        if self.has_majority is False:
            majority = len(self.voters) // 2 + 1
            yield (
                f"fewer than {majority} of the {len(self.voters)} controllers that "
                "vote are left: without a majority no leader changes and nothing is "
                "copied"
            )

    def notes(self) -> Iterator[str]:
        """Yield a note on brokers that take their votes along."""
        if self.removed:
            verb = "votes" if len(self.removed) == 1 else "vote"
            yield (
                f"{brokers_text(sorted(self.removed))} {verb} in the controllers' "
                "quorum; no other voter is counted in their place"
            )


def quorum_after(outcome: Outcome, voters: Sequence[Voter]) -> ScenarioQuorum:
    """Return the quorum after the changes of a scenario and its plan."""
    variant = outcome.variant
    left = set(outcome.figures.state.brokers.ids.tolist()) - variant.leaving
    voting = {voter.broker_id for voter in voters if voter.broker_id is not None}
    removed = frozenset(voting - left - variant.lost_brokers)
    return ScenarioQuorum(
        voters=voters,
        brokers=variant.lost_brokers | removed,
        racks=variant.lost_racks,
        removed=removed,
    )
