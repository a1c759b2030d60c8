"""Look-ups by OpenGL's texture units: all levels of an image in one texture, read by ``textureLod``.

OpenGL halves sizes down and hra halves them up. Level 0 is therefore padded to a multiple of the coarsest level's
pixel, with its edge repeated, and so is every other level: where a pixel of a level covers whole blocks of pixels of
level 0, one coordinate then fits all levels. Probes are placed by hra and not by ``textureGrad``, whose number and
places are the driver's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hra.errors import BackendUnavailable
from hra.kernels.pyramids.levels.gl_backend import own_context
from hra.kernels.pyramids.levels.pyramid import Layout
from hra.kernels.raster.buffers import download, groups, upload
from hra.kernels.raster.checks import image_size
from hra.kernels.sampling.sample import Look, check_channels, images_of, probes

_KINDS = {"float32": "f4", "float16": "f2", "uint8": "f1"}
_PROBE = np.dtype(
    [("point", "f4", 2), ("along", "f4", 2), ("level", "f4"), ("number", "f4"), ("image", "i4"), ("unused", "i4")]
)


def sample_by_hardware(look: Look) -> np.ndarray:
    """Values float32 [K, C]."""
    check_channels(look.layout, "backend 'gl'")
    _check_blocks(look)
    count, layout = len(look.points), look.layout
    if not count:
        return np.empty((0, layout.channels), np.float32)
    with own_context() as context, context.use() as gl:
        program = context.program("sample.comp", CHANNELS=layout.channels)
        buffers = upload(gl, _plan(look)), gl.buffer(reserve=4 * count * layout.channels)
        for image in np.unique(images_of(look)):
            texture = _texture(context, gl, [level[image] for level in layout.stacks(look.data)])
            texture.use(0)
            for binding, buffer in enumerate(buffers):
                buffer.bind_to_storage_buffer(binding)
            program["count"], program["image"], program["size"] = count, int(image), texture.size
            program["white"] = 255.0 if look.data.dtype == np.uint8 else 1.0
            program.run(groups(count, 64))
            gl.memory_barrier()
            texture.release()
        values = download(buffers[1], np.float32, count * layout.channels)
        for buffer in buffers:
            buffer.release()
    return values.reshape(count, -1)


def _plan(look: Look) -> np.ndarray:
    """What the shader reads of each point; no probe where something is NaN, which texture units do not pass on."""
    number, along, level = probes(look)
    plan = np.zeros(len(number), _PROBE)
    # Places far outside would overflow.
    reach = 2.0 * np.array(look.layout.sizes[0][::-1])
    broken = np.isnan(level) | np.isnan(look.points).any(axis=1) | np.isnan(along).any(axis=1)
    plan["point"] = np.where(broken[:, None], 0, np.clip(look.points, -reach, 2 * reach))
    plan["along"], plan["level"] = np.where(broken[:, None], 0, along), np.where(broken, 0, level)
    plan["number"], plan["image"] = np.where(broken, 0, number), images_of(look)
    return plan


def _texture(context: Any, gl: Any, levels: list[np.ndarray]) -> Any:
    coarsest = len(levels) - 1
    width, height = (-(-extent >> coarsest) << coarsest for extent in levels[0].shape[1::-1])
    size = image_size(context, (width, height))
    texture = gl.texture(size, levels[0].shape[2], alignment=1, dtype=_KINDS[levels[0].dtype.name])
    # Makes room for as many levels as there are.
    texture.build_mipmaps(0, coarsest)
    for number, level in enumerate(levels):
        missing = [(0, (extent >> number) - have) for extent, have in zip((height, width), level.shape, strict=False)]
        texture.write(np.ascontiguousarray(np.pad(level, [*missing, (0, 0)], mode="edge")), level=number, alignment=1)
    texture.filter = (gl.LINEAR_MIPMAP_LINEAR, gl.LINEAR)
    texture.repeat_x = texture.repeat_y = False
    return texture


def _check_blocks(look: Look) -> None:
    """Raise :class:`BackendUnavailable` unless one coordinate fits all levels."""
    layout: Layout = look.layout
    cells = 2.0 ** -np.arange(len(layout.sizes))[:, None]
    single = np.array(layout.sizes)[:, ::-1] == 1
    if not (single | ((look.maps[:, ::2] == cells) & (look.maps[:, 1::2] == -0.5))).all():
        what = f"one texture cannot hold levels of {', '.join(f'{w} x {h}' for h, w in layout.sizes[:4])} ... pixels"
        fix = "build the pyramid with reduce='block_mean', or use hardware=False"
        raise BackendUnavailable(what, where="backend 'gl'", fix=fix)
