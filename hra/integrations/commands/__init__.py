"""Commands about the programs that the library works with.

A command imports its integration when it runs, so that the command line starts without the packages that it needs.
"""
