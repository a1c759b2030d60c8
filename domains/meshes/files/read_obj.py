"""OBJ in: polygons with texture coordinates, normals, vertex colours and the materials of MTL files."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from hra.domains.meshes.files.obj_lines import read_lines
from hra.domains.meshes.files.obj_words import LEFT_OUT, NO_COLOR, NONE, ObjLines
from hra.domains.meshes.files.parsed import Parsed, triangulate, vertex_attributes
from hra.domains.meshes.files.resolver import MissingFile, SiblingFiles, Textures
from hra.domains.meshes.mesh.attributes import VertexAttributes
from hra.domains.meshes.mesh.materials import Material, Sampler
from hra.domains.meshes.mesh.meshopt import unique_rows
from hra.errors import FileError, warn
from hra.files.limits import DEFAULT, Limits
from hra.files.ply.colors import color_shares

# Of options of textures: how many words follow, at least and at most; and those that are kept.
_OPTIONS = {"-s": (1, 3), "-o": (1, 3), "-t": (1, 3), "-mm": (2, 2)}
_KEPT = ("-s", "-o", "-clamp", "-blendu", "-blendv")
# Words of materials that are physically based, but for roughness and metal.
_OF_PBR = ("ps", "pc", "pcr", "aniso", "anisor")
_KINDS = ("vertex", "texture coordinate", "normal")


def read_obj(
    data: bytes, files: SiblingFiles, where: str, *, attributes: bool = True, limits: Limits = DEFAULT
) -> Parsed:
    """The triangles of an OBJ file with ``vt``, ``vn``, vertex colours and the materials of its MTL files.

    Raises
    ------
    FileError : a line is wrong, a number of a vertex, coordinate or normal is out of range, or an MTL file or texture
        lies outside of the folder.

    Warns
    -----
    RepairWarning : an MTL file or a texture is missing; lines, points, curves, unknown lines, or smoothing groups
        without normals were left out.
    """
    found = read_lines(_readable(data), where)
    _report(found, where)
    counts = [len(found.positions) // 3, len(found.uv) // 2, len(found.normals) // 3]
    limits.check("vertices", max(counts), where)
    corners, offsets = _corners(found)
    limits.check("triangles", len(corners), where)
    for column, (kind, count) in enumerate(zip(_KINDS, counts, strict=True)):
        _check_range(corners[:, column], offsets, found, kind, count, where)
    positions = _array(found.positions, 3)
    places, polygons = triangulate(corners, offsets, where, positions[corners[:, 0]])
    if attributes and found.smoothed and not found.normals:
        what = f"{where}: smoothing groups were left out: export normals (vn), which say more"
        warn(what)
    if not attributes or not len(corners):
        return Parsed(positions, corners[:, 0][places], None, polygons)
    materials = _materials(found, files, where)
    return _with_attributes(found, positions, corners, places, polygons, materials, where)


def _readable(data: bytes) -> bytes:
    """The text as UTF-8; names in other encodings are read as Latin-1, so that nothing is guessed."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1").encode()
    return data


def _report(found: ObjLines, where: str) -> None:
    left_out = {word: count for word, count in found.passed_over.items() if word in LEFT_OUT}
    unknown = {word: count for word, count in found.passed_over.items() if word not in LEFT_OUT}
    if left_out:
        names = ", ".join(dict.fromkeys(LEFT_OUT[word] for word in left_out))
        warn(f"{where}: {sum(left_out.values())} {names} were left out")
    if unknown:
        words = ", ".join(repr(word[:20].decode("utf-8", "replace")) for word in list(unknown)[:3])
        count = sum(unknown.values())
        warn(f"{where}: {count} lines that begin with {words} were left out")


def _corners(found: ObjLines) -> tuple[np.ndarray, np.ndarray]:
    corners = _array(found.corners, 3, np.int64)
    offsets = np.zeros(len(found.sizes) + 1, np.int64)
    np.cumsum(np.asarray(found.sizes), out=offsets[1:])
    return corners, offsets


def _check_range(numbers: np.ndarray, offsets: np.ndarray, found: ObjLines, kind: str, count: int, where: str) -> None:
    bad = np.flatnonzero((numbers >= count) & (numbers != NONE))
    if bad.size:
        line = found.face_lines[int(np.searchsorted(offsets, bad[0], "right")) - 1]
        what = f"a face names {kind} {numbers[bad[0]] + 1}, but there are {count}"
        raise FileError(what, where=f"{where}, line {line}")


class Placed(NamedTuple):
    """A material, and how the texture's coordinates follow from a file's: times ``scale`` [2] plus ``offset`` [2]."""

    material: Material
    scale: tuple[float, float] = (1.0, 1.0)
    offset: tuple[float, float] = (0.0, 0.0)


def _materials(found: ObjLines, files: SiblingFiles, where: str) -> tuple[Placed, ...]:
    """One for each name that is used, the first one for faces without any."""
    known: dict[str, Placed] = {}
    textures, read = Textures(files), False
    for library in dict.fromkeys(found.libraries):
        try:
            content = files.get(library)
        except MissingFile:
            what = f"{where}: the material file {library!r} is missing, its materials became plain ones"
            warn(what)
            continue
        known |= read_mtl(content, files, textures, f"{where}, {library}", library)
        read = True
    lost = [name for name in found.materials if name and name not in known]
    if read and lost:
        named = ", ".join(repr(name[:40]) for name in lost[:3])
        what = f"{where}: {len(lost)} materials that no material file has became plain ones: {named}"
        warn(what)
    return tuple(known.get(name or "", Placed(Material(name or ""))) for name in found.materials)


def _with_attributes(
    found: ObjLines,
    positions: np.ndarray,
    corners: np.ndarray,
    places: np.ndarray,
    polygons: int,
    placed: tuple[Placed, ...],
    where: str,
) -> Parsed:
    """A vertex for each combination of position, coordinate, normal and material that occurs."""
    material = np.repeat(np.asarray(found.face_material), np.asarray(found.sizes))
    number, count = unique_rows(np.ascontiguousarray(np.column_stack([corners, material])))
    first = np.empty(count, np.int64)
    first[number[::-1]] = np.arange(len(number) - 1, -1, -1)
    vertex, coordinate, normal = corners[first].T
    uv = _take(_array(found.uv, 2), coordinate)
    if uv is not None:
        scale, offset = (np.array([entry[part] for entry in placed])[material[first]] for part in (1, 2))
        uv = np.where((coordinate != NONE)[:, None], uv * scale + offset, 0) * [1, -1]
        uv[:, 1] += coordinate != NONE  # OBJ counts from the lower left corner
    arrays: dict[str, Any] = {
        "uv": uv,
        "normals": _take(_array(found.normals, 3), normal),
        "colors": _colors(found, where)[vertex] if found.colors else None,
    }
    carried = vertex_attributes(count, where, **arrays)
    if len(placed) > 1:
        carried = _with_materials(carried, material[first], tuple(entry.material for entry in placed))
    return Parsed(positions[vertex], number[places].astype(np.int64), carried, polygons)


def _colors(found: ObjLines, where: str) -> np.ndarray:
    """Colours of all vertices in 0 .. 1, float64 [V, 3]; white where a vertex has none."""
    colors = _array(found.colors, 3).copy()
    there = colors[:, 0] != NO_COLOR
    colors[there], colors[~there] = color_shares(colors[there], where), 1.0
    return colors


def _with_materials(
    carried: VertexAttributes | None, material: np.ndarray, materials: tuple[Material, ...]
) -> VertexAttributes:
    """Materials by first use, without those that no face has."""
    used, first = np.unique(material, return_index=True)
    order = used[np.argsort(first)]
    rank = np.zeros(len(materials), np.int32)
    rank[order] = np.arange(len(order))
    arrays = {} if carried is None else {name: getattr(carried, name) for name in carried.names}
    return VertexAttributes(**arrays, material=rank[material], materials=tuple(materials[i] for i in order))


def _take(values: np.ndarray, numbers: np.ndarray) -> np.ndarray | None:
    """Rows of ``values`` by number, 0 where there is none; None if there are none at all."""
    there = numbers != NONE
    if not there.any():
        return None
    taken = np.zeros((len(numbers), values.shape[1]))
    taken[there] = values[numbers[there]]
    return taken


def _array(values, columns: int, dtype: type = np.float64) -> np.ndarray:
    return np.frombuffer(values, dtype).reshape(-1, columns) if values else np.empty((0, columns), dtype)


def read_mtl(data: bytes, files: SiblingFiles, textures: Textures, where: str, name: str = "") -> dict[str, Placed]:
    """The materials of an MTL file by name: ``Kd``, ``d`` or ``Tr``, ``Ns`` or ``Pr``, ``Pm``, ``Ke`` and ``map_Kd``.

    Textures count from the folder of the MTL file ``name``, as in most programs, and else from that of the OBJ file.

    Shininess becomes roughness by sqrt(2 / (Ns + 2)), unless there is ``Pr``. Ambient and specular colours, the index
    of refraction and the number of the light model (``Ka``, ``Ks``, ``Ni``, ``Tf``, ``illum``) have no place in that.

    Source: Wavefront, MTL material format, with ``Ke`` and ``Tr`` as exporters write them.

    Raises
    ------
    FileError : a texture lies outside of the folder.

    Warns
    -----
    RepairWarning : a texture is missing or cannot be read; other textures, options or values were left out.
    """
    text = _readable(data).decode("utf-8-sig")
    entries: dict[str, dict[str, str]] = {}
    entry: dict[str, str] = {}
    for line in text.splitlines():
        key, value = [*line.split(None, 1), "", ""][:2]
        key = key.lower()
        if key == "newmtl":
            entry = entries.setdefault(value.strip(), {})
        elif value and not key.startswith("#"):
            # Names of files may have the sign of comments.
            entry[key] = value.strip() if _is_map(key) else value.partition("#")[0].strip()
    lost = dict.fromkeys(key for found in entries.values() for key in found if _is_map(key) and key != "map_kd")
    if lost:
        what = f"{where}: the textures {', '.join(lost)} were left out: of MTL only map_Kd is read"
        warn(what)
    folder = name.replace("\\", "/").rpartition("/")[0]

    def image(texture: str, place: str) -> bytes | None:
        for path in (f"{folder}/{texture}", texture) if folder else (texture,):
            with contextlib.suppress(MissingFile):
                return textures.read(files.get(path), place)
        warn(f"{place}: the texture {texture!r} is missing and was left out")
        return None

    return {name: _material(name, entry, image, where) for name, entry in entries.items()}


def _is_map(key: str) -> bool:
    return key.startswith("map_") or key in ("bump", "disp", "decal", "refl", "norm")


def _material(name: str, entry: dict[str, str], read: Callable[[str, str], bytes | None], where: str) -> Placed:
    place = f"{where}, material {name!r}"
    file, options = _options(entry.get("map_kd", ""), place)
    image = read(file, place) if file else None

    def shares(key: str, default: tuple[float, ...]) -> tuple[float, ...]:
        return _shares(key, entry, default, place)

    lost = [key for key in _OF_PBR if entry.get(key) and _number(entry[key], 1.0)]
    if lost:
        warn(f"{place}: {', '.join(lost)} have no place and were left out")
    # Exporters write Kd 0 beside a texture, which multiplies it in glTF but not in most readers of MTL.
    color = (1.0, 1.0, 1.0) if image else shares("kd", (0.8, 0.8, 0.8))
    transparency = shares("tr", (0.0,))[0]
    opacity = shares("d", (1 - transparency,))[0]
    roughness = shares("pr", ((2 / (max(_number(entry.get("ns", ""), 0.0), 0.0) + 2)) ** 0.5,))[0]
    clamped = options.get("-clamp") == ["on"]
    red, green, blue = shares("ke", (0.0, 0.0, 0.0))
    material = Material(
        name=name,
        base_color=(color[0], color[1], color[2], opacity),
        image=image,
        metallic=shares("pm", (0.0,))[0],
        roughness=roughness,
        emissive=(red, green, blue),
        alpha_mode="BLEND" if opacity < 1 else "OPAQUE",
        sampler=Sampler(wrap_s="CLAMP_TO_EDGE", wrap_t="CLAMP_TO_EDGE") if clamped else Sampler(),
    )
    return Placed(material, _two(options.get("-s"), 1.0), _two(options.get("-o"), 0.0))


def _options(value: str, where: str) -> tuple[str, dict[str, list[str]]]:
    """The name of a texture, which may have blanks, and the options before it with their words."""
    found: dict[str, list[str]] = {}
    while value.startswith("-"):
        option, _, value = value.partition(" ")
        least, most = _OPTIONS.get(option.lower(), (1, 1))
        words = found[option.lower()] = []
        while len(words) < most:
            word, _, rest = value.lstrip().partition(" ")
            if not rest or (len(words) >= least and _number(word, np.inf) == np.inf):
                break
            words.append(word)
            value = rest
        value = value.lstrip()
    lost = {name for name, words in found.items() if name not in _KEPT and words not in (["off"], ["0", "1"])}
    if lost:
        what = f"{where}: the options {', '.join(sorted(lost))} of its texture were left out"
        warn(what)
    return value, found


def _two(words: list[str] | None, default: float) -> tuple[float, float]:
    """The numbers along u and v; a number that is not there is the default."""
    numbers = [_number(word, default) for word in (words or [])[:2]]
    u, v = [*numbers, default, default][:2]
    return u, v


def _shares(key: str, entry: dict[str, str], default: tuple[float, ...], where: str) -> tuple[float, ...]:
    """As many numbers in 0 .. 1 as the default has; one alone stands for all, and what is missing is the default.

    Warns
    -----
    RepairWarning : there is something else, or numbers are above 1.
    """
    words = entry.get(key, "").split()
    if not words:
        return default
    halo = words[0] == "-halo"
    numbers = [_number(word, -1.0) for word in words[halo : len(default) + halo]]
    numbers *= len(default) if len(numbers) == 1 else 1
    if len(numbers) < len(default) or not min(numbers) >= 0:
        what = f"{where}: {key} {' '.join(words)[:40]!r} is not of {len(default)} numbers >= 0 and was left out"
        warn(what)
        return default
    kept = tuple(min(number, 1.0) for number in numbers)
    if halo or list(kept) != numbers:
        what = f"{where}: {key} {' '.join(words)[:40]!r} became {' '.join(f'{number:g}' for number in kept)}"
        warn(what)
    return kept


def _number(text: str, default: float) -> float:
    with contextlib.suppress(ValueError):
        value = float(text)
        return value if value == value and abs(value) != float("inf") else default
    return default
