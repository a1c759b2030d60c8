"""The page that shows what every rule loses."""

from __future__ import annotations

from string import Template
from typing import Any

from hra_lab.evaluation.pictures import box_plots, png
from hra_lab.evaluation.rules import PROPOSED
from hra_lab.evaluation.sizes import Sizes
from hra_lab.evaluation.tables import loss_table, percent

_PAGE = Template("""# What each rule loses

Written by one command, which takes less than a minute and gives the same page and pictures every time:

    hra eval core --out examples/lab/docs

Every rule gets the same problems, budgets and costs. Its answer is compared with the least upper bound that any rule
proves for the problem. In $proven of $problems problems a set reached that bound: there it is the best possible, and
the losses are exact; elsewhere they are upper limits.

- **gain lost**: (bound - gain) / bound, what users of best-first rarely know.
- **error in excess**: (error that remains - least possible) / least possible. The stricter test: where the first few
  refinements remove nearly all of the error, every rule gains 99 %, and what remains tells them apart.

| rule | what it does |
| --- | --- |
| Exact | `Exact()`: the best set, with a proof |
| Hull | `Hull()`: the hull point within the budget, filled |
| Hull, not filled | `Hull(finish="none")`: the hull point alone; gain never falls when the budget grows |
| best first | `BestFirst()`: again and again the ready refinement of most gain per cost that fits (streamers, ROAM) |
| threshold | `Threshold()`: whatever is worse than an error tolerance, which is as low as the budget allows (engines) |
| sort, with ancestors | one sorted list by gain per cost; each with all its ancestors if they fit |
| sort, one pass | the same list; what comes before its predecessors is passed over |
| whole levels | one level of detail everywhere, the next one begun in storage order |
| random order | ready refinements by chance |

`Threshold` minimises the *largest* error, not the sum that is measured here, and may leave part of the budget unspent.

## Visual tokens: $crops crops of real images

Squares of $side pixels of the shipped photo, page and Earth map at seeded places, as pyramids of 16 x 16 pixel patches
whose children are added one by one. The error is the mean squared error of the image that the tokens show.

Gain lost, percent:

$tokens_gain

Error in excess, percent:

$tokens_residual

![Error in excess on token pyramids: one box per rule](pictures/ablation_tokens.png)

## Meshes: a cluster graph from $cameras sides

The shipped skull, whose groups of clusters have several predecessors, at shares of its triangles. The error is the
squared displacement on screen.

Gain lost, percent:

$mesh_gain

Error in excess, percent:

$mesh_residual

![Error in excess on the cluster graph: one box per rule](pictures/ablation_mesh.png)

Boxes span the middle half of the problems, whiskers all of them; the dot is the mean. The axis is linear up to 0.1 %
and logarithmic beyond. The graph is small: what single steps cost is felt there.

## What the numbers say

- Best-first is a good rule where every step is small and gains fall from coarse to fine, as on token pyramids. It stops
  at steps that gain little themselves but open up much, and nothing tells when: that is what the bound is for.
- Sorting once loses little if ancestors come along: a fine patch of high worth then pays for its coarse ones. Without
  them a single step of little worth, which comes late in the list, closes everything beneath it.
- A tolerance treats a large region and a small one of equal error alike. It is the right rule for the largest error.

## Where `Hull` loses

$hull_losses
""")

_LABEL = "error in excess of the least possible, %"


def render(record: dict[str, Any], sizes: Sizes) -> dict[str, bytes]:
    """The page and its pictures by their paths in the output folder.

    Parameters
    ----------
    record : of `hra_lab.evaluation.core.run` for the same ``sizes``.
    """
    rows = {data: [row for row in record["rows"] if row["data"] == data] for data in ("tokens", "mesh")}
    tables = {
        f"{data}_{short}": loss_table(rows[data], measure)
        for data in rows
        for short, measure in (("gain", "gain_lost"), ("residual", "residual_excess"))
    }
    text = _PAGE.substitute(
        tables,
        proven=record["proven"],
        problems=record["problems"],
        crops=sizes.crops,
        side=f"{sizes.side:,}",
        cameras=sizes.cameras,
        hull_losses="\n".join(f"- {line}" for line in _hull_losses(record["rows"])),
    )
    pictures = {
        f"pictures/ablation_{data}.png": png(box_plots(rows[data], "residual_excess", _LABEL, PROPOSED))
        for data in rows
    }
    return {"ablation.md": text.encode(), **pictures}


def _hull_losses(rows: list[dict[str, Any]]) -> list[str]:
    """One sentence per kind of data and budget: how often another rule of no proof did better than `Hull`."""
    lines = []
    for data, budget in dict.fromkeys((row["data"], row["budget"]) for row in rows):
        excess = {
            row["rule"]: row["residual_excess"]["all"] for row in rows if (row["data"], row["budget"]) == (data, budget)
        }
        others = zip(*(values for rule, values in excess.items() if rule not in PROPOSED), strict=True)
        hull = excess["Hull"]
        beaten = sum(min(other) < own * (1 - 1e-9) for own, other in zip(hull, others, strict=True))
        lines.append(
            f"{data}, {budget}: another rule was better in {beaten} of {len(hull)} problems; `Hull` left at most "
            f"{percent(max(hull))} % more error than had to be."
        )
    return lines
