"""What the tables of ``hra bench`` show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]


@dataclass(frozen=True)
class BenchTable:
    """The table of one suite: its title, and the columns of numbers between a row's name and its peer."""

    title: str
    numbers: Mapping[str, Callable[[Row], str]]


def skip(record: Mapping[str, Any]) -> Iterator[str]:
    """A line for each row that was skipped, and one for each peer that was: name and reason."""
    for row in record["skipped"]:
        yield f"{row['name']}: {row['reason']}"
    rows_without: dict[tuple[str, str], list[str]] = {}
    for row in record["rows"]:
        for absent in row.get("absent", {}).items():
            rows_without.setdefault(absent, []).append(row["name"])
    for (peer, reason), names in rows_without.items():
        yield f"{peer} ({', '.join(names)}): {reason}"


def _milliseconds(key: str) -> Callable[[Row], str]:
    return lambda row: _three_digits(row[key], 1000)


def _thousands(key: str) -> Callable[[Row], str]:
    return lambda row: _three_digits(row.get(key), 0.001)


def _percent(key: str) -> Callable[[Row], str]:
    return lambda row: f"{100 * row[key]:.2g}" if key in row else "-"


def _beside(measured: str, stated: str) -> Callable[[Row], str]:
    """What was measured, and what was promised."""
    return lambda row: f"{_three_digits(row[measured])}, {_three_digits(row[stated])}" if measured in row else "-"


def _three_digits(number: float | None, factor: float = 1.0) -> str:
    if number is None:
        return "-"
    return f"{factor * number:.3g}" if factor * number < 999.5 else f"{factor * number:,.0f}"


def _gain_db(row: Row) -> str:
    return f"{row['gain_db']:+.2f}" if "gain_db" in row else "-"


def _threads(row: Row) -> str:
    """Those of the library and of the quoted peer."""
    quoted = [row["threads"][name] for name in ("hra", row["peer"]) if name]
    return " / ".join(map(str, quoted))


def _count(key: str) -> Callable[[Row], str]:
    return lambda row: f"{row[key]:,}" if key in row else "-"


def _results(row: Row) -> str:
    """What a row of the textures suite found, a line each."""
    return "\n".join(f"{name} {number:,.4g}" for name, number in row["results"].items() if number is not None)


_TIMES = {
    "n": lambda row: f"{row['n']:,}",
    "ours": _milliseconds("ours_s"),
    "peer": _milliseconds("peer_s"),
    "ratio": lambda row: _three_digits(row["ratio"]),
    "limit": _milliseconds("limit_s"),
}

TABLES: Mapping[str, BenchTable] = {
    "core": BenchTable(
        "milliseconds on one core, at 10 % of the total cost; gaps in percent",
        {**_TIMES, "gap": _percent("gap"), "residual gap": _percent("residual_gap")},
    ),
    "kernels": BenchTable(
        "milliseconds, beside the fastest peer; every output was checked",
        {**_TIMES, "% of bandwidth": lambda row: _three_digits(row["of_bandwidth"], 100), "threads": _threads},
    ),
    "meshes": BenchTable(
        "milliseconds of the clock and of the processor beside the fastest peer; gaps in percent, memory in MiB",
        {
            "n": _TIMES["n"],
            "wall": _milliseconds("wall_s"),
            "cpu": _milliseconds("cpu_s"),
            "peer, cpu": _milliseconds("peer_cpu_s"),
            "ratio": lambda row: _three_digits(row["cpu_ratio"]),
            "MiB": lambda row: _three_digits(row.get("rss_mb")),
            "levels": _count("levels"),
            "root": _count("root_triangles"),
            "gap": lambda row: _percent("gap")(row) if "gap" in row else "-",
        },
    ),
    "textures": BenchTable(
        "milliseconds beside the peer, and what else was found",
        {name: _TIMES[name] for name in ("n", "ours", "peer", "ratio")} | {"results": _results},
    ),
    "residency": BenchTable(
        "milliseconds of processor time per step, and mean errors in px2 by pool (share of all pages) and rule",
        {"pages": _TIMES["n"], "a step": _milliseconds("ours_s"), "results": _results},
    ),
    "startup": BenchTable(
        "milliseconds of a process from its start to its end, by the clock and by processors; cold compiles first",
        {
            "wall": _milliseconds("wall_s"),
            "cpu": _milliseconds("cpu_s"),
            "cold, wall": _milliseconds("cold_wall_s"),
            "cold, cpu": _milliseconds("cold_cpu_s"),
            "peer, cpu": lambda row: _three_digits(row.get("peer_cpu_s"), 1000),
        },
    ),
    "models": BenchTable(
        "processor milliseconds on one thread; speed-ups beside all tokens, and what operations promise",
        {
            "tokens": _count("tokens"),
            "encode": _milliseconds("encode_s"),
            "select": _milliseconds("selection_s"),
            "prefill": _milliseconds("prefill_s"),
            "decode": _milliseconds("decode_s"),
            "prefill, promised": _beside("speedup", "flops_ratio"),
            "first token": _beside("first_speedup", "first_flops_ratio"),
            "answer": _beside("total_speedup", "total_flops_ratio"),
            "off by %": _percent("error"),
        },
    ),
    "points": BenchTable(
        "milliseconds: builds by the clock, budgets of a processor",
        {
            "n": _TIMES["n"],
            "ours": _milliseconds("ours_s"),
            "warm": _milliseconds("warm_s"),
            "errors": _milliseconds("errors_s"),
            "limit": _milliseconds("limit_s"),
            "peer": _milliseconds("peer_s"),
            "gap": lambda row: "-" if row["gap"] is None else f"{100 * row['gap']:.2g}",
        },
    ),
    "runtime": BenchTable(
        "frames: milliseconds by the clock, thousands of triangles",
        {
            "n": _TIMES["n"],
            "ours": _milliseconds("ours_s"),
            "peer": _milliseconds("peer_s"),
            "in the cut": _thousands("triangles"),
            "in frustum": _thousands("in_frustum"),
            "visible": _thousands("visible"),
            "drawn": _thousands("drawn"),
            "culled in vain": lambda row: str(row.get("hidden_visible", "-")),
        },
    ),
    "scale": BenchTable(
        "seconds of whole jobs over folders, from the start of their processes to their end",
        {
            "n": _TIMES["n"],
            "ours": lambda row: _three_digits(row["ours_s"]),
            "ours, cpu": lambda row: _three_digits(row["ours_cpu_s"]),
            "peer": lambda row: _three_digits(row["peer_s"]),
            "peer, cpu": lambda row: _three_digits(row["peer_cpu_s"]),
            "ratio": _TIMES["ratio"],
            "ratio, running": lambda row: _three_digits(row.get("ratio_running")),
            "a second": lambda row: _three_digits(row.get("rate")),
            "peak / limit": lambda row: _three_digits(row.get("peak_over_limit")),
        },
    ),
    "tokens": BenchTable(
        "milliseconds, beside the fastest peer; gain in dB over uniform down-sampling",
        {**_TIMES, "tokens": lambda row: f"{row['count']:,}" if "count" in row else "-", "gain": _gain_db},
    ),
}
"""By suite."""
