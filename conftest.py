"""Settings and fixtures that all tests share."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
import zlib
from collections.abc import Generator, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

# Threads of OpenBLAS and OpenMP that wait would spin, each on a core that another process needs: torch on two threads
# took thirty times as much of the processor. The libraries read this when they are imported.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numba
import pytest
from hypothesis import settings
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher

from hra.allocating import verification
from hra.allocating.allocation import Allocation

if TYPE_CHECKING:
    import moderngl

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

# The laboratory's tests use helpers of `tests`, too. The root is on no path, and pytest makes the package known only
# when it collects files of it: those of the laboratory alone would not find it.
_TESTS = ModuleType("tests")
_TESTS.__path__ = [str(Path(__file__).parent / "tests")]
sys.modules.setdefault("tests", _TESTS)

# Tests run in as many processes as there are cores: torch's threads on top of that would wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Numba's threads of OpenMP, which whoever asks for their number starts, would be torch's from then on.
numba.config.THREADING_LAYER = "workqueue"  # pyright: ignore[reportPrivateImportUsage, reportAttributeAccessIssue]

# The default profile repeats itself, so that a red run can be run again; the slow one explores.
settings.register_profile("default", max_examples=30, deadline=None, derandomize=True)
settings.register_profile("slow", max_examples=1000, deadline=None, print_blob=True)
settings.register_profile("ten-thousand", max_examples=10_000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HRA_HYPOTHESIS_PROFILE", "default"))


def _no_network(event: str, arguments: tuple[object, ...]) -> None:
    """Refuse every connection and every look-up of a name but those of this machine."""
    if event in ("socket.connect", "socket.getaddrinfo"):
        address = arguments[1] if event == "socket.connect" else arguments[0]
        host = address[0] if isinstance(address, tuple) else address
        local = event == "socket.connect" and not isinstance(address, tuple)  # a socket of the file system
        if not local and host not in (None, "", "127.0.0.1", "::1", "localhost", "0.0.0.0"):
            raise RuntimeError(f"no network in tests: {event} {host!r}")


# Nothing that hra does opens a connection; what did would be found in whichever test it is.
sys.addaudithook(_no_network)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """List the tests in one process after the other: what the first compiles, of Python and Numba, others load.

    Little that is imported or listed becomes garbage: searches for it took a fifth of the time.
    """
    gc.disable()
    if fcntl is None or not hasattr(session.config, "workerinput"):
        return (yield)
    with open(__file__) as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        return (yield)


def pytest_collection_finish() -> None:
    """Leave what was imported and listed, a million objects, out of all later searches for garbage."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _compile_in_turn(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let one process compile a function while others that need it wait and then load it: all begin with the same.

    Who compiles holds one byte of a file: a process that ends gives it back, and the system refuses it to one of two
    that would wait for each other.
    """
    if fcntl is None or not hasattr(request.config, "workerinput"):
        yield
        return
    lock, take, give_back = fcntl.lockf, fcntl.LOCK_EX, fcntl.LOCK_UN
    compile_now, held = Dispatcher.compile, set()

    def compile_in_turn(dispatcher: Dispatcher, signature: Any) -> object:
        byte = zlib.crc32(f"{dispatcher.py_func.__module__}.{dispatcher.py_func.__qualname__}".encode())
        with global_compiler_lock:
            if byte in held:
                return compile_now(dispatcher, signature)
            held.add(byte)
            try:
                with suppress(OSError):  # refused: to compile twice does no harm
                    lock(file, take, 1, byte)
                return compile_now(dispatcher, signature)
            finally:
                lock(file, give_back, 1, byte)
                held.remove(byte)

    shared = tmp_path_factory.getbasetemp().parent / "compiling"  # one folder for all processes of a run
    with open(shared, "ab") as file, pytest.MonkeyPatch.context() as patch:
        patch.setattr(Dispatcher, "compile", compile_in_turn)
        yield


@pytest.fixture(scope="session")
def _session_context() -> Iterator[moderngl.Context]:
    try:
        import moderngl

        context = moderngl.create_context(standalone=True, backend="egl")  # pyright: ignore[reportArgumentType]
    except Exception as error:  # moderngl and the drivers raise plain Exception
        if os.environ.get("HRA_NO_GL") == "1":
            pytest.skip(f"HRA_NO_GL=1, and no OpenGL context: {error}")
        pytest.fail(f"no OpenGL context: {error}; `scripts/system_packages.sh gl` installs Mesa, HRA_NO_GL=1 skips")
    yield context
    context.release()


@pytest.fixture
def gl_context(_session_context: moderngl.Context) -> Iterator[moderngl.Context]:
    """A current OpenGL context without a display; fails where there is none, skips with HRA_NO_GL=1."""
    with _session_context:
        yield _session_context


@pytest.fixture(scope="session")
def display() -> Iterator[str]:
    """The name of a display of Xvfb."""
    server = shutil.which("Xvfb")
    if server is None:
        pytest.skip("there is no Xvfb")
    read, write = os.pipe()
    command = [server, "-displayfd", str(write), "-screen", "0", "1024x768x24", "-nolisten", "tcp"]
    process = subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as told:
        number = told.readline().strip()
    yield f":{number}"
    process.terminate()
    process.wait()


@pytest.fixture(autouse=True)
def _skip_without_gl(request: pytest.FixtureRequest) -> None:
    """Make the marker gl enough for tests of code that creates its own context."""
    if request.node.get_closest_marker("gl"):
        request.getfixturevalue("_session_context")


# Allocations of more refinements are not verified on the side, and searches of the rest end early.
_MOST_REFINEMENTS, _DECISIONS = 200, 1000


@pytest.fixture(autouse=True)
def _verify_every_allocation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every allocation that a test makes pass `hra.verify`; tests marked ``unverified`` make false ones."""
    if request.node.get_closest_marker("unverified"):
        return
    check = Allocation.__post_init__

    def check_and_verify(allocation: Allocation) -> None:
        check(allocation)
        if len(allocation.hierarchy) <= _MOST_REFINEMENTS:
            found = _verified_copy(allocation, check)
            assert found.ok, found.refuted

    monkeypatch.setattr(Allocation, "__post_init__", check_and_verify)


def _verified_copy(allocation: Allocation, check: object) -> verification.Verification:
    """What `hra.verify` says of a copy: certificates are made on first use, which a test may be about."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Allocation, "__post_init__", check)
        patch.setattr(verification, "_DECISIONS", _DECISIONS)
        return verification.verify(replace(allocation))
