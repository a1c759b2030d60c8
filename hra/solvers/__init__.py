"""Numerics behind the traversals: what finds sets, prices and bounds.

Directly here are the parts that several of them share: the relaxation of forests and graphs alike, the fill that
completes a set, selection by weight, keys that break ties, and apportionment. Code for one kind of hierarchy or one
strategy has a folder. Nothing here knows the context of an allocation, its metric or its domain.
"""
