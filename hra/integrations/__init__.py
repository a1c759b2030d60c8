"""Integrations: the library inside of programs that people already run, one package for each of them.

What knows another program's interfaces belongs here, and nothing else does: which tokens are chosen is decided in the
domains. An integration uses what the other program supports, and changes none of its code.
"""
