"""Reassignments cut into waves, every state in between safe (see `cut`)."""
