"""`explain`: why each move of a plan is made, in words."""
