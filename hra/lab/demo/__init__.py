"""The demonstration: one allocator spends triangles, bytes and tokens on the shipped samples, and reports it."""
