"""The judge that sees: an image network on the enlarged crop that the question asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from hra.domains import tokens
from hra_lab.evaluation.answers.run import Scored, judged
from hra_lab.evaluation.answers.scenes import Scene, resized, scenes
from hra_lab.evaluation.answers.tasks import Task

TOP, PROBABILITY = "top class right", "probability of right classes"
_SIDE = 224  # pixels, that the network was trained with


def scored_scenes(count: int, parts: Path | None, progress: Any) -> list[Scored]:
    """So many scenes, each asked for one of its things, judged.

    Raises
    ------
    MissingExtra : a package of the extra ``imagenet`` is not installed, or one that carries the photos.
    HraError : see `judged`.
    """
    return judged(tasks(count), {"suite": "seeing"}, parts, progress)


def tasks(count: int) -> Iterator[Task]:
    """One question to each scene; the same ones every time."""
    guide = tokens.ImageNetRelevance()
    for scene in scenes(count):
        question = f"where is the {scene.thing.name}?"
        yield Task(scene.name, scene.image, question, scene.box, guide, partial(_scores, scene))


def _scores(scene: Scene, picture: np.ndarray) -> dict[str, float]:
    x0, y0, x1, y1 = scene.box
    probability = _classify()(resized(picture[y0:y1, x0:x1], _SIDE))
    right = list(scene.thing.classes)
    return {TOP: float(probability.argmax() in right), PROBABILITY: float(probability[right].sum())}


@cache
def _classify() -> Callable[[np.ndarray], np.ndarray]:
    """From an image [224, 224, 3] to the probability of each of 1000 classes, float32."""
    import torch

    from hra.domains.tokens.embedding.pretrained import dense_classifier

    network = dense_classifier()

    def classify(image: np.ndarray) -> np.ndarray:
        # The mean over places of a linear classifier is the classifier of the mean, as the network was trained.
        return network(torch.from_numpy(image)[None]).mean((2, 3)).softmax(1)[0].numpy()

    return classify
