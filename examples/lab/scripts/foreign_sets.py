"""Questions to pages that this project did not draw: tables of HTML documentation, PDF manuals, scanned receipts.

    python examples/lab/scripts/foreign_sets.py html    FOLDER_OF_PACKAGES OUT
    python examples/lab/scripts/foreign_sets.py pdf     FOLDER_OF_PACKAGES OUT
    python examples/lab/scripts/foreign_sets.py receipts FOLDER OUT [SKIP]
    python examples/lab/scripts/foreign_sets.py split   OUT [test]

`html` and `pdf` walk unpacked Debian and npm packages, one folder each; HTML is drawn by chromium-headless-shell, boxes
come from its DOM; PDF goes through poppler's pdftoppm and pdftotext. `receipts` takes a folder with data/img/NNN.jpg,
data/box/NNN.csv (x, y of four corners, text) and data/key/NNN.json (total, date, company), as ICDAR 2019's.
Each writes OUT/NAME.jsonl (image, question, paraphrase, answer, boxes, set, document) beside its images; SKIP leaves
out receipts that an earlier set used. `split` puts every document into the development or the test half by a hash of
its name, or all of them into a test half. Nothing of this is part of the repository.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import html
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

_HEIGHT = 1000
_WIDTHS = (640, 800, 960, 1120)
_PER_DOCUMENT = 2
_PER_PACKAGE = 4
_PDF_DPI = 96
_RECEIPTS = 40
_OF_A_HALF = 48  # questions of one set

# Finds a table with headings, moves it into view, and leaves cells, texts and boxes in the DOM.
_SCRIPT = """
addEventListener('load', () => {
  const text = e => e.innerText.replace(/\\s+/g, ' ').trim();
  const box = e => { const r = document.createRange(); r.selectNodeContents(e); const b = r.getBoundingClientRect();
    return [b.left, b.top, b.right, b.bottom]; };
  const plain = [...document.querySelectorAll('table')].filter(t => {
    const cells = [...t.querySelectorAll('td,th')];
    return t.rows.length > 2 && t.rows.length < 60 && !t.querySelector('table,[rowspan],td[colspan]') && t.offsetHeight
      && cells.every(c => c.innerText.length < 160) && t.rows[0].cells.length > 1 && t.rows[0].cells.length < 9
      && t.rows[0].querySelector('th'); });
  plain.sort((a, b) => b.querySelectorAll('td,th').length - a.querySelectorAll('td,th').length);
  const out = [], all = [...document.querySelectorAll('td,th')].map(text);
  if (plain.length) {
    const t = plain[0], root = document.documentElement;
    root.style.overflow = 'hidden'; window.scrollTo(0, 0);
    document.body.style.marginTop = Math.min(0, SHIFT - t.getBoundingClientRect().top) + 'px';
    const cell = c => ({text: text(c), box: box(c), head: c.tagName == 'TH',
      same: all.filter(s => s == text(c)).length});
    for (const row of t.rows) out.push([...row.cells].map(cell));
  }
  const p = document.createElement('pre'); p.id = 'found-cells'; p.style.display = 'none';
  p.textContent = JSON.stringify(out); document.body.appendChild(p);
});
"""
_DARK = "<style>html{background:#fff;filter:invert(.9) hue-rotate(180deg)}</style>"


def _hash(name: str) -> int:
    return int(hashlib.sha256(name.encode()).hexdigest()[:8], 16)


def html_rows(packages: Path, out: Path) -> Iterator[dict[str, Any]]:
    """Questions to tables of HTML pages, which are drawn."""
    for package in sorted(packages.iterdir()):
        pages = [page for page in package.rglob("*.htm*") if page.is_file() and not page.is_symlink()]
        pages = sorted((p for p in pages if _with_table(p)), key=lambda page: _hash(str(page.relative_to(packages))))
        done = 0
        for page in pages[: 3 * _PER_PACKAGE]:
            name = re.sub(r"\W+", "-", str(page.relative_to(packages)))[-70:]
            rows = list(_html_page(page, name, out))
            yield from rows
            done += bool(rows)
            if done >= _PER_PACKAGE:
                break


def _with_table(page: Path) -> bool:
    text = page.read_text(errors="replace")
    return "<th" in text and len(text) < 600_000


def _html_page(page: Path, name: str, out: Path) -> Iterator[dict[str, Any]]:
    seed = _hash(name)
    width, dark, shift = _WIDTHS[seed % 4], seed // 4 % 3 == 0, 40 + seed // 16 % 300
    script = f"<script>{_SCRIPT.replace('SHIFT', str(shift))}</script>" + (_DARK if dark else "")
    source = page.read_text(errors="replace")
    made = page.with_name("drawn-" + page.name)
    made.write_text(re.sub(r"(?i)</head>", lambda found: script + found[0], source, count=1))
    picture = out / "images" / f"{name}.png"
    picture.parent.mkdir(parents=True, exist_ok=True)
    base = [
        "chromium-headless-shell",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        f"--window-size={width},{_HEIGHT}",
    ]
    url = f"file://{made.resolve()}"
    try:
        dom = subprocess.run([*base, "--dump-dom", url], capture_output=True, timeout=60, check=True).stdout.decode()
        found = re.search(r'<pre id="found-cells"[^>]*>(.*?)</pre>', dom, re.DOTALL)
        cells = json.loads(html.unescape(found[1])) if found else []
        asked = list(_table_questions(cells, width))
        if asked:
            subprocess.run([*base, f"--screenshot={picture}", url], capture_output=True, timeout=60, check=True)
    except (subprocess.SubprocessError, json.JSONDecodeError):
        return
    finally:
        made.unlink()
    asked.sort(key=lambda one: _hash(name + one["question"]))
    for one in asked[:_PER_DOCUMENT]:
        yield {"image": f"images/{picture.name}", **one, "set": "html", "document": name, "dark": dark}


def _table_questions(cells: list[list[dict[str, Any]]], width: int) -> Iterator[dict[str, Any]]:
    heads = [cell["text"] for cell in cells[0]] if cells else []
    pairs = len(heads) == 2 and all(row[0]["head"] for row in cells)  # headings on the left, none above
    for row in cells[not pairs :]:
        if len(row) != len(heads) or not _asks(row[0]["text"]) or row[0]["same"] > 1:
            continue
        name = row[0]["text"].rstrip(": ")
        for head, cell in list(zip(heads, row, strict=True))[1:]:
            x0, y0, x1, y1 = cell["box"]
            inside = x0 >= 0 and y0 >= 0 and x1 <= width and y1 <= _HEIGHT and 6 < y1 - y0 < 32
            seen = row[0]["box"][0] >= 0 and row[0]["box"][2] <= width and cells[0][0]["box"][1] > 0
            titled = pairs or (_asks(head) and heads.count(head) == 1)
            if inside and seen and titled and _answers(cell["text"]):
                question = f"what is the {name}?" if pairs else f"what is the {head} of {name}?"
                yield {
                    "question": question,
                    "paraphrase": f"{name}: what does it say?" if pairs else f"{name}: which {head} does it have?",
                    "answer": cell["text"],
                    "boxes": [[round(side) for side in cell["box"]]],
                }


def _asks(text: str) -> bool:
    return len(re.findall(r"[A-Za-z]", text)) >= 3 and len(text) <= 40


def _answers(text: str) -> bool:
    return 2 <= len(text) <= 30 and len(re.findall(r"[A-Za-z0-9]", text)) >= 2 and text.isascii()


def pdf_rows(packages: Path, out: Path) -> Iterator[dict[str, Any]]:
    """Questions to pages of manuals, which are drawn."""
    for file in sorted([*packages.rglob("*.pdf"), *packages.rglob("*.pdf.gz")]):
        if file.is_symlink():
            continue
        with tempfile.TemporaryDirectory() as folder:
            plain = Path(folder) / "one.pdf"
            content = file.read_bytes()
            plain.write_bytes(gzip.decompress(content) if file.suffix == ".gz" else content)
            yield from _manual(plain, file.name.split(".pdf")[0], out)


def _manual(file: Path, name: str, out: Path) -> Iterator[dict[str, Any]]:
    text = subprocess.run(["pdftotext", "-bbox-layout", "-l", "60", str(file), "-"], capture_output=True, check=True)
    pages = re.findall(r"<page .*?</page>", text.stdout.decode(errors="replace"), re.DOTALL)
    kept = 0
    for number in sorted(range(len(pages)), key=lambda page: _hash(f"{name} {page}")):
        asked = list(_lines_of(pages[number]))
        if len(asked) < 2:
            continue
        asked.sort(key=lambda one: _hash(name + one["question"]))
        stem = f"{name}-{number + 1}"
        (out / "images").mkdir(parents=True, exist_ok=True)
        page = ["-f", str(number + 1), "-l", str(number + 1), "-singlefile"]
        subprocess.run(
            ["pdftoppm", "-r", str(_PDF_DPI), "-png", *page, str(file), str(out / "images" / stem)], check=True
        )
        for one in asked[:_PER_DOCUMENT]:
            yield {"image": f"images/{stem}.png", **one, "set": "pdf", "document": name}
        kept += 1
        if kept >= 4:
            return


def _lines_of(page: str) -> Iterator[dict[str, Any]]:
    """Questions to rows that end in a number behind leaders or a gap, and to "label: value"."""
    pattern = r'<word xMin="([\d.]+)" yMin="([\d.]+)" xMax="([\d.]+)" yMax="([\d.]+)">(.*?)</word>'
    words = [(*map(float, one[:4]), html.unescape(one[4])) for one in re.findall(pattern, page)]
    rows: dict[int, list[Any]] = {}
    for word in words:
        rows.setdefault(round((word[1] + word[3]) / 6), []).append(word)
    texts = []
    for row in rows.values():
        row.sort()
        told = [word for word in row if re.search(r"\w", word[4])]
        last = told[-1] if told else None
        title = " ".join(word[4] for word in told[:-1])
        title = re.sub(r"^[\dA-Z]{0,2}[\d.]*\s+", "", title).strip(" .")
        inner = 80 < row[0][1] < 760  # no running heads
        if last is None or not inner or not re.fullmatch(r"[^\W\d_][^\W_]*(?:[ ,'/-]+[^\W_]+){0,8}:?", title):
            continue
        leaders = len(row) > len(told) or last[0] - told[-2][2] > 20 if len(told) > 1 else False
        labelled = len(told) <= 4 and len(told) > 1 and told[-2][4].endswith(":")
        number = re.fullmatch(r"\d{1,4}", last[4])
        if (leaders and number) or (labelled and len(last[4]) > 1 and last[4].isascii()):
            texts.append((title.rstrip(":"), last, bool(number and not labelled)))
    if sum(paged for _, _, paged in texts) < 4:
        texts = [one for one in texts if not one[2]]  # no table of contents
    titles = [title for title, _, _ in texts]
    scale = _PDF_DPI / 72
    for title, (x0, y0, x1, y1, answer), paged in texts:
        if titles.count(title) == 1 and len(title) >= 4:
            yield {
                "question": f"on which page is {title}?" if paged else f"what is the {title}?",
                "paraphrase": f"where does {title} begin?" if paged else f"{title}: what does it say?",
                "answer": answer,
                "boxes": [[round(scale * side) for side in (x0, y0, x1, y1)]],
            }


_FIELDS = {
    "total": ("what is the total amount?", "how much did the customer pay altogether?"),
    "date": ("what is the date?", "on which day was this bought?"),
}


def receipt_rows(folder: Path, out: Path, skip: int = 0) -> Iterator[dict[str, Any]]:
    """Questions to receipts, numbers 000 to 299 only."""
    (out / "images").mkdir(parents=True, exist_ok=True)
    chosen = sorted((folder / "data/key").glob("[0-2]??.json"), key=lambda key: _hash(f"receipt {key.stem}"))
    for key in chosen[skip : skip + 2 * _RECEIPTS]:
        fields, lines = json.loads(key.read_text()), _boxes(folder / f"data/box/{key.stem}.csv")
        found = {name: _places(fields.get(name, ""), lines) for name in _FIELDS}
        for name, (question, paraphrase) in _FIELDS.items():
            if found[name]:
                shutil.copy(folder / f"data/img/{key.stem}.jpg", out / "images" / f"{key.stem}.jpg")
                one = {"question": question, "paraphrase": paraphrase, "answer": fields[name], "boxes": found[name]}
                yield {"image": f"images/{key.stem}.jpg", **one, "set": "receipts", "document": f"receipt {key.stem}"}


def _boxes(file: Path) -> list[tuple[list[int], str]]:
    rows = [line.split(",", 8) for line in file.read_text(errors="replace").splitlines() if line.count(",") >= 8]
    return [([int(row[0]), int(row[1]), int(row[4]), int(row[5])], row[8]) for row in rows]


def _places(answer: str, lines: list[tuple[list[int], str]]) -> list[list[int]]:
    """Boxes of the answer, those in a row with "total" first; the part of a line that holds it."""
    found = []
    if len(answer) < 3:
        return []
    for (x0, y0, x1, y1), text in lines:
        spot = re.search(rf"(?<![\d.,]){re.escape(answer)}(?![\d])", text)
        if spot:
            wide, row = (x1 - x0) / max(len(text), 1), (y0 + y1) / 2
            named = any("total" in other.lower() and box[1] < row < box[3] for box, other in lines)
            found.append((not named, [round(x0 + wide * spot.start()), y0, round(x0 + wide * spot.end()), y1]))
    return [box for _, box in sorted(found, key=lambda one: one[0])]


def split(out: Path, halves: Sequence[str] = ("development", "test")) -> None:
    """development.jsonl and test.jsonl, by a hash of the document's name; or one of them."""
    rows = [json.loads(line) for name in ("html", "pdf", "receipts") for line in (out / f"{name}.jsonl").open()]
    for half, part in enumerate(halves):
        mine = [row for row in rows if _hash("half " + row["document"]) % len(halves) == half]
        mine.sort(key=lambda row: _hash(row["image"]))  # all questions of an image, then of the next
        sets = ([row for row in mine if row["set"] == name][:_OF_A_HALF] for name in ("html", "pdf", "receipts"))
        mine = [row for rows_of_set in sets for row in rows_of_set]
        (out / f"{part}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in mine))
        print(part, {kind: sum(row["set"] == kind for row in mine) for kind in ("html", "pdf", "receipts")})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest="kind", required=True)
    for kind in ("html", "pdf", "receipts"):
        made = kinds.add_parser(kind)
        made.add_argument("folder", type=Path)
        made.add_argument("out", type=Path)
    made.add_argument("skip", type=int, nargs="?", default=0)
    halves = kinds.add_parser("split")
    halves.add_argument("out", type=Path)
    halves.add_argument("only", nargs="?", choices=("test",))
    chosen = parser.parse_args()
    if chosen.kind == "split":
        split(chosen.out, *([[chosen.only]] if chosen.only else []))
    else:
        chosen.out.mkdir(parents=True, exist_ok=True)
        make: Any = {"html": html_rows, "pdf": pdf_rows, "receipts": receipt_rows}[chosen.kind]
        skipped = (chosen.skip,) if chosen.kind == "receipts" else ()
        with (chosen.out / f"{chosen.kind}.jsonl").open("w") as file:
            for row in make(chosen.folder, chosen.out, *skipped):
                file.write(json.dumps(row) + "\n")
                file.flush()
