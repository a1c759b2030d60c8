"""The context of token allocation: an image, a question about it, and the features of its cells.

Everything that a method reads before it chooses belongs here.
"""
