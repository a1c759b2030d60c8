"""Token methods on one photo: where 273 tokens of each are, and what they alone give back.

Run ``python examples/plot_token_methods.py [FOLDER]``; the picture is written there (default: out).
"""

import sys
from pathlib import Path

from hra import samples
from hra.domains import tokens
from hra.files.images import load_image, save_png

QUESTION = "What is the flower on the left?"
METHODS = ("grid", "stratified", "downsample", "pyramid", "foveated", "log-polar", "semantic-tree", "residual-scales")


def panel(name, context):
    """Overlay and reconstruction of one method, with what was measured of its tokens."""
    method, image = tokens.preset(name), context.pyramid.image
    chosen = method.realize(method.allocate((image, QUESTION), budget=273))
    report = tokens.measure(chosen, context)
    shown = f"{report.coverage.area:.0%} shown, mean level {report.coverage.mean_detail:.1f}"
    print(f"{name:>15}: {report.count} tokens, {report.psnr_db:5.2f} dB, gain {report.gain:+.3f}, {shown}")
    lines = (f"{name}: {report.psnr_db:.1f} dB, gain {report.gain:.2f}", f"{report.count} tokens, {shown}")
    return tokens.Panel((tokens.overlay(image, chosen), chosen.reconstruct()), lines)


def main(folder: Path) -> None:
    """All methods are measured by one relevance, that of grid top-K."""
    folder.mkdir(parents=True, exist_ok=True)
    context = tokens.GridTopK().context(load_image(samples.path("photo.jpg")), QUESTION)
    save_png(folder / "token_methods.png", tokens.contact_sheet([panel(name, context) for name in METHODS]))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
