"""Gradients through the choice of a cut: exact expectation, straight-through, Gumbel noise, REINFORCE.

Each takes a forest, gains, a budget and a task, and returns the task's loss; temperatures are in mean gains.
"""
