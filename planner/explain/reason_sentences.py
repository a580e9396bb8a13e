"""Sentences on the reason for a move and the consequence of undoing it."""

from placement.explain import Consequence, Reason
from planner.plan.folder.moves_file import COPY, DROP, MoveRow
from planner.text.format import percent_text

UNDONE = {kind.word: kind for kind in Consequence}


def reason_text(row: MoveRow) -> str:
    """Return the reason for a move as a clause."""
    share = f"its share of {row.resource}"
    texts = {
        Reason.NEW_FACTOR: "its replication factor changes",
        Reason.BROKER_DEAD: f"broker {row.source} is dead",
        Reason.BROKER_LEAVES: f"broker {row.source} is to be emptied",
        Reason.LOG_DIR_OFFLINE: f"its log dir on broker {row.source} is offline",
        Reason.BROKER_SET: f"broker {row.source} is of another set than its topic",
        Reason.TOPICS_APART: f"broker {row.source} holds topics that it is kept apart "
        "from",
        Reason.TOPICS_TOGETHER: "it belongs together with a partition that is "
        "elsewhere",
        Reason.DEMOTED: f"broker {row.source} is to lead nothing",
        Reason.REPLICA_LEFT: f"broker {row.source} gives its replica away",
        Reason.RACK: f"{_rack(row.source_rack)} held more of it than the rack rule "
        "allows",
        Reason.OVER_THRESHOLD: f"broker {row.source} was over its {row.resource} "
        "threshold",
        Reason.FILLS_NEW: f"broker {row.target} is new and was below {share}",
        Reason.OVER_BAND: f"broker {row.source} was above its band around {share}",
        Reason.BELOW_BAND: f"broker {row.target} was below its band around {share}",
        Reason.MAKES_ROOM: "it makes room for what other moves bring or take",
        Reason.WITH_OTHERS: "it belongs to other moves; alone it could be left out",
    }
    return texts[Reason(row.reason)]


def _rack(rack: str) -> str:
    return f"rack {rack}" if rack else "its rack"


def consequence_text(row: MoveRow) -> str:
    """Return the consequence of undoing this move alone, as a clause."""
    broker, resource = row.undone_broker, row.undone_resource
    much = percent_text(row.undone_outside or 0.0)
    texts = {
        Consequence.NOTHING: "nothing would be worse by itself",
        Consequence.NOT_EMPTY: f"broker {broker} would not be empty",
        Consequence.STILL_LEADS: f"broker {broker} would lead it still",
        Consequence.RACK: "the rack rule would be broken",
        Consequence.OVER_CAPACITY: f"broker {broker} would be {much} over what it may "
        f"carry of {resource}",
        Consequence.OUT_OF_BAND: f"broker {broker} would be {much} of its share "
        f"further outside its band of {resource}",
        Consequence.OLD_FACTOR: "its replication factor would be another",
    }
    return texts[UNDONE[row.undone]]


def short_reason(row: MoveRow) -> str:
    """Return the reason in the width of a table's column."""
    return f"{row.reason} {row.resource or ''}".rstrip()


def short_consequence(row: MoveRow) -> str:
    """Return the consequence in the width of a table's column."""
    kind = UNDONE[row.undone]
    much = percent_text(row.undone_outside or 0.0)
    if kind in {Consequence.OVER_CAPACITY, Consequence.OUT_OF_BAND}:
        return f"b{row.undone_broker} {row.undone_resource} {much}"
    if kind is Consequence.NOT_EMPTY:
        return f"b{row.undone_broker} not empty"
    if kind is Consequence.STILL_LEADS:
        return f"b{row.undone_broker} leads it"
    if kind is Consequence.OLD_FACTOR:
        return "its factor"
    return "-" if kind is Consequence.NOTHING else "rack rule"


def _move_text(row: MoveRow) -> str:
    """Return the move itself as a predicate."""
    if row.kind == DROP:
        return f"gives up its replica on broker {row.source}"
    if row.source is None:
        return f"gets a replica on broker {row.target}"
    verb = "is copied" if row.kind == COPY else "hands on the lead"
    return f"{verb} from broker {row.source} to {row.target}"


def sentence(row: MoveRow) -> str:
    """Return the sentences on a move: the move, its reason, its consequence."""
    head = f"{row.name} {_move_text(row)}: {reason_text(row)}."
    if row.reason == Reason.REPLICA_LEFT:
        return f"{head} It goes with the copy."
    return f"{head} Without this move, {consequence_text(row)}."
