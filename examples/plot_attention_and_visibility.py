"""Attention as visibility, visibility as attention: one question that two fields ask, answered by the same look-up.

What nobody attends to is hidden: a pyramid of largest scores prunes patches as Hi-Z culls boxes. What can be seen is
attended to: the depth buffer of a scene is the relevance by which its picture gets tokens.
Run ``python examples/plot_attention_and_visibility.py [FOLDER]``; the picture is written there (default: out).
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import hra
from hra import samples
from hra.domains import meshes, tokens
from hra.files.images import load_image, psnr

QUESTION = "What is the flower on the left?"


def attended(image, threshold=0.25):
    """The photo with the patches darkened that a question's relevance hides."""
    scores = tokens.CueRelevance()(tokens.TokenContext.of(image, QUESTION))
    kept = tokens.prune_patches(tokens.relevance_pyramid(scores), threshold)
    shade = np.kron(kept, np.ones((16, 16)))[: image.shape[0], : image.shape[1], None]
    return image * (0.2 + 0.8 * shade), kept


def composed(backdrop):
    """The skull in front of a photo, float32 [512, 768, 3], and where the skull is seen, bool [512, 768]."""
    clusters = meshes.build(samples.path("skull.ply"))
    camera = hra.Camera.orbit(clusters.bounds, azimuth=35, elevation=15, up=(0, 0, 1), viewport=(768, 512))
    cut = meshes.MeshAllocator(clusters).allocate(camera, np.inf).cut
    drawn = meshes.render(clusters, cut, camera).astype(np.float32) / 255
    seen = np.abs(drawn - drawn[0, 0]).max(axis=2) > 0.02
    return np.where(seen[..., None], drawn, backdrop[:512, :768]), seen


def main(folder: Path) -> None:
    """Left: what attention hides. Middle and right: tokens of a rendered scene, spent on what is seen."""
    folder.mkdir(parents=True, exist_ok=True)
    photo = load_image(samples.path("photo.jpg"))
    darkened, kept = attended(photo)
    scene, seen = composed(photo)
    share = seen.reshape(32, 16, 48, 16).mean(axis=(1, 3)) + 1e-3  # of each patch of 16 pixels
    figure = Figure(figsize=(16, 4.2), layout="constrained")
    axes = figure.subplots(1, 3, subplot_kw={"xticks": [], "yticks": []})
    axes[0].imshow(darkened)
    axes[0].set_title(f"attention as visibility: {np.mean(~kept):.0%} of the patches pruned")
    by_visibility = tokens.AttentionMapRelevance(lambda image, query: share)
    choices = {"each pixel alike": tokens.UniformRelevance(), "visibility as attention": by_visibility}
    for place, (name, relevance) in zip(axes[1:], choices.items(), strict=True):
        method = tokens.PyramidSampling(relevance)
        chosen = method.realize(method.allocate((scene, ""), 137))
        decibels = psnr(chosen.reconstruct()[seen], scene[seen])
        place.imshow(tokens.overlay(scene, chosen))
        place.set_title(f"{name}: 137 tokens, {decibels:.1f} dB where the skull is")
        print(f"{name}: {decibels:.1f} dB where the skull is")
    figure.savefig(folder / "attention_and_visibility.png", dpi=90)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
