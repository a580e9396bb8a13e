"""Groups from foreign formats."""
