"""Options of `keys grow`, unparsed, and the answer to them."""

from assignment.errors import UserPartitionerError
from planner.errors import raise_problems
from planner.io.problems import problem
from planner.keys.growth.key_growth import GrowthOptions, KeyGrowth, find_growth
from planner.keys.key_sample import KeySample
from planner.keys.keys_request import MOST_PARTITIONS, out_of_range, user_failure
from planner.keys.partitioner_names import named_partitioner


def answer_growth(
    sample: KeySample,
    old: int,
    new: int,
    partitioner: str,
    *,
    seed: int = 1,
    num_examples: int = 10,
) -> KeyGrowth:
    """
    Return the keys that change partition when a topic grows; some of them listed.

    Raises
    ------
    BadInputError
        If the topic would not grow, or there is no such partitioner.
    """
    named = named_partitioner(partitioner)
    problems = [
        out_of_range(option, count)
        for option, count in (("--from", old), ("--to", new))
        if not 1 <= count <= MOST_PARTITIONS
    ]
    if new <= old:
        rule = f"must be over --from {old}: Kafka cannot take partitions away"
        problems.append(problem("command line", "--to", new, rule))
    raise_problems("the topic cannot grow like this", problems)
    options = GrowthOptions(
        old=old, new=new, partitioner=named, num_examples=num_examples, seed=seed
    )
    try:
        return find_growth(sample, options)
    except UserPartitionerError as error:
        raise user_failure(error) from error
