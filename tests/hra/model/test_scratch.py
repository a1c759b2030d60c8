from __future__ import annotations

import threading

import numpy as np

from hra.model.scratch import Scratch


def test_memory_is_given_again_until_its_shape_changes():
    scratch = Scratch()
    first = scratch.array("a", (3, 2))
    assert first is scratch.array("a", (3, 2))
    assert scratch.array("b", (3, 2)) is not first
    wider = scratch.array("a", (4, 2), np.float32)
    assert (wider.shape, wider.dtype) == ((4, 2), np.float32)


def test_every_thread_has_its_own():
    scratch, found = Scratch(), []
    thread = threading.Thread(target=lambda: found.append(scratch.array("a", (2,))))
    thread.start()
    thread.join()
    assert found[0] is not scratch.array("a", (2,))
