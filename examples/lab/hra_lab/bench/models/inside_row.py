"""One way of dropping tokens inside the language model, or while it answers, beside the whole prompt."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hra_lab.bench.models.model import Subject
from hra_lab.bench.models.ratios import Rounds, compared, promised
from hra_lab.bench.models.row import whole_run


@dataclass(frozen=True)
class InsideBenchmark:
    """Processor seconds with `Dropping`; what choosing takes is part of the prefill's, and stated.

    Attributes
    ----------
    method : of `hra.integrations.transformers.INSIDE`.
    """

    name: str
    method: str
    subjects: Mapping[str, Subject]
    needs: tuple[str, ...] = ("torch:nn", "transformers:LlavaForConditionalGeneration")

    def measure(self, scale: str, repeat: int, bandwidth: float) -> dict[str, Any]:
        """As `ModelBenchmark.measure`; "tokens" are those that enter, "layer_average" those of a layer."""
        from hra.integrations.transformers import INSIDE, CostModel, Dropping

        subject = self.subjects[scale]
        inside = Dropping(subject.model, INSIDE[self.method](layers=subject.config.text_config.num_hidden_layers))
        rounds = _rounds(subject, repeat, lambda: _dropped(subject, inside))
        counting = CostModel(subject.config)
        fewer = counting.cost(text=subject.text, layers=[count for (count,) in inside.counts])
        facts = {"tokens": inside.entering[0], "layer_average": inside.layer_average[0], "all": subject.visual}
        facts = {"name": self.name, **facts, "parameters": subject.parameters, "method": self.method}
        return {**facts, **compared(rounds), **promised(counting.cost(text=subject.text), fewer), "peer": None}


@dataclass(frozen=True)
class AnswerBenchmark:
    """Processor seconds of a token of an answer with `Reallocating`; what choosing takes is part of them, and stated.

    Attributes
    ----------
    budget : visual tokens that a step sees, of 1,024.
    gone : "mask" or "remove".
    """

    name: str
    budget: int
    gone: str
    subjects: Mapping[str, Subject]
    needs: tuple[str, ...] = ("torch:nn", "transformers:LlavaForConditionalGeneration")

    def measure(self, scale: str, repeat: int, bandwidth: float) -> dict[str, Any]:
        """As `ModelBenchmark.measure`; "reallocation_s" is the part of a step."""
        from hra.integrations.transformers import CostModel, Reallocating

        subject = self.subjects[scale]
        budget = max(1, self.budget * subject.visual // 1024)
        answer: Any = Reallocating(subject.model, budget, self.gone, max_churn=max(1, budget // 16))  # pyright: ignore
        rounds = _rounds(subject, repeat, lambda: _answered(subject, answer))
        facts = {"name": self.name, "tokens": subject.visual, "kept": budget, "all": subject.visual}
        facts |= {"parameters": subject.parameters, "method": f"reallocated, {self.gone}"}
        whole = CostModel(subject.config).cost(text=subject.text)
        return {**facts, **compared(rounds), **promised(whole, whole), "peer": None}


def _rounds(subject: Subject, repeat: int, run: Any) -> Rounds:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.no_grad():
            return [(whole_run(subject), run()) for _ in range(repeat + 1)][1:]
    finally:
        torch.set_num_threads(before)


def _dropped(subject: Subject, inside: Any) -> dict[str, float]:
    with inside:
        times = whole_run(subject)
    # Choosing happens within the prefill: it is told apart, so that the sum stays.
    return {**times, "selection_s": inside.seconds, "prefill_s": times["prefill_s"] - inside.seconds}


def _answered(subject: Subject, answer: Any) -> dict[str, float]:
    with answer:
        times = whole_run(subject)
    first, *steps = answer.seconds
    return {**times, "selection_s": 0.0, "first_allocation_s": first, "reallocation_s": statistics.median(steps)}
