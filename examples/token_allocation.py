"""Token allocation: 273 of 9,216 patches for a photo and a question, by every preset, with their pictures.

Run ``python examples/token_allocation.py [FOLDER]``; overlays and reconstructions are written there (default: out).
"""

import sys
from pathlib import Path

from hra import samples
from hra.domains import tokens
from hra.files.images import load_image, psnr, save_png


def main(folder: Path) -> None:
    """Allocate, write the pictures, and compare with uniform down-sampling to as many tokens."""
    folder.mkdir(parents=True, exist_ok=True)
    image = load_image(samples.path("photo.jpg"))
    presets = (tokens.PyramidSampling(), tokens.FoveatedPyramid(), tokens.GridTopK())
    for preset in presets:
        name = type(preset).__name__
        allocation = preset.allocate((image, "What is the flower on the left?"), budget=273)
        chosen = preset.realize(allocation)
        rebuilt = chosen.reconstruct()
        print(f"{name:>16}: {allocation}")
        print(f"{'':>16}  tokens {chosen.values.shape}, rebuilt image {psnr(rebuilt, image):.2f} dB")
        save_png(folder / f"{name}_overlay.png", tokens.overlay(image, chosen))
        save_png(folder / f"{name}_rebuilt.png", rebuilt)
    uniform = tokens.uniform_downsample(image, 273)
    print(f"{'uniform':>16}: rebuilt image {psnr(uniform, image):.2f} dB")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
