"""The texture array: numbered channels of an image that need no weights.

Channels that follow from pixels alone and serve several methods belong here, one kind per file. What depends on the
query is relevance.
"""
