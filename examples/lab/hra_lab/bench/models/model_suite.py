"""All benchmarks of models, in the order of the table."""

from __future__ import annotations

from hra_lab.bench.models.calibration import CalibrationBenchmark
from hra_lab.bench.models.inside_row import AnswerBenchmark, InsideBenchmark
from hra_lab.bench.models.model import FULL, SMALL, Subject
from hra_lab.bench.models.row import ModelBenchmark

Row = ModelBenchmark | InsideBenchmark | AnswerBenchmark | CalibrationBenchmark


def model_suite(method: str = "visionzip") -> tuple[Row, ...]:
    """Fewer tokens before, inside and after the prompt, and rates; none has a peer but the whole model."""
    subjects = {"full": Subject(FULL), "small": Subject(SMALL)}
    names = {"prefill_all": None, "prefill_576": 576, "prefill_273": 273, "prefill_64": 64}
    before = [ModelBenchmark(name, tokens, method, subjects) for name, tokens in names.items()]
    inside = [InsideBenchmark(f"inside_{name}", name, subjects) for name in ("fastv", "pyramiddrop")]
    answers = [AnswerBenchmark(f"answer_{gone}_64", 64, gone, subjects) for gone in ("mask", "remove")]
    return (*before, *inside, *answers, CalibrationBenchmark("calibration", method, subjects))
