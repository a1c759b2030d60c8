"""``hra texture replay`` of recorded traces."""

from __future__ import annotations

from pathlib import Path

from hra.console import running, write_json
from hra.domains.textures.commands.verdicts import Judged, show_judged, sizes, write_picture


def replay_trace(
    path: Path,
    pool: int,
    policy: str,
    upload: int | None,
    prefetch: int,
    json_file: Path | None,
    picture: Path | None,
) -> None:
    """Run policies on a trace and show what each one loads."""
    from hra.residency import Belady, judge, load_trace
    from hra.residency.policies import policies

    trace, rows = load_trace(path), []
    chosen = policies(policy, trace, upload, prefetch)
    with running("replay") as progress:
        least = judge(Belady(), trace, pool)
        for contender in chosen:
            progress(contender.name)
            rows.append(Judged(judge(contender, trace, pool), least))
    write_json(json_file, {**sizes(trace, pool), "policies": [row.record() for row in rows]})
    if picture is not None:
        write_picture(picture, rows, pool)
    show_judged(f"{path.name}: {trace!r}", rows)
