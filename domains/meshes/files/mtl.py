"""MTL files, the material libraries of OBJ."""

from __future__ import annotations

import contextlib
import warnings

from hra.domains.meshes.files.resolver import MissingFile, SiblingFiles
from hra.domains.meshes.files.textures import Textures
from hra.domains.meshes.mesh.materials import Material
from hra.errors import RepairWarning


def read_mtl(data: bytes, files: SiblingFiles, textures: Textures, where: str) -> dict[str, Material]:
    """The materials of an MTL file by name: colour (``Kd``), opacity (``d``, ``Tr``), shininess and ``map_Kd``.

    Shininess becomes roughness by sqrt(2 / (Ns + 2)); nothing is metallic. Options of ``map_Kd`` are passed over.

    Raises
    ------
    FileError : a texture lies outside of the folder.

    Warns
    -----
    RepairWarning : a texture is missing or cannot be read.
    """
    text = data.decode("utf-8", "replace")
    entries: dict[str, dict[str, str]] = {}
    entry: dict[str, str] = {}
    for line in text.splitlines():
        key, value = [*line.split(None, 1), "", ""][:2]
        if key == "newmtl":
            entry = entries.setdefault(value.strip(), {})
        elif value and not key.startswith("#"):
            entry[key.lower()] = value.strip()
    return {name: _material(name, entry, files, textures, where) for name, entry in entries.items()}


def _material(name: str, entry: dict[str, str], files: SiblingFiles, textures: Textures, where: str) -> Material:
    image = _image(entry["map_kd"], files, textures, f"{where}, material {name!r}") if "map_kd" in entry else None
    # Exporters write Kd 0 beside a texture, which multiplies it in glTF but not in most readers of MTL.
    color = (1.0, 1.0, 1.0) if image else _shares(entry.get("kd", ""), 3, (0.8, 0.8, 0.8))
    transparency = _shares(entry.get("tr", ""), 1, (0.0,))[0]
    opacity = _shares(entry.get("d", ""), 1, (1 - transparency,))[0]
    roughness = (2 / (max(_number(entry.get("ns", ""), 0.0), 0.0) + 2)) ** 0.5
    return Material(
        name=name,
        base_color=(color[0], color[1], color[2], opacity),
        image=image,
        metallic=0.0,
        roughness=roughness,
        alpha_mode="BLEND" if opacity < 1 else "OPAQUE",
    )


def _image(value: str, files: SiblingFiles, textures: Textures, where: str) -> bytes | None:
    # Options such as "-s 1 1 1" stand before the name, which may have blanks only where there are none.
    name = value.split()[-1] if value.startswith("-") else value
    try:
        content = files.get(name)
    except MissingFile:
        warnings.warn(f"{where}: the texture {name!r} is missing and was left out", RepairWarning, stacklevel=2)
        return None
    return textures.read(content, where)


def _shares(value: str, count: int, default: tuple[float, ...]) -> tuple[float, ...]:
    """``count`` numbers in 0 .. 1, or the default where the text holds something else."""
    numbers = tuple(_number(part, -1.0) for part in value.split())[:count]
    if len(numbers) < count or min(numbers) < 0:
        return default
    return tuple(min(number, 1.0) for number in numbers)


def _number(text: str, default: float) -> float:
    with contextlib.suppress(ValueError):
        value = float(text)
        return value if value == value and abs(value) != float("inf") else default
    return default
