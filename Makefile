# kafka-planner: `make demo` shows it, `make test` proves it.
