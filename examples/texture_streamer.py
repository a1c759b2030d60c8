"""A texture streamer in a frame loop: each frame drops some pages and uploads others, never beyond its pool.

Run ``python examples/texture_streamer.py [FOLDER]``; a plot is written there (default: out).
"""

import sys
from pathlib import Path

from matplotlib.figure import Figure

import hra
from hra.domains import textures

POOL, UPLOAD = 3 * 2**20, 2**19


class Renderer:
    """Stands for an engine: a memory of pages, filled and emptied one by one."""

    def __init__(self, texture: textures.StreamedTexture) -> None:
        self.texture, self.memory, self.peak = texture, {}, 0

    def apply(self, update: textures.ResidencyUpdate) -> None:
        """Do what the update asks for, in its order."""
        for page in update.evictions:
            del self.memory[page]
        for page in update.loads:
            self.memory[page] = self.texture.read(page)
            self.peak = max(self.peak, sum(int(self.texture.pages.bytes[held]) for held in self.memory))


def main(folder: Path) -> None:
    """Fly over an Earth map, hover, and jump to the other side."""
    scene = textures.PlaneScene.ground(hra.samples.path("earth.jpg"), width=100.0)
    allocator = textures.TextureAllocator(scene.textures, textures.AnalyticFeedback(scene), traversal=hra.Coherent())
    streamer = textures.TextureStreamer(allocator, POOL, upload_bytes=UPLOAD)
    renderer = Renderer(scene.planes[0].texture)

    flight = textures.flyover(scene.planes[0], frames=60, viewport=(960, 540))
    cameras = [*flight[::2], *flight[-1:] * 10, *flight[:1] * 10]
    held, moved, missing = [], [], 0
    for frame, camera in enumerate(cameras):
        update = streamer.step(camera, upcoming=cameras[frame + 1 : frame + 3])
        renderer.apply(update)
        held.append(sum(int(renderer.texture.pages.bytes[page]) for page in renderer.memory) / 2**20)
        moved.append(len(update.loads))
        missing = update.queued.size
        if frame % 7 == 0:
            print(f"frame {frame:2}: {update}; finest level {update.resident.level_map().min()}")
    print(f"at most {renderer.peak:,} of {POOL:,} bytes at any moment; {missing} pages missing at the end")
    figure = Figure(figsize=(9, 4), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    above.plot(held)
    above.axhline(POOL / 2**20, color="black", linestyle=":")
    above.set(ylabel="held, MiB (dotted: pool)", ylim=0)
    below.bar(range(len(moved)), moved)
    below.set(ylabel="pages loaded", xlabel="frame: a flight, ten hovering, a jump back")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "texture_streamer.png", dpi=100)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
