"""Real inputs for the demo, the examples and the tests; NOTICE names the sources and licences.

A file belongs here if it is small, its licence allows it and NOTICE names it; `hra.samples` finds it by name.
"""
