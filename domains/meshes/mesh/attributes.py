"""What vertices carry beside their positions: texture coordinates, normals, tangents, colours and materials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hra.domains.meshes.mesh.materials import Material
from hra.errors import MeshError
from hra.model.arrays import ReadOnlyArrays, own

# Name, type and columns of each array (0: a vector), in the order of their bytes in `VertexAttributes.rows`.
LAYOUT = {
    "uv": (np.dtype(np.float32), 2),
    "normals": (np.dtype(np.float32), 3),
    "colors": (np.dtype(np.uint8), 4),
    "material": (np.dtype(np.int32), 0),
    "uv2": (np.dtype(np.float32), 2),
    "tangents": (np.dtype(np.float32), 4),
}


@dataclass(frozen=True, eq=False)
class VertexAttributes(ReadOnlyArrays):
    """One row per vertex of each array that is there; vertices at a seam are doubled, one for each side.

    Attributes
    ----------
    uv : float32 [V, 2], place in the texture, (0, 0) its upper left corner as in glTF, or None.
    normals : float32 [V, 3], of unit length (or 0 where unknown), or None.
    colors : uint8 [V, 4], RGBA as stored in the file (sRGB in PLY and OBJ, linear in glTF), or None.
    material : int32 [V], number of the material among ``materials``; None if there are no materials. The three
        vertices of a triangle have the same one, which is the triangle's.
    materials : of the whole mesh.
    more : float32 [V, k], further numbers that a simplifier minds, in the weights that they have there (skins, morph
        targets); no file holds them. Or None.
    unseen : int32 [V], different where vertices differ in what no picture shows, such as coordinates that no texture is
        laid out by: a simplifier may close seams of it. No file holds it. Or None.

    Raises
    ------
    MeshError : nothing is there, other shapes or types, different lengths, values that are not finite, a material
        that is not there, a second set of coordinates without a first.

    Examples
    --------
    >>> import numpy as np
    >>> from hra.domains.meshes import Material, VertexAttributes
    >>> uv = np.array([[0, 0], [1, 0], [0, 1]], np.float32)
    >>> VertexAttributes(uv=uv, material=np.zeros(3, np.int32), materials=(Material("paper"),))
    VertexAttributes(uv, material of 3 vertices, 1 materials)
    """

    uv: np.ndarray | None = None
    normals: np.ndarray | None = None
    colors: np.ndarray | None = None
    material: np.ndarray | None = None
    materials: tuple[Material, ...] = ()
    uv2: np.ndarray | None = None
    tangents: np.ndarray | None = None
    more: np.ndarray | None = None
    unseen: np.ndarray | None = None

    def __post_init__(self) -> None:
        if not self.names:
            raise MeshError("there is no attribute", where="VertexAttributes", fix="use None for a bare mesh")
        for name in (*self.names, "more", "unseen"):
            if not isinstance(array := getattr(self, name), np.ndarray | None):
                what = f"{name} is a {type(array).__name__}, not an array"
                raise MeshError(what, where=f"VertexAttributes.{name}", fix="pass np.asarray(...) of it, or None")
        if self.more is not None and (self.more.dtype != np.float32 or self.more.shape[:1] != (len(self),)):
            raise MeshError("further numbers must be float32 [V, k]", where="VertexAttributes.more")
        if self.unseen is not None and (self.unseen.dtype != np.int32 or self.unseen.shape != (len(self),)):
            raise MeshError("numbers of what is unseen must be int32 [V]", where="VertexAttributes.unseen")
        for name in self.names:
            array = _check(name, getattr(self, name), len(self))
            object.__setattr__(self, name, own(array))
        if self.uv2 is not None and self.uv is None:
            raise MeshError("uv2 is the second set of coordinates, and there is no first", where="VertexAttributes")
        if not isinstance(self.materials, tuple) or not all(isinstance(one, Material) for one in self.materials):
            raise MeshError("materials are not materials", where="VertexAttributes", fix="pass a tuple of Material")
        if (self.material is None) != (not self.materials):
            raise MeshError("material and materials go together", where="VertexAttributes")
        if self.material is not None and self.material.size:
            _check_range(self.material, len(self.materials))

    def __len__(self) -> int:
        return len(getattr(self, self.names[0]))

    def __repr__(self) -> str:
        return f"VertexAttributes({', '.join(self.names)} of {len(self)} vertices, {len(self.materials)} materials)"

    @property
    def names(self) -> tuple[str, ...]:
        """Which arrays are there."""
        return tuple(name for name in LAYOUT if getattr(self, name) is not None)

    @property
    def vertex_bytes(self) -> int:
        """Bytes of one vertex's attributes."""
        return sum(LAYOUT[name][0].itemsize * max(LAYOUT[name][1], 1) for name in self.names)

    @property
    def rows(self) -> np.ndarray:
        """uint8 [V, `vertex_bytes`, ``more`` and ``unseen``]: equal rows are equal attributes (-0.0 equals 0.0)."""
        parts = []
        for name in self.names:
            array = getattr(self, name)
            array = array + array.dtype.type(0)  # -0.0 becomes 0.0
            parts.append(np.ascontiguousarray(array).view(np.uint8).reshape(len(self), -1))
        if self.more is not None:
            parts.append(np.ascontiguousarray(self.more + np.float32(0)).view(np.uint8))
        if self.unseen is not None:
            parts.append(np.ascontiguousarray(self.unseen).view(np.uint8).reshape(len(self), -1))
        return np.concatenate(parts, axis=1)

    def take(self, vertices: np.ndarray) -> VertexAttributes:
        """The attributes of the ``vertices`` (numbers or bool [V]), in that order; all materials are kept."""
        return VertexAttributes(
            **{name: getattr(self, name)[vertices] for name in self.names},
            materials=self.materials,
            more=None if self.more is None else self.more[vertices],
            unseen=None if self.unseen is None else self.unseen[vertices],
        )


def _check(name: str, array: np.ndarray, length: int) -> np.ndarray:
    dtype, columns = LAYOUT[name]
    shape = (length, columns) if columns else (length,)
    plain = isinstance(array, np.ndarray) and not hasattr(array, "mask")
    if not plain or array.dtype != dtype or array.shape != shape:
        found = f"{getattr(array, 'dtype', type(array).__name__)} {getattr(array, 'shape', '')}"
        raise MeshError(f"{name} must be {dtype} {list(shape)}, got {found}", where=f"VertexAttributes.{name}")
    if dtype.kind == "f" and not np.isfinite(array).all():
        bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
        raise MeshError(
            f"{name} of vertex {bad[0]} is not finite: {array[bad[0]].tolist()}",
            where=f"VertexAttributes.{name}, vertex {bad[0]} (and {bad.size - 1} more)",
            fix="export the mesh again, or leave the attribute out",
        )
    return array


def _check_range(material: np.ndarray, count: int) -> None:
    bad = np.flatnonzero((material < 0) | (material >= count))
    if bad.size:
        what = f"vertex {bad[0]} has material {material[bad[0]]}, but there are {count}"
        raise MeshError(what, where=f"VertexAttributes.material, vertex {bad[0]} (and {bad.size - 1} more)")


def concatenate(parts: Sequence[VertexAttributes | None], counts: Sequence[int]) -> VertexAttributes | None:
    """The attributes of several meshes one after the other, whose vertices number ``counts``.

    An array that a part lacks is filled in: coordinates and normals by 0, colours by white, the material by a plain
    one. None if no part has any.
    """
    present = [part for part in parts if part is not None]
    if not present:
        return None
    names = {name for part in present for name in part.names}
    whole = {name: _column(name, parts, counts) for name in LAYOUT if name in names and name != "material"}
    materials: tuple[Material, ...] = ()
    if "material" in names:
        whole["material"], materials = _numbered_together(parts, counts)
    if columns := max((part.more.shape[1] for part in present if part.more is not None), default=0):
        more = [None if part is None else part.more for part in parts]
        whole["more"] = np.concatenate([_widened(one, count, columns) for one, count in zip(more, counts, strict=True)])
    if any(part.unseen is not None for part in present):
        whole["unseen"] = _column("unseen", parts, counts)
    return VertexAttributes(**whole, materials=materials)


def _column(name: str, parts: Sequence[VertexAttributes | None], counts: Sequence[int]) -> np.ndarray:
    """One array of all parts, filled in where a part lacks it."""
    own = [None if part is None else getattr(part, name) for part in parts]
    return np.concatenate([_blank(name, n) if one is None else one for one, n in zip(own, counts, strict=True)])


def _numbered_together(
    parts: Sequence[VertexAttributes | None], counts: Sequence[int]
) -> tuple[np.ndarray, tuple[Material, ...]]:
    """The materials of all parts, equal ones once, and the number of each vertex's, int32 [V]."""
    numbers: dict[Material, int] = {}
    rows = []
    for part, count in zip(parts, counts, strict=True):
        own = part.materials if part is not None and part.materials else (Material(),)
        number = np.array([numbers.setdefault(material, len(numbers)) for material in own], np.int32)
        chosen = None if part is None else part.material
        rows.append(number[np.zeros(count, np.int64) if chosen is None else chosen])
    return np.concatenate(rows), tuple(numbers)


def _widened(array: np.ndarray | None, count: int, columns: int) -> np.ndarray:
    """``array`` float32 [count, k] or None with ``columns`` columns, those that it lacks 0."""
    result = np.zeros((count, columns), np.float32)
    if array is not None:
        result[:, : array.shape[1]] = array
    return result


def _blank(name: str, count: int) -> np.ndarray:
    if name == "unseen":
        return np.zeros(count, np.int32)
    dtype, columns = LAYOUT[name]
    return np.full((count, columns), 255 if name == "colors" else 0, dtype)
