"""A texture streamer in a frame loop: each frame drops some pages and uploads others, never beyond its pool.

Run ``python examples/texture_streamer.py``.
"""

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


def main() -> None:
    """Fly over an Earth map, hover, and jump to the other side."""
    scene = textures.PlaneScene.ground(hra.samples.path("earth.jpg"), width=100.0)
    allocator = textures.TextureAllocator(scene.textures, textures.AnalyticFeedback(scene), traversal=hra.Coherent())
    streamer = textures.TextureStreamer(allocator, POOL, upload_bytes=UPLOAD)
    renderer = Renderer(scene.planes[0].texture)

    flight = textures.flyover(scene.planes[0], frames=60, viewport=(960, 540))
    cameras = [*flight[::2], *flight[-1:] * 10, *flight[:1] * 10]
    missing = 0
    for frame, camera in enumerate(cameras):
        update = streamer.step(camera, upcoming=cameras[frame + 1 : frame + 3])
        renderer.apply(update)
        missing = update.queued.size
        if frame % 7 == 0:
            print(f"frame {frame:2}: {update}; finest level {update.resident.level_map().min()}")
    print(f"at most {renderer.peak:,} of {POOL:,} bytes at any moment; {missing} pages missing at the end")


if __name__ == "__main__":
    main()
