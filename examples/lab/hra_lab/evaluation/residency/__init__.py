"""What is held and what it shows: page orders, pools of every size, and a path over time.

Page orders that are compared, the run and its pictures belong here; rules over paths are those of the residency suite.
"""
