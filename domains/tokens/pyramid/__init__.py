"""An image at all its levels: the pyramid, its errors, sums over blocks, and how images are made smaller or larger.

What needs pixels alone belongs here, and nothing that knows of a query, a budget or tokens.
"""
