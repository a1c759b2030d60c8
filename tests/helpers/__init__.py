"""What the tests share: random hierarchies, plain allocators and slow but obvious references.

Tests import it as ``from tests.helpers.allocators import ...``. Nothing is put on ``sys.path`` for that: in pytest's
importlib mode every test module is imported as ``tests.<folder>.<name>``, so pytest itself has loaded ``tests``.
"""
