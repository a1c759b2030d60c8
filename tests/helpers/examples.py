"""How many examples the adversary's properties try."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# Ten thousand where the slow profile is on, see conftest.py.
_SLOW = settings.default is not None and settings.default.max_examples >= 1000
_UNHURRIED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
many = settings(max_examples=10_000 if _SLOW else 50, suppress_health_check=_UNHURRIED)
