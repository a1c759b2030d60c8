"""The laboratory: what is measured and tried out with hra.

It uses the library as any program does, and the library does not know it. An algorithm that is worth calling from
elsewhere belongs to the library.
"""
