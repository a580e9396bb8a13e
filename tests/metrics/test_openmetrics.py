"""The text of metrics, read back by Prometheus' own parsers."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.openmetrics.parser import (
    text_string_to_metric_families as read_openmetrics,
)
from prometheus_client.parser import text_string_to_metric_families as read_text

from placement.draft.draft import Settings
from placement.score import VIOLATIONS
from planner.demo import SNAPSHOT_FILE
from planner.errors import BadInputError
from planner.fleet.cluster_overview import overview_row
from planner.metrics import metric_list
from planner.metrics.metric import CLUSTER, Metric
from planner.metrics.metric_list import METRICS, MOST_BROKERS
from planner.metrics.openmetrics_text import overview_metrics, score_metrics
from planner.score import score_document, score_snapshot
from planner.snapshot import Snapshot, read_snapshot
from support.snapshots import small_document

NOW = datetime(2026, 11, 21, 10, tzinfo=UTC)
RESOURCES = ("disk", "in", "out", "cpu", "replicas", "leaders")


def document_of(snapshot):
    return score_document(score_snapshot(snapshot, now=NOW))


@pytest.fixture(scope="module")
def demo():
    return document_of(read_snapshot(SNAPSHOT_FILE))


def small(**changes):
    return Snapshot.from_document(small_document(**changes))


def samples_of(text):
    """Values by name and labels; refuses what either parser refuses."""
    families = list(read_openmetrics(text))
    found = {
        key(sample.name, sample.labels): sample.value
        for family in families
        for sample in family.samples
    }
    older = {
        key(sample.name, sample.labels): sample.value
        for family in read_text(text)
        for sample in family.samples
    }
    # Labels without a value are no labels.
    assert older == found
    assert len(found) == sum(len(family.samples) for family in families)
    return found


def key(name, labels):
    return name, frozenset(labels.items())


def at(samples, metric, cluster="orders-eu", **labels):
    return samples.get(key(metric.full_name, {CLUSTER: cluster, **labels}))


def test_every_family_is_described_as_it_is_declared(demo):
    families = {each.name: each for each in read_openmetrics(score_metrics([demo]))}

    declared = {metric.full_name: metric for metric in METRICS}
    assert families.keys() <= declared.keys()
    for name, family in families.items():
        metric = declared[name]
        assert (family.type, family.unit) == ("gauge", metric.unit)
        assert family.documentation == metric.help
        for sample in family.samples:
            assert tuple(sample.labels) == metric.all_labels
            assert sample.timestamp is None


def test_the_values_are_those_of_the_document(demo):
    samples = samples_of(score_metrics([demo]))

    for resource in RESOURCES:
        figures = demo["resources"][resource]
        of = {"resource": resource}
        assert at(samples, metric_list.MAX_USE, **of) == figures["max_use"]
        assert at(samples, metric_list.VARIATION, **of) == figures["cv"]
        assert at(samples, metric_list.KNOWN, **of) == figures["known_fraction"]
    for rule in VIOLATIONS:
        count = demo["violations"][rule]
        assert at(samples, metric_list.VIOLATIONS, rule=rule) == count
    for broker in demo["by_broker"]:
        of = {"broker": str(broker["broker"]), "rack": broker["rack"]}
        for resource in RESOURCES:
            expected = broker[resource]["deviation"]
            found = at(samples, metric_list.BROKER_DEVIATION, resource=resource, **of)
            assert found == expected
    assert at(samples, metric_list.MIN_BYTES) == demo["min_bytes_to_balance"]
    taken_at = datetime(2026, 11, 21, 8, tzinfo=UTC)
    assert at(samples, metric_list.TAKEN_AT) == taken_at.timestamp()
    assert at(samples, metric_list.BROKERS_OMITTED) == 0
    uses = [each["disk"]["use"] for each in demo["by_log_dir"]]
    assert at(samples, metric_list.LOG_DIR_MAX_USE) == max(uses)


def test_what_is_unknown_has_no_sample(demo):
    text = score_metrics([demo])

    assert demo["resources"]["cpu"]["total"] is None
    assert metric_list.CPU.full_name not in text
    assert at(samples_of(text), metric_list.MAX_USE, resource="cpu") is None
    assert at(samples_of(text), metric_list.KNOWN, resource="cpu") == 0


def test_a_score_on_spark_has_no_log_dirs_and_may_lack_brokers(demo):
    kept = {k: v for k, v in demo.items() if not k.startswith("by_")}

    samples = samples_of(score_metrics([kept | {"by_broker": None}]))

    assert at(samples, metric_list.BROKERS_OMITTED) == demo["brokers"]
    assert at(samples, metric_list.LOG_DIR_MAX_USE) is None
    assert at(samples, metric_list.HOT_SPOTS) == demo["num_hot_spots"]


@pytest.mark.parametrize("count", [MOST_BROKERS, MOST_BROKERS + 1])
def test_the_number_of_series_is_bounded(count, demo):
    (broker, *_) = demo["by_broker"]
    brokers = [broker | {"broker": each} for each in range(count)]

    document = demo | {"brokers": count, "by_broker": brokers}
    samples = samples_of(score_metrics([document]))

    own = [labels for _, labels in samples if "broker" in dict(labels)]
    omitted = at(samples, metric_list.BROKERS_OMITTED)
    known = sum(
        broker[resource][figure] is not None
        for resource in RESOURCES
        for figure in ("use", "deviation")
    )
    listed = count if count <= MOST_BROKERS else 0
    assert (len(own), omitted) == (listed * known, count - listed)
    # Of the cluster itself; docs/monitoring.md names the bound.
    assert len(samples) - len(own) <= 80


@pytest.mark.parametrize("count", [1, 50])
def test_the_number_of_series_of_a_fleet_is_bounded_by_its_clusters(count):
    everything = {
        "growth_bytes_per_day": 1.0,
        "days_until_full": 2.0,
        "days_until_full_low": 1.0,
        "days_until_full_high": 3.0,
        "moved_bytes_since": 7,
    }
    row = row_of(read_snapshot(SNAPSHOT_FILE), **everything)
    rows = [row | {"cluster_id": f"c{number}"} for number in range(count)]

    samples = samples_of(overview_metrics(rows))

    # docs/monitoring.md names the bound; nothing but the cluster tells series apart.
    assert len(samples) % count == 0
    assert len(samples) <= 80 * count
    assert not any({"broker", "topic"} & dict(labels).keys() for _, labels in samples)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_name_is_read_back(name):
    document = score_document(score_snapshot(small(), now=NOW))

    text = score_metrics([document | {"cluster_id": name}])

    (label,) = {dict(labels)[CLUSTER] for _, labels in _labelled(text)}
    assert label == name


def _labelled(text):
    """Labels as the OpenMetrics parser reads them."""
    for family in read_openmetrics(text):
        for sample in family.samples:
            yield sample.name, tuple(sample.labels.items())


def test_a_cluster_without_an_id_and_a_broker_without_a_rack_have_empty_labels():
    document = small_document(cluster_id=None)
    document["brokers"][0]["rack"] = None

    samples = samples_of(score_metrics([document_of(Snapshot.from_document(document))]))

    assert at(samples, metric_list.SCORED, cluster="") == 1
    racks = {dict(labels).get("rack") for _, labels in samples}
    assert "" in racks


def test_two_snapshots_of_a_cluster_are_refused(demo):
    with pytest.raises(BadInputError) as refused:
        score_metrics([demo, document_of(small()), demo])

    (problem,) = refused.value.problems
    assert "2 snapshots are of one cluster" in problem.rule
    assert problem.value == "orders-eu"


def test_clusters_stand_together_in_each_family(demo):
    samples = samples_of(score_metrics([demo, document_of(small())]))

    assert at(samples, metric_list.BROKERS) == 12
    assert at(samples, metric_list.BROKERS, cluster="small") == 3


def row_of(snapshot, **more):
    row = overview_row(snapshot.tables(), snapshot.header(), Settings())
    return {
        "cluster_id": snapshot.cluster_id,
        "taken_at": snapshot.taken_at,
        **row,
        **more,
    }


def test_an_overview_and_a_score_agree_where_both_have_a_sample(demo):
    row = row_of(read_snapshot(SNAPSHOT_FILE))

    scored = samples_of(score_metrics([demo]))
    seen = samples_of(overview_metrics([row]))

    both = scored.keys() & seen.keys()
    assert {name for name, _ in both} >= {
        metric.full_name
        for metric in (
            metric_list.VIOLATIONS, metric_list.MAX_USE, metric_list.HOT_SPOTS,
            metric_list.MIN_BYTES, metric_list.KNOWN, metric_list.TAKEN_AT,
        )
    }  # fmt: skip
    assert {key: seen[key] for key in both} == pytest.approx(
        {key: scored[key] for key in both}, rel=1e-9
    )


def test_forecasts_are_in_base_units():
    row = row_of(
        small(),
        growth_bytes_per_day=86_400.0,
        days_until_full=2.0,
        days_until_full_low=1.0,
        days_until_full_high=None,
        moved_bytes_since=7,
    )

    samples = samples_of(overview_metrics([row]))

    assert at(samples, metric_list.GROWTH, "small") == 1
    full = metric_list.UNTIL_FULL
    assert at(samples, full, "small", estimate="expected") == 2 * 86_400
    assert at(samples, full, "small", estimate="low") == 86_400
    assert at(samples, full, "small", estimate="high") is None
    assert at(samples, metric_list.MOVED, "small") == 7
    headroom = at(samples, metric_list.HEADROOM, "small", loss="broker")
    assert headroom == row["headroom_n1_broker"]


def test_a_cluster_that_cannot_be_scored_says_so_and_nothing_else():
    row = {"cluster_id": "c", "taken_at": "2026-11-21T08:00:00Z"}
    columns = row_of(small())
    failed = dict.fromkeys(columns) | row | {"status": "failed", "reason": "cut off"}

    samples = samples_of(overview_metrics([failed]))

    assert at(samples, metric_list.SCORED, "c") == 0
    assert {name for name, _ in samples} == {
        metric_list.SCORED.full_name,
        metric_list.TAKEN_AT.full_name,
    }


def test_no_cluster_at_all_is_an_empty_text():
    assert overview_metrics([]) == "# EOF\n"


def test_a_name_ends_in_its_unit():
    with pytest.raises(ValueError, match="must end in its unit, bytes"):
        Metric(name="disk", help="Bytes.", unit="bytes")


def test_names_and_helps_keep_the_conventions():
    names = [metric.name for metric in METRICS]

    assert len(names) == len(set(names))
    for metric in METRICS:
        assert metric.unit in {
            "", "bytes", "bytes_per_second", "cores", "ratio", "seconds",
        }  # fmt: skip
        # Suffixes that OpenMetrics keeps for other kinds of metrics.
        kept = ("_total", "_count", "_sum", "_info", "_bucket", "_created")
        assert not metric.name.endswith(kept)
        assert metric.help.endswith(".")
        assert not set(metric.help) & set('"\\\n')
