"""Receipts, forms and letters made from a seed, whose fields, questions and answer boxes are known.

``fields`` has what can be asked, ``receipts``, ``forms`` and ``letters`` the layouts, ``camera`` photographs a page.
"""
