"""Materials, textures, samplers and images of a GLB header."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hra.domains.meshes.files.gltf_materials import sampler_entry
from hra.domains.meshes.mesh.materials import Material, Sampler, Texture, image_type

_SURFACE = {"base_color_texture": "baseColorTexture", "metallic_roughness_texture": "metallicRoughnessTexture"}
_OTHERS = {
    "normal_texture": "normalTexture",
    "occlusion_texture": "occlusionTexture",
    "emissive_texture": "emissiveTexture",
}


def material_entries(
    materials: tuple[Material, ...], sets: int, add_view: Callable[[bytes], int]
) -> dict[str, list[dict[str, Any]]]:
    """The header's lists for ``materials``; what several of them share is stored once.

    Parameters
    ----------
    sets : how many sets of texture coordinates vertices have; textures that need one more are left out, which glTF
        asks for.
    add_view : stores the bytes of an image and says in which view.
    """
    images: dict[bytes, int] = {}
    samplers: dict[Sampler, int] = {}
    textures: dict[tuple[bytes, Sampler], int] = {}

    def place(texture: Texture) -> dict[str, Any]:
        images.setdefault(texture.image, len(images))
        if texture.sampler != Sampler():
            samplers.setdefault(texture.sampler, len(samplers))
        number = textures.setdefault((texture.image, texture.sampler), len(textures))
        return {"index": number} | ({"texCoord": texture.coordinates} if texture.coordinates else {})

    entries = [_material_entry(material, _infos(material, sets, place)) for material in materials]
    found = {
        "materials": entries,
        "textures": [
            {"source": images[image]} | ({"sampler": samplers[sampler]} if sampler in samplers else {})
            for image, sampler in textures
        ],
        "samplers": [sampler_entry(sampler) for sampler in samplers],
        "images": [{"bufferView": add_view(content), "mimeType": image_type(content)} for content in images],
    }
    return {kind: entries for kind, entries in found.items() if entries}


def _infos(material: Material, sets: int, place: Callable[[Texture], dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """References to the textures of a material by their names."""
    infos = {name: place(texture) for name, texture in material.textures.items() if texture.coordinates < sets}
    if "normal_texture" in infos and material.normal_scale != 1:
        infos["normal_texture"]["scale"] = material.normal_scale
    if "occlusion_texture" in infos and material.occlusion_strength != 1:
        infos["occlusion_texture"]["strength"] = material.occlusion_strength
    return infos


def _material_entry(material: Material, infos: dict[str, dict[str, Any]]) -> dict[str, Any]:
    surface: dict[str, Any] = {
        "baseColorFactor": list(material.base_color),
        "metallicFactor": material.metallic,
        "roughnessFactor": material.roughness,
    }
    surface |= {key: infos[name] for name, key in _SURFACE.items() if name in infos}
    entry: dict[str, Any] = {"name": material.name, "pbrMetallicRoughness": surface}
    entry |= {key: infos[name] for name, key in _OTHERS.items() if name in infos}
    if any(material.emissive):
        entry["emissiveFactor"] = list(material.emissive)
    if material.alpha_mode != "OPAQUE":
        entry["alphaMode"] = material.alpha_mode
    if material.alpha_mode == "MASK":
        entry["alphaCutoff"] = material.alpha_cutoff
    if material.double_sided:
        entry["doubleSided"] = True
    return entry
