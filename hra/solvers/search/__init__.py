"""The exact search: dominance lists, penalties and branching."""
