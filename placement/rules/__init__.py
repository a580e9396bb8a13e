"""Rules that fill the tables of the core's problem."""
