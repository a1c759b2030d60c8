"""Folders of images: rows of tokens for each image, in shards, by several processes.

The allocator chooses for one image; here are rows, tables, shards and the handling of failures.
"""
