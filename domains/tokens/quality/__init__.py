"""What a token set is worth: coverage, efficiency, redundancy, similarity.

Figures of a finished token set, whatever method chose it.
"""
