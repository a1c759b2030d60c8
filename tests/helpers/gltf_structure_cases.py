"""What several tests of gltf structure share."""

from __future__ import annotations

BYTE, UBYTE, SHORT, USHORT, UINT, FLOAT = 5120, 5121, 5122, 5123, 5125, 5126
