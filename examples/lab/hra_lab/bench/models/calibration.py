"""Rates of the machine at hand, which turn operations of a prompt into milliseconds, and how far off they are."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hra_lab.bench.models.model import Subject
from hra_lab.bench.models.row import reduced_run, whole_run

# Visual tokens of 1,024.
_COUNTS = (64, 128, 273, 400, 576, 800)


@dataclass(frozen=True)
class CalibrationBenchmark:
    """Processor milliseconds of encoder and prompt at several lengths on one thread, and the rates fitted to them.

    Attributes
    ----------
    method : of `hra.domains.tokens.REDUCERS`; the prompt's time holds that of its choice.
    """

    name: str
    method: str
    subjects: Mapping[str, Subject]
    needs: tuple[str, ...] = ("torch:nn", "transformers:LlavaForConditionalGeneration")

    def measure(self, scale: str, repeat: int, bandwidth: float) -> dict[str, Any]:
        """The rates of `hra.integrations.transformers.Timed`, its error, and times of all lengths, taken in turns."""
        import torch

        from hra.integrations.transformers import CostModel, Timed

        subject, before = self.subjects[scale], torch.get_num_threads()
        counting = CostModel(subject.config)
        counts = [max(1, count * subject.visual // 1024) for count in _COUNTS]
        torch.set_num_threads(1)
        try:
            with torch.no_grad():
                rounds = [self._round(subject, counts) for _ in range(repeat + 1)][1:]
        finally:
            torch.set_num_threads(before)
        measured, lengths = [], []
        for number, count in enumerate([*counts, subject.visual]):
            times = {key: 1e3 * statistics.median(one[number][key] for one in rounds) for key in rounds[0][number]}
            cost = counting.cost(text=subject.text, tokens=count)
            measured.append((cost, times["encode_s"], times["prefill_s"] + times["selection_s"]))
            lengths.append({"tokens": count, "encode_ms": measured[-1][1], "prompt_ms": measured[-1][2]})
        timed = Timed.fitted(counting, measured)
        for length, (cost, *_) in zip(lengths, measured, strict=True):
            length["predicted_ms"] = timed.of(cost)
        rates = {"encoder": timed.encoder, "prefill": timed.prefill, "weight": timed.weight, "error": timed.error}
        whole = {key: statistics.median(one[-1][key] for one in rounds) for key in rounds[0][-1]}
        facts = {"name": self.name, "tokens": subject.visual, "all": subject.visual, "parameters": subject.parameters}
        return {**facts, "method": self.method, **whole, **rates, "lengths": lengths, "peer": None}

    def _round(self, subject: Subject, counts: list[int]) -> list[dict[str, float]]:
        return [*(reduced_run(subject, self.method, count) for count in counts), whole_run(subject)]
