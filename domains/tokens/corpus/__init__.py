"""Folders of images: rows of tokens for each image, in shards, by several processes.

What is chosen for one image is the business of the allocator; here are rows, tables, shards and what goes wrong.
"""
