"""The texture array: numbered channels of an image that need no weights.

What can be computed from pixels alone and serves several methods belongs here, one kind of channel per file. What
depends on the query is relevance.
"""
