"""Relevance from models, maps and pruning."""
