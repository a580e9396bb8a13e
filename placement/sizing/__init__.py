"""How many brokers a load needs, and how long those there are will do."""
