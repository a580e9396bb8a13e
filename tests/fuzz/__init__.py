"""Operations under rules on random clusters, each plan held against the checker."""
