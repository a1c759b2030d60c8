"""What `LevelShares` computes with: prices, moves and enumerations of sets with minimum shares.

Its pieces in the order of use: what each level needs, the dual with one price per level, sets mended by moves or found
by enumeration, and why a refusal is right.
"""
