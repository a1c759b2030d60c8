"""Tokens at any place and scale: log-polar rings and spirals.

Rings, arcs and spirals of sampling places, the kernels that gather pixels there, and the tokens that come out.
"""
