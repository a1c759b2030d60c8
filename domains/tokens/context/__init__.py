"""The context of token allocation: an image, a question about it, and the features of its cells.

What every method needs to know before it chooses belongs here.
"""
