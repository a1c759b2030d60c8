"""The OpenGL functions that ModernGL lacks, bound with ctypes, which lets other threads run while one of them waits."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

DEPTH, COLOR = 0x1801, 0x1800
COLOR_BUFFER_BIT, LINEAR = 0x4000, 0x2601
DEPTH_ATTACHMENT = 0x8D00
TEXTURE_2D, DEPTH_COMPONENT32F = 0x0DE1, 0x8CAC
LOWER_LEFT, UPPER_LEFT, NEGATIVE_ONE_TO_ONE, ZERO_TO_ONE = 0x8CA1, 0x8CA2, 0x935E, 0x935F
DEPTH_FUNC, LESS, GREATER = 0x0B74, 0x0201, 0x0204
CLIP_ORIGIN, CLIP_DEPTH_MODE = 0x935C, 0x935D
MAJOR_VERSION = 0x821B
NO_ERROR, OUT_OF_MEMORY, CONTEXT_LOST = 0, 0x0505, 0x0507
FENCE_COMPLETE, FLUSH_COMMANDS = 0x9117, 1
ALREADY_SIGNALED, CONDITION_SATISFIED = 0x911A, 0x911C

_uint, _int, _float = ctypes.c_uint, ctypes.c_int, ctypes.c_float
_uints, _ints, _floats = (ctypes.POINTER(kind) for kind in (_uint, _int, _float))
_sync, _nanoseconds = ctypes.c_void_p, ctypes.c_uint64

_SIGNATURES: dict[str, tuple[Any, ...]] = {
    "BlitNamedFramebuffer": (None, _uint, _uint, *[_int] * 8, _uint, _uint),
    "ClearNamedFramebufferfv": (None, _uint, _uint, _int, _floats),
    "ClearNamedFramebufferuiv": (None, _uint, _uint, _int, _uints),
    "ClientWaitSync": (_uint, _sync, _uint, _nanoseconds),
    "ClipControl": (None, _uint, _uint),
    "CreateTextures": (None, _uint, _int, _uints),
    "DeleteSync": (None, _sync),
    "DeleteTextures": (None, _int, _uints),
    "DepthFunc": (None, _uint),
    "FenceSync": (_sync, _uint, _uint),
    "Flush": (None,),
    "GetError": (_uint,),
    "GetGraphicsResetStatus": (_uint,),
    "GetIntegerv": (None, _uint, _ints),
    "NamedFramebufferTexture": (None, _uint, _uint, _uint, _int),
    "TextureStorage2D": (None, _uint, _int, _uint, _int, _int),
}


@dataclass(frozen=True)
class Functions:
    """OpenGL 4.5 functions under their own names without the prefix ``gl``; they need a current context."""

    BlitNamedFramebuffer: Callable[..., None]
    ClearNamedFramebufferfv: Callable[..., None]
    ClearNamedFramebufferuiv: Callable[..., None]
    ClientWaitSync: Callable[..., int]
    ClipControl: Callable[..., None]
    CreateTextures: Callable[..., None]
    DeleteSync: Callable[..., None]
    DeleteTextures: Callable[..., None]
    DepthFunc: Callable[..., None]
    FenceSync: Callable[..., int]
    Flush: Callable[..., None]
    GetError: Callable[..., int]
    GetGraphicsResetStatus: Callable[..., int]
    GetIntegerv: Callable[..., None]
    NamedFramebufferTexture: Callable[..., None]
    TextureStorage2D: Callable[..., None]

    @classmethod
    def load(cls, address_of: Callable[[str], int]) -> Functions:
        """Bind all functions; ``address_of`` tells where the driver has the one of a name."""
        names = [field.name for field in fields(cls)]
        return cls(*(ctypes.CFUNCTYPE(*_SIGNATURES[name])(address_of(f"gl{name}")) for name in names))

    def integer(self, name: int) -> int:
        """The state variable ``name``."""
        value = _int()
        self.GetIntegerv(name, ctypes.byref(value))
        return value.value

    def blit_upside_down(self, source: int, target: int, size: tuple[int, int]) -> None:
        """Copy the colours of one framebuffer to another, the first row to the last one of ``size``."""
        width, height = size
        self.BlitNamedFramebuffer(source, target, 0, 0, width, height, 0, height, width, 0, COLOR_BUFFER_BIT, LINEAR)

    def depth_texture(self, width: int, height: int) -> int:
        """The name of a new depth texture of 32-bit floats (ModernGL's have 24 bits)."""
        name = _uint()
        self.CreateTextures(TEXTURE_2D, 1, ctypes.byref(name))
        self.TextureStorage2D(name, 1, DEPTH_COMPONENT32F, width, height)
        return name.value

    def delete_texture(self, name: int) -> None:
        """Delete a texture of `depth_texture`."""
        self.DeleteTextures(1, ctypes.byref(_uint(name)))

    def clear_depth(self, framebuffer: int, depth: float) -> None:
        """Set the depth of all pixels."""
        self.ClearNamedFramebufferfv(framebuffer, DEPTH, 0, (_float * 1)(depth))

    def clear_integers(self, framebuffer: int, value: int) -> None:
        """Set all channels of all pixels of an unsigned integer attachment (glClear cannot)."""
        self.ClearNamedFramebufferuiv(framebuffer, COLOR, 0, (_uint * 4)(*[value] * 4))
