"""What clusters cost, and what they send from rack to rack."""

from typing import Any

import pytest
from hypothesis import given, settings

from placement.scenarios.cross_rack_load import cross_rack_rate
from planner.snapshot import Snapshot
from planner.what_if.changes.prices import SECONDS
from planner.what_if.play_scenarios import WhatIfRequest, read_options, what_if
from planner.what_if.scenarios_file import validate_scenarios
from support.clusters import clusters, make_state
from support.commands import run
from support.plans import skewed_document, write_document
from support.scenarios import scenario

OLD = {"name": "old", "price": 10.0, "brokers": "1-6"}
NEW = {"name": "new", "price": 25.0}
ADD = {"change": "add-brokers", "count": 2, "type": "new"}
LOSE = {"change": "lose", "brokers": "2"}


def prices_of(*scenarios: Any, **more: Any) -> list[Any]:
    snapshot = Snapshot.from_document(skewed_document())
    state = snapshot.to_state()
    document = {"scenarios": [scenario("as-is", then="nothing"), *scenarios]} | more
    file = validate_scenarios(document, snapshot, state)
    found = what_if(snapshot, file, read_options(WhatIfRequest(effort="quick"), state))
    return [row["price"] for row in (found.today, *found.scenarios)]


def test_brokers_cost_what_their_types_do():
    gone = {"change": "remove-brokers", "brokers": "1"}
    today, same, more, lost, fewer = prices_of(
        scenario("more", ADD, then="nothing"),
        scenario("lost", ADD, LOSE, then="nothing"),
        scenario("fewer", gone, then="needed"),
        types=[OLD, NEW],
    )

    assert today == same
    totals = [each["total"] for each in (today, more, lost, fewer)]
    assert totals == [60.0, 110.0, 100.0, 50.0]
    assert {today[name] for name in ("cross_rack", "remote", "copying")} == {None}


def test_brokers_without_a_type_have_a_price_of_their_own():
    types = [OLD | {"brokers": "1-2"}]

    assert prices_of(types=types, prices={"broker": 1.5})[0]["brokers"] == 26.0
    assert prices_of(prices={"broker": 1.5})[0]["total"] == 9.0
    assert prices_of() == [None, None]


@pytest.mark.parametrize("per", ["hour", "day", "month", "year"])
def test_what_crosses_racks_costs_by_its_bytes(per: str):
    snapshot = Snapshot.from_document(skewed_document())
    rate = cross_rack_rate(snapshot.to_state())
    told = {"per": per, "cross_rack_gb": 2e9}

    today, _, moved = prices_of(scenario("moved"), prices=told)

    assert rate
    assert today["cross_rack"] == today["total"]
    assert today["total"] == pytest.approx(rate * SECONDS[per] * 2.0)
    assert today["copying"] == 0
    assert moved["copying"] > 0


def test_remote_storage_costs_by_its_bytes():
    tier = {"change": "tier", "local": "1h"}

    today, _, tiered = prices_of(
        scenario("tiered", tier, then="nothing"), prices={"remote_gb": 1e9}
    )

    assert today["remote"] == 0
    sizes = [
        p["size_bytes"] for t in skewed_document()["topics"] for p in t["partitions"]
    ]
    assert tiered["remote"] == pytest.approx(sum(sizes))


@settings(max_examples=30)
@given(clusters(all_known=True))
def test_followers_in_other_racks_fetch_all_that_is_written(state: Any):
    racks = {
        int(b): state.brokers.racks[k]
        for b, k in zip(state.brokers.ids, state.brokers.rack_idx, strict=True)
    }
    live = set(state.brokers.ids[state.brokers.is_live].tolist())
    expected = 0.0
    for p in range(state.num_partitions):
        leader = int(state.partitions.leader_idx[p])
        if leader < 0:
            continue
        home = racks[int(state.brokers.ids[leader])]
        away = [b for b in state.brokers_of(p) if b in live and racks[b] != home]
        expected += len(away) * float(state.partitions.in_bytes_per_s[p])

    found = cross_rack_rate(state)

    names = {racks[b] for b in live}
    if None in names or len(names) < 2:
        assert found is None
    else:
        assert found == pytest.approx(expected)


def test_unknown_rates_are_not_nothing():
    state = make_state([[0, 1]], racks="ab", in_rate=float("nan"))

    assert cross_rack_rate(state) is None


def test_the_screen_tells_prices(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_document(skewed_document(), tmp_path / "s.json")
    (tmp_path / "s.toml").write_text(
        '[[types]]\nname = "old"\nprice = 1000.0\nbrokers = "1-6"\n'
        '[prices]\ncurrency = "EUR"\nper = "year"\ncross_rack_gb = 0.1\n'
        '[[scenarios]]\nname = "more"\n'
        'changes = [{change = "add-brokers", count = 3}]\n'
    )

    outcome = run(capsys, "what-if", "s.json", "s.toml", "--effort", "quick")

    lines = outcome.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert any(line.split()[:2] == ["today", "6,000"] for line in lines)
    assert any(line.split()[:2] == ["more", "9,000"] for line in lines)
    assert "Prices: EUR a year" in outcome.out
    assert "between racks" in outcome.out


def test_a_sweep_tells_the_cheapest_number_of_brokers(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_document(skewed_document(), tmp_path / "s.json")
    (tmp_path / "s.toml").write_text(
        '[prices]\nbroker = 10.0\n[[sweeps]]\nname = "far"\n'
        'brokers = "5-7"\ntraffic = [1.0, 90.0]\n'
    )

    words = ("what-if", "s.json", "s.toml", "--effort", "quick", "--jobs", "1")
    rows = run(capsys, *words, "--format", "json").document["scenarios"]
    shown = " ".join(run(capsys, *words).out.split())

    held = [row for row in rows if row["holds"]]
    least = min(held, key=lambda row: row["price"]["total"])
    assert {row["point"]["traffic"] for row in held} == {1.0}
    told = f"1: {least['brokers']} brokers, {least['price']['total']:.2f}; 90: none"
    assert f"far: cheapest that holds, by traffic: {told}" in shown
