"""Tokens at any place and scale: log-polar rings and spirals."""
