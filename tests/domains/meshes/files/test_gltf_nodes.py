"""Places of instances in glTF files: rotations as quaternions say."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hra.domains.meshes.files.gltf_nodes import rotation_matrices

unit = st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: np.linalg.norm(q) > 0.1)


@given(unit, st.tuples(*[st.floats(-10, 10)] * 3))
def test_a_rotation_turns_as_its_quaternion_does(quaternion: tuple, point: tuple) -> None:
    x, y, z, w = np.array(quaternion) / np.linalg.norm(quaternion)
    (matrix,) = rotation_matrices(np.array([[x, y, z, w]]))
    # v + 2 w (u x v) + 2 u x (u x v) is the product of quaternions without a matrix.
    axis = np.array([x, y, z])
    turned = np.cross(axis, point)
    np.testing.assert_allclose(matrix @ point, point + 2 * w * turned + 2 * np.cross(axis, turned), atol=1e-12)
