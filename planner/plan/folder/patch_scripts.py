"""Scripts of kubectl that keep KafkaTopic resources equal to a plan."""

import json
import shlex
from collections.abc import Iterable, Iterator

from planner.plan.documents.topic_patches import PATCH, PAUSE, UNDO, TopicPatch
from planner.topic_resources import TopicResource

_PAUSE = "strimzi.io/pause-reconciliation"
_HEAD = "#!/bin/sh\nset -eu\n"


def factor_scripts(patches: list[TopicPatch]) -> Iterator[tuple[str, str]]:
    """
    Yield names and texts of the scripts for changed replication factors.

    Reconciliation is paused in between; resources that were paused before stay paused.
    """
    if not patches:
        return
    to_pause = [one.resource for one in patches if not one.resource.is_paused]
    resume = [_annotate(resource, f"{_PAUSE}-") for resource in to_pause]
    pause = [_annotate(r, "--overwrite", f"{_PAUSE}=true") for r in to_pause]
    yield PAUSE, _script(pause)
    yield PATCH, _script([*(_patch(one, one.then) for one in patches), *resume])
    back = [_patch(one, one.now) for one in patches if one.now is not None]
    yield UNDO, _script([*back, *resume])


def partition_scripts(patches: list[TopicPatch]) -> Iterator[tuple[str, str]]:
    """Yield name and text of the script for topics with more partitions."""
    if patches:
        yield PATCH, _script(_patch(one, one.then) for one in patches)


def _script(commands: Iterable[str]) -> str:
    return _HEAD + "".join(f"{command}\n" for command in commands)


def _annotate(resource: TopicResource, *words: str) -> str:
    return shlex.join(["kubectl", "annotate", *_named(resource), *words])


def _patch(patch: TopicPatch, value: int | None) -> str:
    spec = json.dumps({"spec": {patch.field: value}}, separators=(",", ":"))
    words = ["kubectl", "patch", *_named(patch.resource), "--type", "merge", "-p", spec]
    return shlex.join(words)


def _named(resource: TopicResource) -> list[str]:
    namespace = ["-n", resource.namespace] if resource.namespace else []
    return ["kafkatopic", resource.name, *namespace]
