"""Commands that change a running cluster by a plan: apply, cancel, rollback."""
