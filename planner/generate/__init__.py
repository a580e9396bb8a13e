"""Proposals of `generate` for some topics and a list of brokers."""

from planner.generate.generate_request import GenerateRequest
from planner.generate.proposal import Proposal, generate
from planner.generate.tool_refusals import Refusal, find_refusals
from planner.generate.topics_file import read_topics_to_move

__all__ = [
    "GenerateRequest",
    "Proposal",
    "Refusal",
    "find_refusals",
    "generate",
    "read_topics_to_move",
]
