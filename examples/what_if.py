"""
Lose a rack on the busiest day, and ask how many brokers the cluster needs.

Prints::

    today         12 brokers, out 39 % on average, holds: False
    no rack b      8 brokers, out 45 % on average, holds: False
    twice as many 24 brokers, out 20 % on average, holds: True
    9 brokers: exact, without [10, 11, 12]
"""

import planner
from planner.demo import SNAPSHOT_FILE

SCENARIOS = {
    "scenarios": [
        {
            "name": "no rack b",
            "then": "nothing",
            "changes": [{"change": "lose", "racks": ["b"]}],
        },
        {
            "name": "twice as many",
            "changes": [{"change": "add-brokers", "count": 12, "like": 1}],
        },
    ]
}


def main():
    snapshot = planner.read_snapshot(SNAPSHOT_FILE)
    found = planner.play_scenarios(snapshot, SCENARIOS, effort="quick")
    for row in (found["today"], *found):
        mean = round(100 * row["resources"]["out"]["mean_use"])
        print(
            f"{row['name']:<13} {row['brokers']:>2} brokers, "
            f"out {mean} % on average, holds: {row['holds']}"
        )
    sized = planner.size_cluster(snapshot, survives=())
    print(f"{sized.brokers} brokers: {sized.status}, without {list(sized.remove)}")


if __name__ == "__main__":
    main()
