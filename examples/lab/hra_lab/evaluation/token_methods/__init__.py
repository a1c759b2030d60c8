"""All token methods on real images, in one table.

Images and queries, the judge of one method on one image, and the page that compares them.
"""
