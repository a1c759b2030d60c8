"""Commands that measure, compare and show: ``hra bench``, ``demo``, ``eval``, ``texture trace``, ``tokens compare``."""
