"""Numba's ``njit`` as every compiled function of hra uses it, and time without compilation.

What Numba takes to compile a function, or to load it, comes once for each function, argument types and machine, and
would be taken for the work's own time in every report that a first call makes. Compilation holds one lock of Numba's,
which tells when it is taken and given back.
"""

from __future__ import annotations

import functools
import gc
import io
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np
from llvmlite import binding as llvm
from numba.core import event, options
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompileResult
from numba.core.dispatcher import Dispatcher
from numba.core.environment import Environment, lookup_environment
from numba.core.registry import cpu_target
from numba.core.runtime.nrt import rtsys
from numba.core.types import unliteral

from hra import shipped
from hra.errors import HraWarning


class _Sealed(IndexDataCacheFile):
    """Files that end with a hash of what is before it, which the pickles in them do not read."""

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[Any]:
        content = io.BytesIO()
        with super()._open_for_write(filepath) as file:
            yield content
            file.write(content.getvalue() + blake2b(content.getvalue()).digest())

    def _load_index(self) -> dict[Any, str]:
        with suppress(Exception):  # of what another program wrote, anything
            return super()._load_index() if _is_whole(self._index_path) else {}
        return {}

    def _load_data(self, name: str) -> Any:
        with suppress(Exception):
            return super()._load_data(name) if _is_whole(self._data_path(name)) else None


def _is_whole(path: str) -> bool:
    try:
        content = Path(path).read_bytes()
    except OSError:
        return False
    size = blake2b().digest_size
    return blake2b(content[:-size]).digest() == content[-size:]


class _Saving(FunctionCache):
    """Numba's cache of a function on disk, and what comes with the package: it is loaded fast or not at all.

    Code is found again by the source of all that it calls, the processor and the versions of what made it. Numba's own
    looks at one file of source alone, fills its tables of all that could be compiled before it loads anything, which
    imports SciPy, and ends the process where a file is not whole. Its folder is looked for when it is needed.
    """

    warned = False
    _cache_file: Any

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self._py_func, self._options = function, str(sorted(options.items()))

    def _is_placed(self) -> bool:
        """Whether there is a folder that could keep it."""
        if "_cache_file" not in self.__dict__:
            try:
                super().__init__(self._py_func)
                self._cache_file.__class__ = _Sealed
            except RuntimeError:
                self._cache_file = self._cache_path = None
        return self._cache_file is not None

    @property
    def cache_path(self) -> str | None:
        """The folder."""
        return self._cache_path if self._is_placed() else None

    def flush(self) -> None:
        """Forget what the folder holds."""
        if self._is_placed():
            super().flush()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What was compiled for these types, or None."""
        what, target = self._what(sig), target_context.codegen().magic_tuple()
        # What came with the package is first, so that answers do not depend on what a cache happens to hold.
        if (found := shipped.find(what, target)) is not None:
            parts, bitcode = found
            if (made := _rebuild(target_context, bitcode, *parts)) is not None:
                return made
        if not self._is_placed():
            return None
        key = what, target, _VERSIONS
        kept = self._cache_file.load(key)
        # Two processes that write at once can give two functions one file.
        return _rebuild(target_context, lambda: kept[2], *kept[1]) if kept and kept[0] == key else None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled; where it cannot be written, the function runs all the same."""
        try:
            if self._is_placed() and self._impl.check_cachable(data):
                self._impl.locator.ensure_cache_path()
                key = self._what(sig), data.codegen.magic_tuple(), _VERSIONS
                self._cache_file.save(key, (key, *_reduce(data)))
        except OSError as error:
            if not _Saving.warned:
                _Saving.warned = True
                what = f"compiled code cannot be kept in {self.cache_path}, so the next start compiles again: {error}"
                warnings.warn(HraWarning(what), stacklevel=2)

    def _what(self, sig: Any) -> tuple[Any, str, str]:
        return sig, self._options, _fingerprint(self._py_func)


def shipped_code() -> str:
    """Say in words whether compiled code came with the package and is used here, or why not."""
    context: Any = cpu_target.target_context
    return shipped.state(context.codegen().magic_tuple())


def _reduce(compiled: Any) -> tuple[tuple[Any, ...], bytes]:
    """What `_rebuild` takes, and the bitcode: environments as the names of their modules, which need no import."""
    (name, _, (machine_code, bitcode)), fndesc, environment, signature, objectmode, lifted, _, reload_init, used = (
        compiled._reduce()
    )
    module = compiled.library._final_module
    known = [(one.name, one.is_declaration) for one in (*module.functions, *module.global_variables)]
    needs = [one for one, is_elsewhere in known if is_elsewhere and not one.startswith("llvm.")]
    has = [one for one, is_elsewhere in known if not is_elsewhere]
    kept = [(each.globals.get("__name__"), list(each.consts), each.env_name) for each in used]
    # The types of all variables, in words, are left out: a quarter of the whole, for a listing that nobody asks for.
    rest = fndesc, environment, signature, objectmode, lifted, reload_init
    return (name, machine_code, needs, has, rest, kept), bitcode


def _rebuild(
    context: Any,
    bitcode: Callable[[], bytes],
    name: str,
    machine_code: bytes,
    needs: list[str],
    has: list[str],
    rest: list[Any],
    kept: list[Any],
) -> Any:
    """A compiled function as Numba makes it, without what only compiling needs; None where it cannot run."""
    fndesc, environment, signature, objectmode, lifted, reload_init = rest
    rtsys.initialize(context)
    for each in reload_init:
        each()
    if not all(map(llvm.address_of_symbol, needs)):
        context.refresh()  # what it calls comes with them
        if not all(map(llvm.address_of_symbol, needs)):
            return None  # code from another system; LLVM would end the process
    library = context.codegen().create_library(name)
    library.__class__, library._kept_bitcode = _Library, bitcode
    library.enable_object_caching()
    library._set_compiled_object(machine_code)
    library._finalize_final_module()
    library._codegen._engine._defined_symbols.update(has)
    entry = context.get_executable(library, fndesc, environment)
    environments = [_environment(*each) for each in kept]
    for each in environments:
        library.codegen.set_env(each.env_name, each)
    parts = {
        "target_context": context,
        "typing_context": context.typing_context,
        "library": library,
        "environment": environment,
        "entry_point": entry,
        "fndesc": fndesc,
        "type_annotation": "",
        "signature": signature,
        "objectmode": objectmode,
        "lifted": lifted,
        "reload_init": reload_init,
        "referenced_envs": environments,
    }
    return CompileResult(**dict.fromkeys(CompileResult._fields) | parts)


def _environment(module: str, constants: list[Any], name: str) -> Environment:
    """Constants of a function; its globals serve what is not compiled alone."""
    found = lookup_environment(name)
    if found is None:
        found = Environment(vars(sys.modules[module]) if module in sys.modules else {"__name__": module})
        found.consts[:], found.env_name = constants, name
        Environment._memo[name] = found
    return found


class _Library(JITCodeLibrary):
    """A loaded one, whose bitcode is read when a function that calls it is compiled."""

    _kept_bitcode: Callable[[], bytes]

    @property
    def _shared_module(self) -> Any:
        if self.__dict__.get("_read") is None:
            self._read = llvm.parse_bitcode(self._kept_bitcode())
            self._codegen._engine._load_defined_symbols(self._read)
        return self._read


_VERSIONS = sys.version, np.__version__, numba.__version__, llvmlite.__version__


def _fingerprint(function: Callable[..., Any]) -> str:
    """A fingerprint of the code, constants and options of a function and of all compiled ones that it calls."""
    waiting, parts = [function], {}
    while waiting:
        one = waiting.pop()
        if one in parts:
            continue
        parts[one], called = _own_print(one)
        waiting += called
    return blake2b("".join(sorted(parts.values())).encode()).hexdigest()


@functools.cache
def _own_print(function: Callable[..., Any]) -> tuple[str, list[Callable[..., Any]]]:
    """The fingerprint of one function alone, and the compiled ones that it calls."""
    codes, names, said = [function.__code__], set(), [function.__module__, function.__qualname__]
    for code in codes:  # which grows
        codes += [each for each in code.co_consts if isinstance(each, CodeType)]
        names |= set(code.co_names)
        constants = [_shown(each) for each in code.co_consts if not isinstance(each, CodeType)]
        said += [code.co_code.hex(), str(constants), str((code.co_names, code.co_varnames, code.co_freevars))]
    values = {name: function.__globals__[name] for name in sorted(names) if name in function.__globals__}
    for owner, module in list(values.items()):
        if isinstance(module, ModuleType) and module.__name__.partition(".")[0] == "hra":
            values |= {f"{owner}.{name}": vars(module)[name] for name in sorted(names) if name in vars(module)}
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    values |= {f"of {name}": cell.cell_contents for name, cell in cells}
    called = {name: each for name, each in values.items() if isinstance(each, Dispatcher)}
    said += [f"{name} = {_shown(each)}" for name, each in values.items() if name not in called]
    said += [f"{name} by {sorted(each.targetoptions.items())}" for name, each in called.items()]
    return "\0".join(said), [each.py_func for each in called.values()]


def _shown(value: Any) -> str:
    """A constant by its value; what is none by its name."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {value.tobytes().hex()}"
    if isinstance(value, frozenset):
        return str(sorted(map(repr, value)))
    if isinstance(value, bool | int | float | str | bytes | tuple | np.generic | None):
        return f"{type(value).__name__} {value!r}"
    return f"{getattr(value, '__qualname__', type(value).__name__)} {getattr(value, '_fields', '')}"


def njit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Numba's `njit` without the entry point for C, which nothing calls and which takes a tenth of the first use."""
    if function is None:
        return functools.partial(njit, **options)
    kept = options.pop("cache", False)
    compiled: Any = numba.njit(no_cfunc_wrapper=True, **options)(function)  # pyright: ignore[reportCallIssue]: not in its types
    if hasattr(compiled, "get_call_template"):  # NUMBA_DISABLE_JIT leaves functions as they are
        if kept:
            compiled._cache = _Saving(function, options)
        compiled.get_call_template = functools.partial(_typed, compiled.get_call_template)
    return compiled


def _typed(typed: Callable[..., Any], args: Sequence[Any], kws: Any) -> Any:
    """What a compiled caller calls, by the types alone: Numba compiles again for each 0 or False that it writes out."""
    return typed(tuple(map(unliteral, args)), {name: unliteral(each) for name, each in dict(kws).items()})


# Numba raises and lowers the reference counts of all arrays that it hands on, atomically: up to half of the time of
# functions that do little each. For those that make no arrays, and are called by what holds theirs. The option is in
# every version so far, but not documented: without it they are as right, and slower.
_UNCOUNTED = {"_nrt": False} if hasattr(options.DefaultOptions, "_nrt") else {}
njit_uncounted: Callable[..., Any] = functools.partial(njit, **_UNCOUNTED)


class _Watch(event.Listener):
    """Adds up the time between the starts and ends of one kind of event, of several threads at once."""

    def __init__(self, kind: str) -> None:
        self._lock, self._own = threading.Lock(), threading.local()
        self._wall = self._cpu = self._since = 0.0
        self.active = 0
        event.register(kind, self)

    def on_start(self, event: Any) -> None:
        """One more thread, or the same one deeper."""
        self._own.depth = getattr(self._own, "depth", 0) + 1
        if self._own.depth == 1:
            self._own.since = time.thread_time()
        with self._lock:
            self.active += 1
            if self.active == 1:
                self._since = time.perf_counter()

    def on_end(self, event: Any) -> None:
        """One fewer."""
        self._own.depth -= 1
        spent = time.thread_time() - self._own.since if self._own.depth == 0 else 0.0
        with self._lock:
            self.active -= 1
            self._cpu += spent
            if self.active == 0:
                self._wall += time.perf_counter() - self._since

    def read(self) -> tuple[float, float]:
        """Seconds so far: of the clock while at least one thread was at it, and of the processor."""
        with self._lock:
            running = time.perf_counter() - self._since if self.active else 0.0
            return self._wall + running, self._cpu


class _SeldomSearched(_Watch):
    """Events in which garbage is searched for seldom: Numba's compiler makes many objects, most of which it keeps."""

    _usual: tuple[int, int, int]

    def on_start(self, event: Any) -> None:
        """Seldom from the first on."""
        super().on_start(event)
        if self.active == 1:
            self._usual = gc.get_threshold()
            gc.set_threshold(max(self._usual[0], _OBJECTS) if self._usual[0] else 0, *self._usual[1:])

    def on_end(self, event: Any) -> None:
        """As usual after the last."""
        if self.active == 1:
            gc.set_threshold(*self._usual)
        super().on_end(event)


_OBJECTS = 50_000  # a tenth of the time of compiling went into searches after every 700 objects
# Compiling or loading compiled code holds the lock, so that one thread compiles; only compiling is this event.
_LOCKED, _COMPILED = _Watch("numba:compiler_lock"), _SeldomSearched("numba:compile")


def is_compiling() -> bool:
    """Whether a function is being compiled now, in any thread."""
    return _COMPILED.active > 0


class Stopwatch:
    """Seconds since it was made, without those in which functions were compiled or loaded.

    Where other threads work while one compiles, their time in it is not counted either.
    """

    def __init__(self) -> None:
        self._start = time.perf_counter(), time.process_time()
        self._before = _LOCKED.read()

    @property
    def wall(self) -> float:
        """Seconds by the clock."""
        return max(time.perf_counter() - self._start[0] - (_LOCKED.read()[0] - self._before[0]), 0.0)

    @property
    def cpu(self) -> float:
        """Seconds of all threads on processors."""
        return max(time.process_time() - self._start[1] - (_LOCKED.read()[1] - self._before[1]), 0.0)
