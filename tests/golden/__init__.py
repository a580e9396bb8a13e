"""Golden outputs: digests of the results of many commands, compared run by run."""
