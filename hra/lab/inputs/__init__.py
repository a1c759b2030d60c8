"""Seeded and shipped inputs of benchmarks, evaluation and demo."""
