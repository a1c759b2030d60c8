"""Integrations: the library inside of programs that people already run, one package for each of them.

Only code for the interfaces of another program belongs here. The choice of tokens is made in the domains. An
integration uses the supported interfaces of the other program and changes none of its code.
"""
