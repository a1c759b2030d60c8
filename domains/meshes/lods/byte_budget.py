"""One budget of bytes for the triangles and the images of a file.

Triangles and versions of images (smaller, or of less quality) are members of one pool. What each byte changes is
counted as squared differences of colours in a picture, with values in 0 .. 1, summed over its pixels:

- an image at n pixels of the picture: n times the mean squared difference between the source and the version. Both are
  compared at several shares of their sides, the octaves around what the picture shows, as surfaces are seen from near
  and far and under every angle: the nearer an octave, the more it counts;
- a cluster that is displaced by e pixels on an area of n: k n e, as far as nothing is left of it. Pictures are made of
  edges, and what moves changes as many pixels beside each of them as it moves (the linear variogram of dead leaves:
  Lee, Mumford and Huang 2001). Pixels are means, of samples and of texels: moved by far less than one, they change by
  as much as they move, so that squares of it count. Both are k n e^2 / (e + s). k and s are measured on scenes that
  were drawn, and do not follow from how much their images vary, because images move with the surfaces that show them.

A surface of area A is seen under every angle: on average a quarter of it as an area (Cauchy). The real size
of a file is known only once it is written, so triangles are fitted to written files.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from hra.allocating.allocation import Allocation
from hra.allocating.allocator import HierarchicalResourceAllocator
from hra.caching import cached_property
from hra.domains.meshes.allocator import MeshAllocator
from hra.domains.meshes.files.gltf_coordinates import BASE
from hra.domains.meshes.mesh.materials import TEXTURES, Material, image_type, is_ktx2
from hra.domains.meshes.mesh.triangle_mesh import TriangleMesh
from hra.errors import BudgetTooSmall, HraError
from hra.files.images.opening import decoded_upright
from hra.kernels import build_pyramid
from hra.kernels.row_blocks import for_each
from hra.model.hierarchy import Hierarchy
from hra.model.metrics import ErrorMetric
from hra.pooling.pool import pool
from hra.traversals.exact import Exact
from hra.traversals.hull import Hull

# A file of this share of the limit is full enough, this many cuts are tried at most,
# and numbers of triangles so close to each other, or by one of so many, are the same.
_FULL, _TRIES, _CLOSE, _FEW = 0.996, 10, 32, 50
# Types that only an extension of glTF names: versions keep them.
_NAMED = {"image/webp": "WEBP", "image/avif": "AVIF"}
# Sides of versions are halved down to this many texels; all but PNG have these qualities.
_LEAST_SIDE, _QUALITIES = 16, (95, 88, 78, 62, 45, 30)
_WHOLE_CHROMA = 95
_MAX_PIXELS = 2**28
# A step of a colour of 8 bits, squared, and the share of the limit below which so much may be lost for more texels.
_UNSEEN, _FULL_ENOUGH = 255.0**-2, 0.96
# How many octaves finer and coarser than the mean surfaces show an image, and mipmaps are mixed.
_SPREAD = 1.5
# Pictures for errors of images have at most this many texels a side.
_MOST_SIDE = 1024
# Squared differences that a displacement of a pixel makes, beside those of images, and the most that one can make. A
# displacement of so many pixels makes half of its share.
_DISPLACED, _WORST, _SMALL = 5e-3, 0.1, 0.1
# How much a texture's differences show, by words in its name in glTF.
_WEIGHTS = (("normal", 0.5), ("base", 1.0), ("diffuse", 1.0), ("emissive", 1.0))
_OTHER_WEIGHT = 0.25
# Textures of the format itself that have no alpha.
_WITHOUT_ALPHA = ("metallicRoughnessTexture", "normalTexture", "occlusionTexture", "emissiveTexture")
# Words in the names of textures whose values are sRGB.
_COLORS = ("color", "diffuse", "emissive", "specularglossiness")


@dataclass(frozen=True)
class Version:
    """One way to store an image; quality is None for the source itself and for PNG."""

    content: bytes = field(repr=False)
    scale: float
    kind: str = ""
    quality: int | None = None


@dataclass(frozen=True, eq=False)
class ShownImage:
    """An image file and where it is shown.

    Attributes
    ----------
    content : PNG, JPEG, WebP or AVIF.
    area : of the surfaces that show it, square units; texels : how many texels of it they show.
    weight : how much its differences show in pictures.
    colors : whether its values are sRGB, which renderers average as light.
    alpha : whether a material shows its alpha, which is left out otherwise.
    """

    content: bytes = field(repr=False)
    area: float
    texels: float
    weight: float
    colors: bool = False
    alpha: bool = True

    @cached_property
    def picture(self) -> Any:
        """The decoded image: L, RGB or RGBA, or None where it has more than 8 bits."""
        with decoded_upright(io.BytesIO(self.content), "texture", _MAX_PIXELS) as image:
            if image.mode not in ("L", "LA", "P", "RGB", "RGBA", "1"):
                return None
            if image.mode in ("P", "LA") or "transparency" in image.info:
                image = image.convert("RGBA")
            if image.mode == "RGBA" and not (self.alpha and image.getchannel("A").getextrema() != (255, 255)):
                image = image.convert("RGB")
            return image.convert("L") if image.mode == "1" else image.copy()

    @cached_property
    def kinds(self) -> list[str]:
        """How versions are stored."""
        if named := _NAMED.get(image_type(self.content)):
            return [named]
        if self.picture.mode == "RGBA":
            return ["PNG"]
        # Flat pictures of few colours are smaller as PNG, and better.
        return ["JPEG", "PNG"] if self.content.startswith(b"\x89PNG") else ["JPEG"]

    def _mipmaps(self, image: Any, levels: int | None = None) -> Sequence[np.ndarray]:
        """The finest ``levels`` mipmaps of an image, or all that there are, uint8 [H, W, C] each."""
        pixels = np.asarray(image)
        pixels = pixels[..., None] if pixels.ndim == 2 else pixels
        return build_pyramid(pixels, "srgb_mean" if self.colors else "mean", levels).levels

    @cached_property
    def _pyramid(self) -> Sequence[np.ndarray]:
        """All mipmaps of the picture."""
        return self._mipmaps(self.picture)

    @cached_property
    def _scaled(self) -> Callable[[float], Any]:
        """The picture at a share of its sides; octaves are the mipmaps that a renderer makes of it."""

        @cache
        def scaled(scale: float) -> Any:
            from PIL import Image

            if math.log2(scale).is_integer():
                return _image(self._pyramid, -round(math.log2(scale)))
            size = tuple(max(1, round(scale * side)) for side in self.picture.size)
            return scaled(2.0 ** math.ceil(math.log2(scale))).resize(size, Image.Resampling.BICUBIC)

        return scaled

    @cached_property
    def encoded(self) -> Callable[..., Version]:
        """A version of a kind, scale and quality, and whether the best qualities keep their chroma whole."""

        @cache
        def encode(kind: str, scale: float, quality: int | None, whole: bool = True) -> Version:
            stream = io.BytesIO()
            more: dict[str, Any] = {} if quality is None else {"quality": quality}
            # Halved chroma would blur normals and masks, and colours more than these qualities do.
            if kind == "JPEG" and (self.weight < 1 or (whole and (quality or 0) >= _WHOLE_CHROMA)):
                more["subsampling"] = 0
            if kind == "AVIF":  # speeds below take seven times as long for files that are a tenth smaller
                more |= {"speed": 9, "subsampling": "4:4:4" if self.weight < 1 else "4:2:0"}
            self._scaled(scale).copy().save(stream, kind, **more)  # Pillow keeps settings in the image: one a thread
            return Version(stream.getvalue(), scale, kind, quality)

        return encode

    @cached_property
    def thinned(self) -> Callable[[float], Callable[[float], Version]]:
        """Versions of a scale in which a share of all squares of two by two texels stays, the others are their mean.

        Their mipmaps are those of the picture: they look as one of half the sides does, or better from near.
        """

        @cache
        def of_scale(scale: float) -> Callable[[float], Version]:
            from PIL import Image

            fine, mean = (np.asarray(self._scaled(one)) for one in (scale, scale / 2))
            mean = _doubled(mean, fine)
            apart = np.square(fine.astype(np.float32) - mean).reshape(*fine.shape[:2], -1).sum(axis=2, keepdims=True)
            lost = build_pyramid(apart, "block_mean", 2).levels[-1][..., 0]
            worst = np.argsort(-lost, axis=None, kind="stable")

            @cache
            def thin(share: float) -> Version:
                kept = np.zeros(lost.shape, bool)
                kept.flat[worst[: round(share * kept.size)]] = True
                kept = _doubled(kept, fine).reshape(*fine.shape[:2], *(1,) * (fine.ndim - 2))
                stream = io.BytesIO()
                Image.fromarray(np.where(kept, fine, mean)).save(stream, "PNG")
                return Version(stream.getvalue(), scale, "PNG")

            return thin

        return of_scale

    @cached_property
    def source(self) -> Version:
        """The file as it is."""
        return Version(self.content, 1.0)

    def seen(self, per_unit: float) -> float:
        """The base-2 logarithm of the share of a side's texels that a picture shows, at most 0."""
        return min(math.log2(math.sqrt(self.area / self.texels) * per_unit), 0.0)

    def _at(self, version: Version, shares: Sequence[float]) -> Iterator[np.ndarray]:
        """A version as a renderer shows it at these shares of the source's sides, float32 [H, W, C] in 0 .. 255."""
        from PIL import Image

        # The first of its own mipmaps that is no finer, because between two a renderer takes some of both.
        octaves = [max(math.ceil(math.log2(version.scale / share) - 1e-9), 0) for share in shares]
        if version.content is self.content:
            levels = self._pyramid
        else:
            with Image.open(io.BytesIO(version.content)) as opened:
                # A conversion to the mode that it has would be a copy.
                image = opened if opened.mode == self.picture.mode else opened.convert(self.picture.mode)
                levels = self._mipmaps(image, 1 + max(octaves))
        for octave, share in zip(octaves, shares, strict=True):
            size = tuple(math.ceil(side * share) for side in self.picture.size)
            yield np.asarray(_image(levels, octave).resize(size, Image.Resampling.BILINEAR), np.float32)

    def _octaves(self, seen: float) -> dict[float, float]:
        """Shares of the sides that are powers of two, and how much of the surface shows the image about so fine."""
        largest = min(math.floor(math.log2(_MOST_SIDE / max(self.picture.size))), 0)
        found: dict[float, float] = {}
        for octave in range(math.floor(seen - _SPREAD), 1):
            weight = _SPREAD - abs(seen - octave)
            if weight > 0:
                share = 2.0 ** min(octave, largest)
                found[share] = found.get(share, 0.0) + weight
        return {share: weight / sum(found.values()) for share, weight in found.items()}

    @cached_property
    def _reference(self) -> Callable[[float], np.ndarray]:
        return cache(lambda share: next(self._at(self.source, [share])))

    @cached_property
    def _apart(self) -> Callable[[Version, Iterable[float]], dict[float, float]]:
        """The mean squared differences of a version at shares of the sides that are powers of two."""
        known: dict[Version, dict[float, float]] = {}

        def measured(version: Version, shares: Iterable[float]) -> dict[float, float]:
            found = known.setdefault(version, {})
            finest = max((share for share in shares if share not in found), default=0.0)
            if finest:
                # Who is farther away will ask for the coarser ones, which take little beside decoding it again.
                least = min(*shares, finest * _LEAST_SIDE / max(self.picture.size))
                missing = [finest / 2**k for k in range(1 + round(math.log2(finest / least)))]
                for share, own in zip(missing, self._at(version, missing), strict=True):
                    own -= self._reference(share)
                    found[share] = float(np.vdot(own, own)) / (255**2 * own.size)
            return found

        return measured

    def difference(self, version: Version, seen: float) -> float:
        """The mean squared difference of a version where the source is ``seen`` so fine."""
        if version.content is self.content:
            return 0.0
        octaves = self._octaves(seen)
        apart = self._apart(version, octaves)
        return sum(weight * apart[share] for share, weight in octaves.items())

    def ladder(self, per_unit: float) -> tuple[list[Version], list[float]]:
        """Versions of rising size with errors that fall to 0, what each changes in the picture: the source last, unless
        a smaller file looks the same there.
        """
        seen, pixels = self.seen(per_unit), self.area * per_unit**2 / 4 * self.weight
        rows = [(len(self.content), 0.0, self.source)]
        sides = self.picture.size
        halvings = max(math.ceil(math.log2(max(sides) / _LEAST_SIDE)), 0)
        self._scaled(1.0)  # once, before threads ask for it

        def measure(way: tuple[str, int | None]) -> None:
            for k in range(1 + halvings):
                # Whole chroma only fills what is left: in the pool it took the triangles' bytes, which show more.
                one = self.encoded(way[0], 0.5**k, way[1], False)
                if len(one.content) < len(self.content):
                    rows.append((len(one.content), self.difference(one, seen) * pixels, one))

        ways = [(kind, one) for kind in self.kinds for one in ((None,) if kind == "PNG" else _QUALITIES)]
        for_each(ways, math.prod(sides) * len(ways), measure)
        rows.sort(key=lambda row: (*row[:2], row[2].content))
        kept = rows[:1]
        for row in rows[1:]:
            if row[1] < kept[-1][1]:
                kept.append(row)
        return [row[2] for row in kept], [row[1] for row in kept]

    def filled(self, version: Version, most: int, per_unit: float, worse: float = 0.0) -> Version:
        """The largest version of at most ``most`` bytes whose difference is not larger, or is at most ``worse``."""
        if len(self.content) <= most or version.content is self.content:
            return self.source if len(self.content) <= most else version
        seen, best = self.seen(per_unit), version
        worst = max(self.difference(version, seen), worse)
        for found in self._between(version, most):
            if len(best.content) < len(found.content) <= most and self.difference(found, seen) <= worst:
                best = found
            if len(best.content) > _FULL * most:
                break
        return best

    def _between(self, version: Version, most: int) -> Iterator[Version]:
        """Versions of this size and of each larger one, of the quality that just fits ``most`` bytes; then others."""
        scale = version.scale
        while scale <= 1:
            for kind in self.kinds:
                if kind == "PNG":
                    yield self.encoded(kind, scale, None)
                    continue
                # With half the chroma the best qualities are smaller, and their steps lie elsewhere.
                for whole, least in ((True, _QUALITIES[-1]), (False, _WHOLE_CHROMA)):
                    low, high = least, 101
                    while high - low > 1:
                        middle = (low + high) // 2
                        found = self.encoded(kind, scale, middle, whole)
                        low, high = (middle, high) if len(found.content) <= most else (low, middle)
                        yield found
            scale *= 2
        # No difference except from nearer than a version whose PNG fits.
        scale = version.scale if "PNG" in self.kinds else math.inf
        while scale <= 1 and len(self.encoded("PNG", scale, None).content) <= most:
            scale *= 2
        if scale <= 1:
            yield from _just_fitting(self.thinned(scale), 0.0, most)
        kind = _NAMED.get(image_type(self.content), "PNG")
        yield from _just_fitting(lambda scale: self.encoded(kind, scale, None), version.scale, most)


def _just_fitting(version: Callable[[float], Version], low: float, most: int) -> Iterator[Version]:
    """Versions that grow with a number from ``low`` to 1, ever nearer to ``most`` bytes."""
    if len(version(low).content) > most:
        return
    high = 1.0
    for _ in range(9):
        middle = (low + high) / 2
        found = version(middle)
        low, high = (middle, high) if len(found.content) <= most else (low, middle)
        yield found


def _doubled(rows: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Each texel [H / 2, W / 2, ...] as two by two, as many as ``like`` [H, W, ...] has."""
    return rows.repeat(2, axis=0).repeat(2, axis=1)[: like.shape[0], : like.shape[1]]


def _image(levels: Sequence[np.ndarray], number: int) -> Any:
    """A mipmap as an image, the coarsest where there are not this many."""
    from PIL import Image

    level = levels[min(number, len(levels) - 1)]
    return Image.fromarray(level[..., 0] if level.shape[-1] == 1 else level)


def weight_of(name: str) -> float:
    """How much differences of a texture show, by its name in glTF."""
    return next((weight for word, weight in _WEIGHTS if word in name.lower()), _OTHER_WEIGHT)


def alpha_shown(name: str, mode: str) -> bool:
    """Whether the alpha of a texture may show: of the format's own only that of colours, unless they are opaque.

    Parameters
    ----------
    name : of the texture in glTF; mode : how the material takes alpha.
    """
    return mode != "OPAQUE" if name == "baseColorTexture" else name not in _WITHOUT_ALPHA


def shown_image(content: bytes, uses: Sequence[tuple[str, float, float]], alpha: bool = True) -> ShownImage | None:
    """An image with its uses: the name of the texture, the area of the surface and that in coordinates [0, 1]^2.

    None for an image that is passed through: one that nothing shows, or of a format that is not written here.
    """
    area, covered = sum(use[1] for use in uses), sum(use[2] for use in uses)
    if not (area > 0 and covered > 0 and image_type(content)) or is_ktx2(content):
        return None
    colors = any(word in use[0].lower() for use in uses for word in _COLORS)
    image = ShownImage(content, area, 1.0, max(weight_of(use[0]) for use in uses), colors, alpha)
    if image.picture is None:
        return None
    width, height = image.picture.size
    found = replace(image, texels=covered * width * height)
    found.__dict__["picture"] = image.picture
    return found


def areas(points: np.ndarray) -> float:
    """The area of triangles [F, 3, 2 or 3]."""
    sides = (points[:, 1:] - points[:, :1]).astype(np.float64)
    gram = np.einsum("fik,fjk->fij", sides, sides)
    return float(np.sqrt(np.maximum(gram[:, 0, 0] * gram[:, 1, 1] - gram[:, 0, 1] ** 2, 0)).sum() / 2)


def images_of(mesh: TriangleMesh) -> list[ShownImage]:
    """The images of a mesh's materials that it shows."""
    carried, uses = mesh.attributes, {}
    if carried is None or carried.material is None or carried.uv is None:
        return []
    of_triangle = carried.material[mesh.triangles[:, 0]]
    for number in np.unique(of_triangle).tolist():
        own = mesh.triangles[of_triangle == number]
        area = areas(mesh.positions[own])
        for name, texture in carried.materials[number].textures.items():
            uv = carried.uv2 if texture.coordinates else carried.uv
            if uv is not None:
                uses.setdefault(texture.image, []).append((name, area, areas(uv[own])))
    with_alpha = {
        texture.image
        for material in carried.materials
        for name, texture in material.textures.items()
        if name not in TEXTURES and (name != BASE or material.alpha_mode != "OPAQUE")
    }
    found = [shown_image(content, own, content in with_alpha) for content, own in uses.items()]
    return [image for image in found if image is not None]


def with_images(mesh: TriangleMesh, images: Mapping[bytes, bytes]) -> TriangleMesh:
    """The mesh with other image files in place of those that are keys."""

    def changed(material: Material) -> Material:
        own = {name: one for name, one in material.textures.items() if one.image in images}
        return material.with_textures({name: replace(one, image=images[one.image]) for name, one in own.items()})

    if mesh.attributes is None or not images:
        return mesh
    materials = tuple(map(changed, mesh.attributes.materials))
    return replace(mesh, attributes=replace(mesh.attributes, materials=materials))


@dataclass(frozen=True)
class _PictureError(ErrorMetric):
    """Squared differences of colours in a picture; the context is the errors of images, None for clusters."""

    per_unit: float = 1.0
    unit = "squared colours"

    def evaluate(self, hierarchy: Hierarchy, context: Any) -> np.ndarray:
        if context is not None:
            return np.array(context)
        error = hierarchy.attribute("error").astype(np.float64)
        if "hausdorff" in hierarchy.node:  # the other counts distances between attributes, too
            error = np.minimum(error, hierarchy.attribute("hausdorff"))
        pixels, moved = hierarchy.attribute("area") * self.per_unit**2 / 4, self.per_unit * error
        return pixels * np.minimum(_DISPLACED * moved**2 / (moved + _SMALL), _WORST)


class _Member(HierarchicalResourceAllocator):
    """Clusters, or the versions of all images, in bytes."""

    def realize(self, allocation: Allocation) -> list[int]:
        """The numbers of what was chosen."""
        return sorted(allocation.cut.tolist())


@dataclass(frozen=True, eq=False)
class Shares:
    """Where the bytes of a file went.

    Attributes
    ----------
    triangles, images, other : bytes, of vertices and indices, of images that may change, and of everything else.
    residual_gap : of the split between triangles and images, by the pool's model of the picture; 1 if none fitted.
    """

    triangles: int
    images: int
    other: int
    residual_gap: float

    def __repr__(self) -> str:
        parts = f"triangles {self.triangles:,}, images {self.images:,}, other {self.other:,} bytes"
        return f"{parts}; residual gap of the split {100 * self.residual_gap:.2g} %"


@dataclass(frozen=True, eq=False)
class FittedFile:
    """A cut, versions of images, and the file that they become.

    Attributes
    ----------
    allocation : in triangles; content : the file, no longer than the limit.
    images : the files that take the place of images of the source; shares : of the bytes.
    """

    allocation: Allocation
    content: bytes = field(repr=False)
    images: Mapping[bytes, bytes]
    shares: Shares


@dataclass(frozen=True, eq=False)
class _Try:
    """The cut within this many triangles, and its file."""

    triangles: float
    allocation: Allocation
    content: bytes

    @property
    def size(self) -> int:
        return len(self.content)


@dataclass(eq=False)
class ByteBudget:
    """Fits files to numbers of bytes.

    Attributes
    ----------
    allocator : of clusters whose costs are triangles; context : as for its ``allocate``.
    images : that may get smaller; none for files of which only triangles change.
    encode : an allocation and images in place of others, as the bytes of a file.
    """

    allocator: MeshAllocator
    context: Any
    images: Sequence[ShownImage]
    encode: Callable[[Allocation, Mapping[bytes, bytes]], bytes]

    def __post_init__(self) -> None:
        self._hierarchy = self.allocator.hierarchy_for(self.context)
        if self._hierarchy.cost_unit != "triangles":
            raise HraError("files are fitted by triangles", where="ByteBudget", fix='use with_cost("triangles")')

    def fit(self, limit: int, per_unit: float, pinned: Any = None) -> FittedFile:
        """The file of at most ``limit`` bytes that changes least in the picture, or nearly that.

        Parameters
        ----------
        per_unit : pixels of a unit of length where the file will be seen.
        pinned : int [K], clusters that the cut must refine.

        Raises
        ------
        BudgetTooSmall : even the coarsest cut with the smallest images takes more.
        HraError : as ``allocate`` and ``encode`` do.
        """
        self._pinned = pinned
        least_count = self._hierarchy.base_cost
        if pinned is not None:
            least_count = float(self.allocator.cluster_mesh.triangles_per_cluster[pinned].sum())
        ladders = [image.ladder(per_unit) for image in self.images]
        smallest = [versions[0] for versions, _ in ladders]
        least = self._try(least_count, smallest)
        if least.size > limit:
            what = f"the coarsest cut takes {least.size:,} bytes as a file, the budget is {limit:,}"
            fix = f"use at least {least.size:,} bytes, or leave out images and attributes of the source"
            raise BudgetTooSmall(what, where="bytes", fix=fix)
        per_triangle = self._slope(least, smallest, limit)
        split = least.size - per_triangle * least.triangles - sum(len(one.content) for one in smallest)
        # Where each split overruns nothing is known of the smallest images.
        chosen, gap, over = smallest, 1.0 if ladders else 0.0, 0
        low = least
        for _ in range(4 if ladders else 0):
            chosen, triangles, found_gap = self._split(ladders, per_unit, per_triangle, limit - split - over)
            found = self._try(triangles, chosen)
            if found.size > limit:
                found = self._try(least.triangles, chosen, found)
            if found.size <= limit:
                low, gap = found, found_gap
                break
            over, chosen = over + found.size - limit, smallest
        low = self._grown(low, chosen, limit, per_triangle)
        return self._filled(low, chosen, limit, per_unit, gap)

    def _try(self, triangles: float, versions: Sequence[Version], last: _Try | None = None) -> _Try:
        allocation = self.allocator.allocate(self.context, math.floor(triangles), pinned=self._pinned)
        if last is not None and (allocation.selected == last.allocation.selected).all():
            return _Try(triangles, last.allocation, last.content)
        return _Try(max(triangles, allocation.cost), allocation, self.encode(allocation, self._changed(versions)))

    def _changed(self, versions: Sequence[Version]) -> dict[bytes, bytes]:
        pairs = zip(self.images, versions, strict=True)
        return {image.content: one.content for image, one in pairs if one.content is not image.content}

    def _slope(self, least: _Try, smallest: Sequence[Version], limit: int) -> float:
        """Bytes of a triangle: vertices are shared, and so fewer of larger meshes."""
        more = min(least.triangles + (limit - least.size) / 40 + 1, self._hierarchy.total_cost)
        other = self._try(more, smallest, least)
        count = other.allocation.cost - least.allocation.cost
        return max((other.size - least.size) / count, 1.0) if count > 0 else 40.0

    def _split(
        self, ladders: Sequence[tuple[list[Version], list[float]]], per_unit: float, per_triangle: float, budget: float
    ) -> tuple[list[Version], float, float]:
        """The versions and the number of triangles by the pool's price, and how far the split is from the best."""
        cost = np.rint(self.allocator.cluster_mesh.triangles_per_cluster * per_triangle).astype(np.int64)
        links = self._hierarchy.added_by, self._hierarchy.removed_by
        by_bytes = Hierarchy.groups(cost, *links, attributes=self._hierarchy.node, cost_unit="bytes")
        geometry = _Member(by_bytes, _PictureError(per_unit), Hull())
        lengths = [len(versions) for versions, _ in ladders]
        parent = np.arange(sum(lengths)) - 1
        parent[np.cumsum([0, *lengths[:-1]])] = -1
        sizes = [len(one.content) for versions, _ in ladders for one in versions]
        chains = Hierarchy.tree(parent, sizes, mode="replace", cost_unit="bytes")
        pictures = _Member(chains, _PictureError(), Hull())
        errors = np.concatenate([errors for _, errors in ladders])
        together = pool(geometry, pictures, traversal=Exact())
        least = by_bytes.base_cost + chains.base_cost
        found = together.allocate((None, errors), max(math.floor(budget), least))
        every = [one for versions, _ in ladders for one in versions]
        versions = [every[k] for k in pictures.realize(found.members[1])]
        return versions, found.members[0].cost / per_triangle, found.whole.residual_gap

    def _grown(self, low: _Try, versions: Sequence[Version], limit: int, per_triangle: float) -> _Try:
        """The most triangles that fit beside these images."""
        high: _Try | None = None
        most, weight = self._hierarchy.total_cost, 1.0
        for _ in range(_TRIES):
            end = most if high is None else high.triangles - 1
            close = min(_CLOSE, low.triangles // _FEW) if high else 0
            if low.size >= _FULL * limit or low.triangles + close >= end:
                break
            if high is None:  # too far rather than too near, because then both ends are known
                guess = low.triangles + 1.05 * (limit - low.size) / per_triangle + 1
            else:
                # The Illinois method (Dowell and Jarratt 1971): an end that stays counts less each time.
                below, above = limit * (1 + _FULL) / 2 - low.size, high.size - limit * (1 + _FULL) / 2
                share = below * min(weight, 1) / (below * min(weight, 1) + above / max(weight, 1))
                guess = low.triangles + (high.triangles - low.triangles) * min(max(share, 0.05), 0.95)
            found = self._try(min(max(guess, low.triangles + 1), end), versions, low)
            if found.size <= limit:
                if high is None and found.triangles > low.triangles:
                    per_triangle = max((found.size - low.size) / (found.triangles - low.triangles), 1.0)
                low, weight = found, 2 * max(weight, 1)
            else:
                high, weight = found, 1.0 if high is None else min(weight, 1) / 2
        return low

    def _filled(self, low: _Try, chosen: list[Version], limit: int, per_unit: float, gap: float) -> FittedFile:
        """What triangles left goes to the images, the largest first.

        Where much is left, it goes to texels for closer views, while no difference shows from the views that there are.
        """
        content = low.content
        order = sorted(range(len(chosen)), key=lambda k: -len(self.images[k].content))
        for worse, least in ((0.0, _FULL), (_UNSEEN, _FULL_ENOUGH)):
            for k in order:
                room = limit - len(content) - 8  # views are padded, and lengths in the header grow
                if len(content) >= least * limit:
                    break
                better = self.images[k].filled(chosen[k], len(chosen[k].content) + room, per_unit, worse)
                tried = [*chosen[:k], better, *chosen[k + 1 :]]
                if better is not chosen[k] and len(other := self.encode(low.allocation, self._changed(tried))) <= limit:
                    chosen, content = tried, other
        images = sum(len(one.content) for one in chosen)
        bare = self.encode(self.allocator.allocate(self.context, self._hierarchy.base_cost), self._changed(chosen))
        per = (len(content) - len(bare)) / max(low.allocation.cost - self._hierarchy.base_cost, 1)
        geometry = min(round(max(per, 0) * low.allocation.cost), len(content) - images)
        shares = Shares(geometry, images, len(content) - images - geometry, gap)
        return FittedFile(low.allocation, content, self._changed(chosen), shares)
