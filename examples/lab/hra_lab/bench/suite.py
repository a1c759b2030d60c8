"""A suite: named benchmarks, each summed up in one row; those of solvers are run at three budgets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Any, Literal, Protocol

from hra.errors import BackendUnavailable, HraError
from hra_lab.bench import machine
from hra_lab.bench.devices import HOST, Device
from hra_lab.bench.features import missing
from hra_lab.bench.harness import Case, CaseAt, Clock, measure
from hra_lab.bench.memory import peak_bytes
from hra_lab.bench.threads import kernel_threads

Scale = Literal["full", "small"]

# Parts of the total cost that are tried; rows quote the second.
SHARES = (0.01, 0.1, 0.5)
_QUOTED = 0.1


class Row(Protocol):
    """What a suite consists of."""

    @property
    def name(self) -> str:
        """What ``names`` of `run` match."""
        ...

    @property
    def needs(self) -> tuple[str, ...]:
        """Features ("module:attribute") without which the row is skipped."""
        ...

    def measure(self, scale: Scale, repeat: int, bandwidth: float) -> dict[str, Any]:
        """All fields of the row; limits follow from ``bandwidth``, bytes per second.

        Raises `BackendUnavailable` if the library cannot run it on its device; it is skipped then.
        """
        ...


@dataclass(frozen=True)
class Benchmark:
    """A solver at three budgets.

    Attributes
    ----------
    build : makes the instance of a given size, and returns its case at a share of the total cost.
    full, small : sizes; "small" is for tests.
    needs : features ("module:attribute") without which the benchmark is skipped.
    memory : also measure the working memory per node.
    """

    name: str
    build: Callable[[int], CaseAt]
    full: int
    small: int = 1365
    needs: tuple[str, ...] = ()
    memory: bool = False

    def measure(self, scale: Scale, repeat: int, bandwidth: float) -> dict[str, Any]:
        """The row at 10 % of the total cost, and the budgets."""
        size = self.full if scale == "full" else self.small
        memory = {"bytes_per_node": self._bytes_per_node(size)} if self.memory else {}
        case_at = self.build(size)
        budgets = [_at_budget(case_at(share), share, repeat, bandwidth) for share in SHARES]
        quoted = next(budget for budget in budgets if budget["share"] == _QUOTED)
        row = {"name": self.name, **{key: value for key, value in quoted.items() if key != "share"}}
        return {**row, **memory, "budgets": budgets}

    def _bytes_per_node(self, size: int) -> float | None:
        """Working memory of the first solve: later ones find it there, kept beside the hierarchy."""
        small, case = self.build(self.small)(_QUOTED), self.build(size)(_QUOTED)
        _solve_once(small)()  # loads compiled code
        peak = peak_bytes(_solve_once(case))
        return None if peak is None else peak / case.size


def run(
    suite: Sequence[Row],
    *,
    names: Sequence[str] = (),
    repeat: int = 5,
    scale: Scale = "full",
    device: Device = HOST,
    progress: Callable[[str], None] = lambda name: None,
) -> dict[str, Any]:
    """Run a suite on one core, or on a CUDA device.

    Parameters
    ----------
    names : patterns such as "tree_*"; none takes all.
    repeat : rounds per benchmark and budget, >= 1.
    device : the one that the suite was made for; its copy bandwidth sets the limits.
    progress : told the name of each benchmark before it starts.

    Returns
    -------
    ``machine``, ``settings``, ``rows`` and ``skipped`` (name and reason), ready for JSON.

    Raises
    ------
    HraError : a pattern that fits no benchmark, or ``repeat`` < 1.
    """
    if repeat < 1:
        raise HraError(f"cannot take the median of {repeat} rounds", where="repeat", fix="use 1 or more")
    chosen = _chosen(suite, names)
    facts = machine.facts()  # before the suite adds its own load
    bandwidth = machine.copy_bandwidth(device)
    rows, skipped = [], []
    with _one_thread():
        for benchmark in chosen:
            reason = next(filter(None, map(missing, benchmark.needs)), None)
            if reason is not None:
                skipped.append({"name": benchmark.name, "reason": reason})
                continue
            progress(benchmark.name)
            try:
                rows.append(benchmark.measure(scale, repeat, bandwidth))
            except BackendUnavailable as error:
                skipped.append({"name": benchmark.name, "reason": error.what})
    settings = {"scale": scale, "repeat": repeat, "threads": 1, "copy_bytes_per_s": bandwidth}
    return {"machine": facts, "settings": settings, "rows": rows, "skipped": skipped}


def _chosen(suite: Sequence[Row], names: Sequence[str]) -> list[Row]:
    for pattern in names:
        if not any(fnmatch(benchmark.name, pattern) for benchmark in suite):
            known = ", ".join(benchmark.name for benchmark in suite)
            raise HraError(f"no benchmark is called {pattern!r}", where="names", fix=f"use some of: {known}")
    return [b for b in suite if not names or any(fnmatch(b.name, pattern) for pattern in names)]


def _at_budget(case: Case, share: float, repeat: int, bandwidth: float) -> dict[str, Any]:
    """What was measured at one budget, under the names of a row."""
    clocks = measure(case, repeat)
    own, (peer, quoted) = clocks[case.contenders[0].name], list(clocks.items())[1]
    return {
        "share": share,
        "n": case.size,
        "ours_s": own.seconds,
        "ours_cpu_s": own.cpu_seconds,
        "peer": peer,
        "peer_s": quoted.seconds,
        "ratio": quoted.seconds / own.seconds,
        "limit_s": case.moved_bytes / bandwidth,
        "gap": own.gaps.gap,
        "residual_gap": own.gaps.residual_gap,
        "peers": {contender.name: _peer(clocks[contender.name]) for contender in case.contenders[1:]},
    }


def _peer(clock: Clock) -> dict[str, float]:
    return {"s": clock.seconds, "gap": clock.gaps.gap, "residual_gap": clock.gaps.residual_gap}


def _solve_once(case: Case) -> Callable[[], Any]:
    own, given = case.contenders[0], case.inputs(1)
    prepared = own.prepare(given)
    return lambda: own.run(prepared)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Numbers are per core: compiled loops must not spread over several."""
    import numba

    # Numba's threads of OpenMP, which the next line starts, would be torch's from then on.
    numba.config.THREADING_LAYER = "workqueue"  # pyright: ignore[reportPrivateImportUsage, reportAttributeAccessIssue]
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        with kernel_threads(1):
            yield
    finally:
        numba.set_num_threads(before)
