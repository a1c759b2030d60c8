"""Hierarchies that are too large to exist: only what is visited is ever made."""
