"""Picking one after another: rules that take refinements of equal cost in view of those that are taken.

A rule is a frozen dataclass in a file of its own, see `picker`; `hra.traversals.in_turn` puts rules together. What
looks at gains alone and proves bounds belongs beside this folder.
"""
