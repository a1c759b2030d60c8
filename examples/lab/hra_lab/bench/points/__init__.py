"""The points suite: trees over clouds, and budgets over their nodes.

Clouds that are made up and the clock around trees and budgets belong here; how good a cut looks is evaluated elsewhere.
"""
