"""The application: snapshots, plans, the command line, live clusters."""
