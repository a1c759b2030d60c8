"""The demonstration: one allocator spends triangles, bytes and tokens on the shipped samples, and reports it.

One file per section of the report, and what draws it. `hra demo` is all that calls it.
"""
