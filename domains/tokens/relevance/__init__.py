"""What of an image matters to a query, patch by patch.

Each way to weigh patches by image and query is a file: attention maps, cosine similarity, cues in the words, saliency.
Parts that need training are in ``learned``.
"""
