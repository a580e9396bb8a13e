"""Benchmarks: `make bench`; smoke-run small in the tests."""
