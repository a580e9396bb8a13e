"""
Ask what a cluster survives, and what the restart of one broker does.

Prints::

    any broker may be lost: False; the hardest is broker 2
    kind    lost  out_broker  out_most
    broker  2              3  0.9242
    rack    b              3  1.075
    without broker 7 broker 2 is busiest: 72 % of its network out
"""

import planner
from planner.demo import SNAPSHOT_FILE


def main():
    snapshot = planner.read_snapshot(SNAPSHOT_FILE)
    found = planner.try_failures(snapshot)
    failures = found.table.to_polars()
    hardest = failures["lost"][0]
    any_broker = found.survives["broker"]
    print(f"any broker may be lost: {any_broker}; the hardest is broker {hardest}")
    busiest = failures.sort("out_most", descending=True).group_by("kind").first()
    print("kind    lost  out_broker  out_most")
    for row in busiest.sort("kind").iter_rows(named=True):
        if row["kind"] != "log_dir":
            print(
                f"{row['kind']:<7} {row['lost']:<5} {row['out_broker']:>10}  "
                f"{row['out_most']:.4g}"
            )
    binds = planner.lose(snapshot, brokers=[7]).document["binding"]
    use = round(100 * binds["use"])
    print(
        f"without broker 7 broker {binds['broker']} is busiest: {use} % of its "
        f"network {binds['resource']}"
    )


if __name__ == "__main__":
    main()
