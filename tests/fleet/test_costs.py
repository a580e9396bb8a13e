"""What clusters cost: as what-if has it, added up, and never less than size allows."""

import json

import pytest

from placement.draft.draft import Settings
from planner.cli.fleet.fleet_costs import cost_lines, print_cluster_costs
from planner.demo import SNAPSHOT_FILE
from planner.errors import BadInputError
from planner.fleet.cluster_overview import overview_row
from planner.fleet.fleet_prices import read_fleet_prices
from planner.fleet.overview_costs import fleet_costs
from planner.snapshot import Snapshot, read_snapshot
from support.commands import run
from support.plans import skewed_document, write_document
from support.snapshots import small_document

PRICES = """
[prices]
currency = "EUR"
per = "month"
broker = 620.0
cross_rack_gb = 0.02
remote_gb = 0.023
"""


def prices_of(tmp_path, text=PRICES):
    path = tmp_path / "prices.toml"
    path.write_text(text)
    return read_fleet_prices(path)


def row_of(snapshot, prices, cluster_id="c"):
    header = {**snapshot.header(), "cluster_id": cluster_id}
    row = overview_row(snapshot.tables(), header, Settings(), prices)
    assert row["status"] == "ok", row["reason"]
    return row


def test_parts_are_those_of_what_if(tmp_path, capsys):
    document = skewed_document()
    for number, topic in enumerate(document["topics"]):
        for partition in topic["partitions"]:
            partition["remote_bytes"] = 10**10 * number
    file = write_document(document, tmp_path / "s.json")
    scenarios = tmp_path / "w.toml"
    scenarios.write_text(f"{PRICES}[[scenarios]]\nname = 'x'\nthen = 'nothing'\n")

    row = row_of(read_snapshot(file), prices_of(tmp_path))

    found = run(capsys, "what-if", file, scenarios, "--format", "json")
    price = found.document["today"]["price"]
    for name in ("brokers", "cross_rack", "remote", "total"):
        assert row[f"cost_{name}"] == pytest.approx(price[name], rel=1e-6), name
    assert row["cost_cross_rack"] > 0
    assert (row["cost_currency"], row["cost_per"]) == ("EUR", "month")


@pytest.mark.parametrize("given", [SNAPSHOT_FILE, None])
def test_the_fewest_brokers_are_the_bound_of_size(tmp_path, capsys, given):
    document = skewed_document(num_brokers=12, num_partitions=60)
    for broker in document["brokers"]:
        for log_dir in broker["log_dirs"]:
            log_dir["size_bytes"] *= 4
    file = given or write_document(document, tmp_path / "s.json")

    row = row_of(read_snapshot(file), prices_of(tmp_path))

    sized = run(capsys, "size", file, "--format", "json").document
    assert row["brokers_at_least"] == sized["lower_bound"]
    spared = row["brokers"] - row["brokers_at_least"]
    assert row["saving_at_most"] == max(spared, 0) * 620
    assert row["brokers_if_balanced"] <= row["brokers"]
    spared = row["brokers"] - row["brokers_if_balanced"]
    assert row["saving_if_balanced"] == spared * 620


def two_racks():
    """Broker 1 leads t-0 (10 B/s to another rack), 2 leads u-0 (to its own rack)."""
    document = small_document()
    racks = ("a", "b", "b")
    for broker, rack in zip(document["brokers"], racks, strict=True):
        broker.update(rack=rack, tags={"env": "prod", "type": f"t{rack}"})
    document["topics"] = [
        {
            "name": name,
            "tags": tags,
            "partitions": [
                {
                    "partition": 0,
                    "replicas": replicas,
                    "size_bytes": size,
                    "in_bytes_per_s": rate,
                }
            ],
        }
        for name, tags, replicas, size, rate in (
            ("t", {"owner": "team-a", "tier": "1"}, [1, 2], 300, 10.0),
            ("u", {}, [2, 3], 100, 50.0),
        )
    ]
    return Snapshot.from_document(document)


def test_costs_are_whose_the_bytes_are(tmp_path):
    text = """
    [prices]
    per = "day"
    cross_rack_gb = 1e9
    [[types]]
    name = "ta"
    price = 10.0
    [[types]]
    name = "tb"
    price = 5.0
    """

    row = row_of(two_racks(), prices_of(tmp_path, text))

    assert row["cost_brokers"] == 20
    # 10 B/s for a day, at 1 a byte.
    assert row["cost_cross_rack"] == 864_000
    assert row["cost_remote"] is None
    assert dict(row["cost_by_owner"]) == {"team-a": 15 + 864_000, "": 5}
    # What all brokers have alike is a tag of every topic; their types differ.
    assert dict(row["cost_by_tag"]) == {"tier=1": 15 + 864_000, "env=prod": 864_020}
    assert row["cost_total"] == 864_020


def test_other_prices_for_some_clusters(tmp_path):
    text = (
        PRICES
        + """
    [[clusters]]
    cluster = "us-.*"
    tags = { env = "prod" }
    broker = 1.0
    """
    )
    prices = prices_of(tmp_path, text)

    found = {
        name: row_of(two_racks(), prices, name)["cost_brokers"]
        for name in ("us-1", "eu-1")
    }

    assert found == {"us-1": 3.0, "eu-1": 3 * 620.0}
    assert prices.of("us-1", {"env": "dev"}).broker == 620
    assert prices.of("us-1", {"env": "prod"}).cross_rack_gb == 0.02


def test_what_has_no_price_is_null(tmp_path):
    prices = prices_of(tmp_path, "[prices]\n[[types]]\nname = 'ta'\nprice = 1.0\n")

    row = row_of(two_racks(), prices)

    assert row["cost_brokers"] is None
    assert (row["cost_total"], row.get("saving_at_most")) == (None, None)
    costs = fleet_costs([row | {"cluster_id": "c"}])
    assert (costs["cost_total"], costs["without_prices"]) == (None, 1)


def test_costs_of_a_fleet_are_those_of_its_clusters(tmp_path):
    prices = prices_of(tmp_path)
    rows = [
        row_of(two_racks(), prices),
        row_of(read_snapshot(SNAPSHOT_FILE), prices),
    ]

    costs = fleet_costs([*rows, {"status": "failed"}])

    total = sum(row["cost_total"] for row in rows)
    assert costs["cost_total"] == pytest.approx(total)
    assert sum(costs["by_owner"].values()) == pytest.approx(total)
    assert costs["without_prices"] == 0
    json.dumps(costs)
    first, *rest = cost_lines(costs, prices.unit)
    assert first.startswith("Costs: ")
    assert "EUR a month: brokers " in first
    (owners,) = (line for line in rest if line.startswith("By owner: "))
    assert "team-a " in owners


def test_what_is_saved_is_printed_of_the_dearest_first(capsys):
    row = {
        "cluster_id": "c", "cost_total": 6200.0, "cost_cross_rack": None,
        "saving_if_balanced": 620.0, "brokers_if_balanced": 9,
        "saving_at_most": 1240.0, "brokers_at_least": 8, "brokers": 10,
    }  # fmt: skip
    dear = row | {"cluster_id": "d", "cost_total": 7000.0}

    print_cluster_costs([row, dear, {"cluster_id": "failed"}])

    _, first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("d ")
    assert second.split() == ["c", "6,200", "-", "10", "9", "620.00", "8", "1,240"]


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("[prices", "", "must be TOML: Expected"),
        ("", "prices", "the key is required"),
        ("[prices]\nbrokr = 1.0", "prices.brokr", "did you mean broker?"),
        ("[prices]\nper = 'week'", "prices.per", "'hour', 'day', 'month' or 'year'"),
        ("[prices]\nbroker = -1.0", "prices.broker", "greater than or equal to 0"),
        ("[prices]\n[[clusters]]\ncluster = '('", "clusters[0].cluster", "expression"),
    ],
)
def test_what_are_no_prices_is_refused(tmp_path, text, place, said):
    with pytest.raises(BadInputError) as refused:
        prices_of(tmp_path, text)

    (problem,) = refused.value.problems
    assert problem.place == place
    assert said in f"{problem.rule}; {problem.remedy}"
