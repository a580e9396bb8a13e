"""Items on bins: the optimisation core; knows nothing of Kafka."""
