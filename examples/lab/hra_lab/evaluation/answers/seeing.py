"""The judge that sees: an image network on the enlarged crop that the question asks for.

Scenes: photographed things that a classifier knows, small and among others on a large canvas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from hra.domains import tokens
from hra.errors import MissingExtra
from hra_lab.evaluation.answers.run import Scored, judged
from hra_lab.evaluation.answers.tasks import Task
from hra_lab.evaluation.token_methods.images import load_packaged
from hra_lab.inputs.gold import Gold

TOP, PROBABILITY = "top class right", "probability of right classes"
_SIDE = 224  # pixels, that the network was trained with
SIDE = 1024
_CELLS = 4  # along a side, at most one thing in each
_MARGIN = 8
_SMALLEST, _LARGEST = 112, 240
_CUT = (0.82, 1.0)  # share of the photo's shorter side that is shown
SEED = 31


@dataclass(frozen=True)
class Thing:
    """A photo of a package, and what is right to call it.

    Attributes
    ----------
    classes : numbers of ImageNet's classes, of 1000, that name what is seen.
    """

    name: str
    package: str
    file: str
    classes: tuple[int, ...]


THINGS = (
    Thing("cat", "skimage.data", "chelsea.png", (281, 282, 285)),
    Thing("cup of coffee", "skimage.data", "coffee.png", (504, 967, 968)),
    Thing("motorcycle", "skimage.data", "motorcycle_left.png", (665, 670)),
    Thing("camera on a tripod", "skimage.data", "camera.png", (759, 872)),
    Thing("temple tower", "sklearn", "datasets/images/china.jpg", (442, 698, 832)),
)
_GROUNDS = ("gravel.png", "grass.png", "brick.png")


@dataclass(frozen=True, eq=False)
class Scene:
    """A canvas, float32 [1024, 1024, 3], one of whose things is asked for; box: its pixels (x0, y0, x1, y1)."""

    name: str
    image: np.ndarray
    thing: Thing
    box: tuple[int, int, int, int]


def scenes(count: int, seed: int = SEED) -> Iterator[Scene]:
    """So many scenes, the same ones every time.

    Raises
    ------
    MissingExtra : a package that carries the photos is not installed.
    """
    for number in range(count):
        yield _scene(number, np.random.default_rng((seed, number)))


def _scene(number: int, random: np.random.Generator) -> Scene:
    canvas, wide = _ground(random), SIDE // _CELLS
    shown, boxes = random.permutation(len(THINGS)), []
    for thing, place in zip(shown, random.permutation(_CELLS**2), strict=False):
        side = int(random.integers(_SMALLEST, _LARGEST + 1))
        y, x = (wide * int(cell) + int(random.integers(_MARGIN, wide - side - 7)) for cell in divmod(place, _CELLS))
        canvas[y : y + side, x : x + side] = _tile(THINGS[thing], side, random)
        boxes.append((x, y, x + side, y + side))
    return Scene(f"scene {number}", canvas, THINGS[shown[0]], boxes[0])


def _tile(thing: Thing, side: int, random: np.random.Generator) -> np.ndarray:
    """Most of the middle square of the photo, mirrored half of the time, float32 [side, side, 3]."""
    image = photo(thing.package, thing.file)
    height, width = image.shape[:2]
    cut = int(min(height, width) * random.uniform(*_CUT))
    y, x = (height - cut) // 2, (width - cut) // 2
    square = image[y : y + cut, x : x + cut]
    return resized(square[:, ::-1] if random.random() < 0.5 else square, side)


def _ground(random: np.random.Generator) -> np.ndarray:
    """A texture of low contrast, float32 [1024, 1024, 3]."""
    texture = resized(photo("skimage.data", _GROUNDS[int(random.integers(len(_GROUNDS)))]), SIDE)
    return (random.uniform(0.3, 0.7) + 0.4 * (texture - texture.mean())).clip(0, 1).astype(np.float32)


@cache
def photo(package: str, file: str) -> np.ndarray:
    """A photo that a package carries, float32 [H, W, 3].

    Raises
    ------
    MissingExtra : the package is not installed.
    """
    image = load_packaged(package, file)
    if image is None:
        raise MissingExtra.of("scikit-learn" if package == "sklearn" else "scikit-image", "learn")
    return np.broadcast_to(image if image.ndim == 3 else image[..., None], (*image.shape[:2], 3))


def resized(image: np.ndarray, side: int) -> np.ndarray:
    """A square image [n, n, 3] as float32 [side, side, 3] in [0, 1]."""
    from PIL import Image

    picture = Image.fromarray(np.round(255 * image.clip(0, 1)).astype(np.uint8))
    return np.asarray(picture.resize((side, side), Image.Resampling.BICUBIC), np.float32) / 255


def scored_scenes(count: int, parts: Path | None, progress: Any, seed: int = SEED) -> list[Scored]:
    """So many scenes, each asked for one of its things, judged.

    Raises
    ------
    MissingExtra : a package of the extra ``imagenet`` is not installed, or one that carries the photos.
    HraError : see `judged`.
    """
    facts = {"suite": "seeing"} if seed == SEED else {"suite": "seeing", "seed": seed}
    return judged(tasks(count, seed), facts, parts, progress)


def tasks(count: int, seed: int = SEED) -> Iterator[Task]:
    """One question to each scene; the same ones every time."""
    guide = tokens.ImageNetRelevance()
    for scene in scenes(count, seed):
        question = f"where is the {scene.thing.name}?"
        yield Task(scene.name, scene.image, question, scene.box, guide, partial(_scores, scene))


def own_tasks(asked: Iterable[Gold]) -> Iterator[Task]:
    """Anybody's questions: right is the class that the network names when it sees the answer's box in full detail."""
    guide = tokens.ImageNetRelevance()
    for gold in asked:
        image, box = gold.image(), gold.boxes[0]
        right = int(_seen(image, box).argmax())
        scene = Scene(gold.name, image, Thing(gold.answer, "", gold.name, (right,)), box)
        yield Task(f"{gold.name}: {gold.question}", image, gold.question, box, guide, partial(_scores, scene))


def _seen(picture: np.ndarray, box: tuple[int, int, int, int]) -> np.ndarray:
    """The probability of each of 1000 classes of what a box holds."""
    x0, y0, x1, y1 = box
    return _classify()(resized(picture[y0:y1, x0:x1], _SIDE))


def _scores(scene: Scene, picture: np.ndarray) -> dict[str, float]:
    probability, right = _seen(picture, scene.box), list(scene.thing.classes)
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
