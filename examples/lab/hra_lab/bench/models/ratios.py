"""Times of two prompts beside each other, and what counts of operations promise of them."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Any

# Tokens of an answer.
ANSWER = 32
# Seconds of the parts, of the whole prompt and of ours, round by round.
Rounds = list[tuple[dict[str, float], dict[str, float]]]


def medians(rounds: list[dict[str, float]]) -> dict[str, float]:
    """Of each part."""
    return {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}


def compared(rounds: Rounds) -> dict[str, float]:
    """Medians of our times, and how much faster they are than those of the whole prompt."""
    whole, own = (medians([one[which] for one in rounds]) for which in (0, 1))
    return {**own, **ratios(whole, own)}


def promised(whole: Any, fewer: Any) -> dict[str, float]:
    """Ratios of operations, by two `Cost`."""
    return {
        "flops_ratio": whole.prefill / fewer.prefill,
        "first_flops_ratio": whole.total() / fewer.total(),
        "total_flops_ratio": whole.total(ANSWER) / fewer.total(ANSWER),
    }


def ratios(whole: Mapping[str, float], own: Mapping[str, float]) -> dict[str, float]:
    """Sums of parts, and how much smaller they are than those of the whole prompt."""
    return {
        "speedup": whole["prefill_s"] / own["prefill_s"],
        "first_s": _first(own),
        "first_speedup": _first(whole) / _first(own),
        "total_s": _total(own),
        "total_speedup": _total(whole) / _total(own),
        "selection_share": own["selection_s"] / own["prefill_s"],
        "selection_share_of_all": own["selection_s"] / whole["prefill_s"],
    }


def _total(times: Mapping[str, float]) -> float:
    """A prompt and an answer."""
    return _first(times) + ANSWER * times["decode_s"]


def _first(times: Mapping[str, float]) -> float:
    """Everything up to the first token."""
    return times["encode_s"] + times["selection_s"] + times["prefill_s"]
