"""What if: a cluster changed as a scenario says, planned, and weighed against today."""
