"""What-if: scenarios from a file, planned and weighed side by side."""
