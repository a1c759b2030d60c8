# ruff: noqa: E501 -- lists of words and of choices
"""Pages as lines of text with their boxes, as a reader of text returns them, with what makes questions hard.

Several totals, change and cash, dates of two things, values beside, below and above their labels, tables with headings
on two sides, empty fields, tables of contents, and running text with the words of the question; in five languages, with
letters misread, lines joined, and lines missed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from hra.domains.tokens.text.lines import TextLine

Random = np.random.Generator

_WORDS = [
    "size",
    "speed",
    "width",
    "height",
    "length",
    "colour",
    "model",
    "version",
    "status",
    "owner",
    "country",
    "city",
    "engine",
    "power",
    "capacity",
    "voltage",
    "current",
    "memory",
    "disk",
    "kernel",
    "package",
    "module",
    "driver",
    "license",
    "author",
    "title",
    "language",
    "format",
    "encoding",
    "default",
    "range",
    "minimum",
    "maximum",
    "average",
    "median",
    "result",
    "score",
    "level",
    "rank",
    "grade",
    "class",
    "type",
    "category",
    "group",
    "member",
    "visitor",
    "ticket",
    "seat",
    "room",
    "floor",
    "door",
    "window",
    "table",
    "chair",
    "paper",
    "pressure",
    "temperature",
    "humidity",
    "density",
    "volume",
    "area",
    "distance",
    "duration",
    "frequency",
    "rate",
    "ratio",
    "interest",
    "salary",
    "bonus",
    "budget",
    "profit",
    "revenue",
    "loss",
    "share",
    "stock",
    "option",
    "parameter",
    "function",
    "argument",
    "return",
    "value",
    "key",
    "index",
    "column",
    "row",
    "field",
    "record",
    "file",
    "folder",
    "path",
    "host",
    "port",
    "user",
    "password",
    "session",
    "timeout",
    "limit",
    "buffer",
    "cache",
    "queue",
    "thread",
    "process",
    "signal",
    "error",
    "warning",
    "message",
    "log",
    "event",
    "action",
    "method",
    "query",
    "operator",
    "priority",
    "scope",
    "context",
    "syntax",
    "compatibility",
    "override",
    "source",
    "target",
    "input",
    "output",
    "channel",
    "filter",
    "layer",
    "mode",
    "style",
    "weight",
    "shape",
    "material",
    "origin",
    "supplier",
    "warehouse",
    "delivery",
    "shipment",
    "vehicle",
    "route",
    "station",
    "platform",
    "departure",
    "arrival",
    "gate",
    "flight",
    "hotel",
    "breakfast",
    "doctor",
    "patient",
    "blood",
    "dose",
    "age",
    "gender",
    "height",
    "school",
    "teacher",
    "course",
    "exam",
    "semester",
    "region",
    "population",
    "capital",
    "river",
    "mountain",
    "climate",
    "rainfall",
    "crop",
    "yield",
    "price",
    "rent",
    "tenant",
    "contract",
    "clause",
    "signature",
    "department",
    "manager",
    "team",
    "project",
    "größe",
    "länge",
    "breite",
    "höhe",
    "farbe",
    "zustand",
    "sprache",
    "taille",
    "largeur",
    "hauteur",
    "couleur",
    "état",
    "langue",
    "tamaño",
    "ancho",
    "alto",
    "color",
    "estado",
    "idioma",
    "saiz",
    "lebar",
    "tinggi",
    "warna",
    "bahasa",
    "negeri",
]
_ITEMS = [
    "milk",
    "bread",
    "coffee",
    "latte",
    "tea",
    "sugar",
    "rice",
    "chicken",
    "soup",
    "salad",
    "pizza",
    "cola",
    "water",
    "juice",
    "apple",
    "banana",
    "soap",
    "shampoo",
    "paper",
    "pen",
    "notebook",
    "battery",
    "cable",
    "lamp",
    "screw",
    "nail",
    "paint",
    "brush",
    "glue",
    "tape",
    "shirt",
    "socks",
    "towel",
    "nasi",
    "goreng",
    "teh",
    "ais",
    "roti",
    "käse",
    "wurst",
    "brot",
    "kaffee",
    "fromage",
    "jambon",
    "pain",
    "café",
    "queso",
    "leche",
]
_NAMES = [
    "Anna",
    "Ben",
    "Carla",
    "David",
    "Eva",
    "Frank",
    "Grace",
    "Hans",
    "Iris",
    "Jamal",
    "Kim",
    "Lim",
    "Maria",
    "Noor",
    "Omar",
    "Paul",
    "Siti",
    "Tan",
    "Wong",
    "Yusof",
]
STREETS = [
    "Jalan Besar",
    "Main Street",
    "Hauptstrasse",
    "Rue de Lyon",
    "Calle Mayor",
    "High Road",
    "Taman Indah",
    "Station Road",
]
# Labels, and what is asked where they are meant.
_TOTALS = [
    "total",
    "TOTAL",
    "Total Amount",
    "GRAND TOTAL",
    "Total Due",
    "Amount Due",
    "Total (RM)",
    "TOTAL INCL. GST",
    "Total Sales (Inclusive of GST)",
    "Gesamtbetrag",
    "Summe",
    "Total TTC",
    "Montant total",
    "Importe total",
    "Jumlah",
    "Jumlah Besar",
    "Nett Total",
    "Balance Due",
    "Round Total",
    "Rounded Total (RM)",
    "TOTAL AMOUNT (INCLUSIVE)",
]
LABELS = {
    "total": _TOTALS,
    "subtotal": [
        "Subtotal",
        "SUB TOTAL",
        "Sub-Total",
        "Zwischensumme",
        "Sous-total",
        "Total excl. GST",
        "Total before tax",
        "Net amount",
        "Total Excluding GST",
    ],
    "tax": [
        "GST 6%",
        "Tax",
        "VAT 20%",
        "MwSt 19%",
        "TVA",
        "IVA 21%",
        "SST",
        "Total GST",
        "Service tax",
        "Total includes 6% GST",
    ],
    "change": ["Change", "CHANGE", "Rückgeld", "Monnaie rendue", "Cambio", "Baki", "Change due"],
    "cash": ["Cash", "CASH", "Tendered", "Bar", "Espèces", "Efectivo", "Tunai", "VISA", "Cash received", "Amount paid"],
    "discount": [
        "Discount",
        "Total savings",
        "Your Total Savings",
        "Rabatt",
        "Remise",
        "Descuento",
        "Diskaun",
        "Total Discount",
    ],
    "rounding": ["Rounding", "Rounding Adj", "Rundung", "Arrondi", "Redondeo", "Pelarasan", "Rounding Adjustment"],
    "date": ["Date", "DATE", "Datum", "Fecha", "Tarikh", "Bill date", "Invoice Date", "Date of sale", "Date/Time"],
    "time": ["Time", "Uhrzeit", "Heure", "Hora", "Masa", "Printed at"],
    "cashier": ["Cashier", "Served by", "Kassierer", "Caissier", "Cajero", "Juruwang", "Operator"],
    "number": ["Receipt No", "Invoice No.", "Bill #", "Rechnung Nr.", "Facture No", "Factura", "No. Resit", "Doc No"],
    "phone": ["Tel", "Phone", "Telefon", "Téléphone", "Tel. No", "TEL/FAX"],
    "due": ["Due date", "Payable until", "Fällig am", "Échéance", "Vencimiento", "Valid until", "Exchange until"],
    "birth": ["Date of birth", "Geburtsdatum", "Born"],
    "quantity": ["Total Qty", "Total quantity", "Items", "Anzahl", "Item count", "Total items", "Kuantiti"],
}
ASKS = {
    "total": "what is the total amount?|what is the total?|how much was paid altogether?|what does it cost in all?|how much did the customer pay altogether?|how much money was spent?|what is the final price?|total?|what did the buyer pay?|wie hoch ist der Gesamtbetrag?|quel est le montant total?|berapa jumlah?",
    "subtotal": "what is the subtotal?|what is the total before tax?|how much are the goods without tax?",
    "tax": "how much is the tax?|what is the GST?|what does the state receive?|how much VAT is included?",
    "change": "how much change was given?|what is the change?|what was handed back?",
    "cash": "how much cash was paid?|what was tendered?|how much cash was received?",
    "discount": "how much was saved?|what is the discount?|how much cheaper was it?",
    "rounding": "what is the rounding?|by how much was it rounded?",
    "date": "what is the date?|when was this?|when was it bought?|on which day was this bought?|which day was the purchase?|what date is on it?|wann war das?|quelle est la date?|tarikh?",
    "time": "what time was it?|at what time was it printed?|how late was it?|what is the time?",
    "cashier": "who served the customer?|who was the cashier?|what is the name of the cashier?",
    "number": "what is the receipt number?|what is the invoice number?|which number has this bill?",
    "phone": "what is the phone number?|which number can one call?|what is the telephone number?",
    "due": "what is the due date?|until when must it be paid?|what is the deadline?",
    "birth": "what is the date of birth?|when was the person born?",
    "quantity": "how many items were bought?|what is the total quantity?",
}
_SENTENCES = (
    "the total amount of the date is not what it seems", "goods sold are not returnable", "thank you please come again",
    "all prices include tax and service", "please keep this receipt for exchange within days", "value of the table above",
    "the size of the memory depends on the version of the kernel", "see the list of options below for the default",
    "the price and the date are subject to change", "vielen dank für ihren einkauf", "merci de votre visite",
    "gracias por su compra", "terima kasih sila datang lagi", "this page describes the status of each module",
    "the result of the function is returned as a value", "the owner of the file can change the mode",
)  # fmt: skip
_MISREAD = (0.005, 0.012, 0.012, 0.03, 0.06)  # of the letters of a page
_JOINED = (0.06, 0.06, 0.3)  # of the lines of a page, read without their spaces
_LIKE = {
    "0": "O68",
    "1": "l7I",
    "5": "S6",
    "6": "80",
    "8": "B3",
    "3": "8",
    "2": "7Z",
    "/": "1I",
    ".": ",",
    ",": ".",
    "-": ".",
}


@dataclass
class AmbiguousPage:
    """Lines of a page, and questions with the numbers of the lines where the answers stand.

    Attributes
    ----------
    lines : of the page.
    asked : question, answer, numbers of the lines that hold it; none where the page has no answer.
    """

    lines: list[TextLine] = field(default_factory=list)
    asked: list[tuple[str, str, tuple[int, ...]]] = field(default_factory=list)


class LineSheet:
    """Where lines are written; what was written is read with mistakes."""

    def __init__(self, random: Random) -> None:
        self.random, self.page = random, AmbiguousPage()
        self.height, self.width = float(random.uniform(10, 26)), float(random.uniform(14, 60))
        self.y, self.pitch = 20.0, float(random.uniform(1.15, 2.2))
        self.misread, self.joined = float(random.choice(_MISREAD)), float(random.choice(_JOINED))
        self.slope = float(random.normal(0, 0.01)) if random.random() < 0.3 else 0.0

    def right(self) -> float:
        """Where lines end."""
        return self.width * self.height

    def write(self, text: str, x: float, big: float = 1.0, end: bool = False, y: float | None = None) -> int:
        """Write a line from ``x`` or up to it; its number."""
        random, tall = self.random, self.height * big
        wide = 0.5 * tall * max(len(text), 1)
        left = x - wide if end else x
        top = (self.y if y is None else y) + random.normal(0, 0.05 * tall) + self.slope * left
        loose = tall * random.uniform(0, 0.15)
        box = (left - loose, top - loose, left + wide + loose, top + tall + loose)
        quad = np.array([box[:2], (box[2], box[1]), box[2:], (box[0], box[3])])
        self.page.lines.append(TextLine(quad, self._read(text)))
        return len(self.page.lines) - 1

    def down(self, steps: float = 1.0) -> None:
        """Go on so many lines below."""
        self.y += steps * self.pitch * self.height

    def _read(self, text: str) -> str:
        wrong = self.random.random(len(text)) < self.misread
        letters = [self._mistake(letter) if bad else letter for letter, bad in zip(text, wrong, strict=True)]
        said = "".join(letters)
        return said.replace(" ", "") if self.random.random() < self.joined else said

    def _mistake(self, letter: str) -> str:
        if self.random.random() < 0.45:
            return ""
        return str(self.random.choice(list(_LIKE.get(letter, "oil1.e"))))

    def pair(self, label: str, value: str, at: float, style: str) -> int:
        """A label and its value as the style says; the number of the line with the value."""
        colon = ":" if self.random.random() < 0.5 else ""
        if style == "inline":
            number = self.write(f"{label}{colon or ' '} {value}", at)
        elif style in ("right", "far"):
            self.write(label + colon, at)
            number = (
                self.write(value, self.right(), end=True)
                if style == "far"
                else self.write(value, at + 12 * self.height)
            )
        else:
            order = (label + colon, value) if style == "below" else (value, label)
            first = self.write(order[0], at)
            second = self.write(order[1], at, y=self.y + 1.1 * self.height)
            number = second if style == "below" else first
            self.down(1.2)
        self.down()
        return number


def ambiguous_page(random: Random) -> AmbiguousPage:
    """One page of a random kind."""
    sheet = LineSheet(random)
    kinds: tuple[tuple[Callable[[LineSheet], None], float], ...] = (
        (_receipt, 0.4),
        (_form, 0.2),
        (_table, 0.28),
        (_contents, 0.12),
    )
    make = kinds[random.choice(len(kinds), p=[share for _, share in kinds])][0]
    make(sheet)
    page = sheet.page
    if random.random() < 0.12 and page.asked:  # of something that is not there
        kind = str(random.choice(list(ASKS)))
        if make is not _receipt:
            page.asked = [(pick(random, ASKS[kind].split("|")), "", ())]
        elif page.asked:
            page.asked.append((f"what is the {any_phrase(random)}?", "", ()))
    leave_out(random, page)
    return page


def leave_out(random: Random, page: AmbiguousPage) -> None:
    """Lines that a reader missed, and long ones that its budget cut short or left unread."""
    budget, most = random.random(), int(random.integers(10, 26))
    share = float(random.uniform(0.1, 0.5))
    for number, line in enumerate(page.lines):
        text = line.text or ""
        if budget < 0.2:
            text = text[:most].ljust(len(text)) if len(text) > most else text
        unread = len(text) > most and random.random() < share if 0.2 <= budget < 0.35 else random.random() < 0.03
        page.lines[number] = TextLine(line.quad, None if unread else text)


Choice = TypeVar("Choice")


def pick(random: Random, these: Sequence[Choice]) -> Choice:
    """One of these."""
    return these[int(random.integers(len(these)))]


def any_money(random: Random, value: float) -> str:
    """An amount as it may be printed."""
    unit = pick(random, ["", "", "", "RM", "$", "RM ", "€ "])
    text = f"{value:.2f}" if random.random() < 0.8 else f"{value:.2f}".replace(".", ",")
    return unit + text


def any_date(random: Random) -> str:
    """A date as it may be printed."""
    day, month, year = random.integers(1, 29), random.integers(1, 13), random.integers(2008, 2026)
    name = pick(random, ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"])
    forms = (f"{day:02}/{month:02}/{year}", f"{day:02}-{month:02}-{year}", f"{day:02}.{month:02}.{year % 100:02}",
             f"{year}-{month:02}-{day:02}", f"{day} {name} {year}", f"{day:02}-{name}-{year}", f"{day:02}/{month:02}/{year % 100:02}")  # fmt: skip
    return pick(random, list(forms))


def any_phrase(random: Random) -> str:
    """One to three words."""
    return " ".join(_WORDS[i] for i in random.integers(len(_WORDS), size=int(random.choice([1, 1, 2, 2, 3]))))


def _case(random: Random, text: str) -> str:
    return pick(random, [text, text.title(), text.upper(), text.capitalize()])


def _receipt(sheet: LineSheet) -> None:
    random, page = sheet.random, sheet.page
    at, far = sheet.height * 1.0, "far" if random.random() < 0.75 else "inline"
    centre = sheet.right() / 3
    facts: dict[str, tuple[str, list[int]]] = {}

    def note(kind: str, value: str, number: int) -> None:
        facts.setdefault(kind, (value, []))
        if facts[kind][0] == value:
            facts[kind][1].append(number)

    sheet.write(f"{pick(random, _NAMES)} {any_phrase(random)}".upper(), centre, big=random.uniform(1, 1.8))
    sheet.down(1.4)
    sheet.write(f"No. {random.integers(1, 99)}, {pick(random, STREETS)}", centre)
    sheet.down()
    if random.random() < 0.7:
        phone = f"0{random.integers(1, 9)}-{random.integers(1000000, 99999999)}"
        note("phone", phone, sheet.pair(pick(random, LABELS["phone"]), phone, centre, "inline"))
    if random.random() < 0.4:
        sheet.pair(
            "GST ID" if random.random() < 0.5 else "Reg No", f"{random.integers(10**8, 10**11)}", centre, "inline"
        )

    def head() -> None:
        date, clock = (
            any_date(random),
            f"{random.integers(0, 24):02}:{random.integers(0, 60):02}" + (":33" if random.random() < 0.3 else ""),
        )
        style = pick(random, ["inline", "inline", "right", "alone", "both", "far"])
        if style in ("alone", "both"):
            number = sheet.write(
                f"{date} {clock}" if style == "both" else date, at if random.random() < 0.6 else centre
            )
            note("date", date, number)
            if style == "both":
                note("time", clock, number)
            sheet.down()
        else:
            stamped = f"{date} {clock}" if random.random() < 0.3 else date
            note("date", date, sheet.pair(pick(random, LABELS["date"]), stamped, at, style))
            if random.random() < 0.4:
                note("time", clock, sheet.pair(pick(random, LABELS["time"]), clock, at, style))
        if random.random() < 0.6:
            number = f"{pick(random, ['', 'A', 'INV', 'CS-'])}{random.integers(1000, 10**7)}"
            note(
                "number",
                number,
                sheet.pair(pick(random, LABELS["number"]), number, at, pick(random, ["inline", "right"])),
            )
        if random.random() < 0.5:
            name = pick(random, _NAMES)
            note(
                "cashier",
                name,
                sheet.pair(pick(random, LABELS["cashier"]), name, at, pick(random, ["inline", "right"])),
            )

    top = random.random() < 0.7
    if top:
        head()
    sheet.down(0.5)
    if random.random() < 0.5:
        for title, place in zip(
            ("Qty", "Description", "Price", pick(random, ["Amount", "Total", "Amount (RM)"])),
            (0, 0.15, 0.6, 1.0),
            strict=True,
        ):
            sheet.write(title, at + place * (sheet.right() - at), end=place == 1.0)
        sheet.down()
    count, sums = int(random.integers(1, 12)), 0.0
    for _ in range(count):
        price, several = round(float(random.gamma(1.5, 12)) + 0.5, 2), int(random.integers(1, 4))
        item = " ".join(_ITEMS[i] for i in random.integers(len(_ITEMS), size=int(random.integers(1, 4)))).upper()
        sums += price * several
        if random.random() < 0.4:
            sheet.write(item, at)
            sheet.down()
            item = f"{several} x {price:.2f}"
        sheet.write(item, at)
        sheet.write(f"{price * several:.2f}", sheet.right(), end=True)
        sheet.down()
    sheet.down(0.4)
    tax = round(sums * 0.06, 2)
    total = round(sums + tax, 2) if random.random() < 0.6 else round(sums, 2)
    rounded = round(total * 20) / 20 if random.random() < 0.5 else total
    cash = float(np.ceil(rounded / 10) * 10)

    def row(kind: str, value: float | str, big: float = 1.0) -> None:
        text = value if isinstance(value, str) else any_money(random, value)
        if far == "far":
            sheet.write(
                _case(random, pick(random, LABELS[kind])) + (":" if random.random() < 0.4 else ""),
                at if random.random() < 0.7 else centre,
                big=big,
            )
            number = sheet.write(text, sheet.right(), big=big, end=True)
            sheet.down(big)
        else:
            number = sheet.pair(pick(random, LABELS[kind]), text, at, "inline")
        note(kind, text, number)

    order = random.random
    if order() < 0.3:
        row("quantity", str(count))
    if order() < 0.55:
        row("subtotal", round(total - tax, 2))
    if order() < 0.3:
        row("discount", pick(random, [0.0, round(total / 10, 2)]) if order() < 0.5 else 0.0)
    if order() < 0.5:
        row("tax", tax)
    if order() < 0.35:
        row("rounding", round(rounded - total, 2))
    row("total", rounded, float(random.choice([1, 1, 1.3, 1.8])))
    if order() < 0.65:
        exact = order() < 0.2
        row("cash", rounded if exact else cash)
        if order() < (0.3 if exact else 0.85):
            row("change", 0.0 if exact else round(cash - rounded, 2))
    if order() < 0.2:
        row("quantity", str(count))
    if order() < 0.45:  # a summary of taxes
        sheet.down(0.5)
        places = (0.0, 0.4, 1.0)
        for title, place in zip(
            ("GST Summary", pick(random, ["Amount (RM)", "Amount", "Net"]), "Tax (RM)"), places, strict=True
        ):
            sheet.write(title, at + place * (sheet.right() - at), end=place == 1.0)
        sheet.down()
        for name in ("SR @ 6%", "ZRL 0%", pick(random, ["Total", "Total:", "TOTAL"])):
            for text, place in zip((name, f"{total - tax:.2f}", f"{tax:.2f}"), places, strict=True):
                sheet.write(text, at + place * (sheet.right() - at), end=place == 1.0)
            sheet.down()
    if not top:
        head()
    if order() < 0.25:
        due = any_date(random)
        note("due", due, sheet.pair(pick(random, LABELS["due"]), due, at, "inline"))
    if order() < 0.3:
        row("discount", 0.0)
    for _ in range(int(random.integers(0, 5))):
        if order() < 0.5:
            sheet.pair(any_phrase(random), _value(random), at, "inline")
            continue
        sheet.write(pick(random, list(_SENTENCES)), at)
        sheet.down()
    asked = {"total", *map(str, random.choice(list(facts), size=min(4, len(facts)), replace=False))}
    for kind in sorted(asked | ({"date"} & set(facts))):  # the order of a set differs from run to run
        value, numbers = facts[kind]
        page.asked.append((pick(random, ASKS[kind].split("|")), value, tuple(numbers)))


def _value(random: Random) -> str:
    return pick(random, [
        f"{random.integers(0, 5000)}", f"{random.uniform(0, 99):.1f}", f"{random.uniform(0, 99):.0f}%", any_phrase(random),
        any_phrase(random), any_date(random), f"{random.uniform(0, 999):.2f}", f"{pick(random, _NAMES)} {pick(random, _NAMES)}",
        pick(random, ["yes", "no", "on", "off", "none", "true", "n/a"]), f"{_WORDS[int(random.integers(len(_WORDS)))]}_{random.integers(99)}",
        f"{random.integers(1, 99)} {pick(random, ['kg', 'ms', 'MB', 'GB', 'm', 'days'])}",
    ])  # fmt: skip


def any_question(random: Random, name: str) -> str:
    """A question in the words of a label."""
    name = name if random.random() < 0.6 else name.lower()
    return pick(
        random,
        [
            f"what is the {name}?",
            f"what is the {name}?",
            f"{name}: what does it say?",
            f"which {name}?",
            f"{name}?",
            f"tell me the {name}",
        ],
    )


def any_prose(sheet: LineSheet, few: int, name: str = "") -> None:
    """Write sentences, so many at most, that may have the words of a label."""
    for _ in range(int(sheet.random.integers(0, few + 1))):
        said = pick(sheet.random, list(_SENTENCES))
        said = f"the {name} of it; {said}" if name and sheet.random.random() < 0.5 else said
        sheet.write(said, sheet.height)
        sheet.down()


def _form(sheet: LineSheet) -> None:
    random, style = sheet.random, pick(sheet.random, ["inline", "right", "right", "below", "above", "far"])
    names = list(dict.fromkeys(any_phrase(random) for _ in range(int(random.integers(3, 14)))))
    any_prose(sheet, 2, names[0])
    two = random.random() < 0.3 and style in ("inline", "below")
    for number, name in enumerate(names):
        at = sheet.height * (1 + (number % 2) * two * 25)
        value = _value(random)
        mark, y = _case(random, name), sheet.y
        if random.random() < 0.12:
            sheet.write(mark, at)
            sheet.down(2 if style in ("below", "above") else 1)
        else:
            line = sheet.pair(mark, value, at, style)
            sheet.page.asked.append((any_question(random, mark), value, (line,)))
        if two and number % 2 == 0:
            sheet.y = y
    any_prose(sheet, 4, names[-1])


def _table(sheet: LineSheet) -> None:
    random = sheet.random
    for _ in range(int(random.choice([1, 1, 2]))):
        any_prose(sheet, 3)
        columns, rows = int(random.integers(2, 6)), int(random.integers(2, 12))
        heads = [_case(random, any_phrase(random)) for _ in range(columns)]
        sides = [
            any_phrase(random)
            if random.random() < 0.7
            else f"{_WORDS[int(random.integers(len(_WORDS)))]} {random.integers(1, 30)}"
            for _ in range(rows)
        ]
        places = np.cumsum([10.0, *random.uniform(6, 16, size=columns - 1)]) * sheet.height
        end = random.random() < 0.35
        if random.random() < 0.2:
            sheet.write(any_phrase(random), float(places[0]))  # above several columns
            sheet.down()
        if random.random() < 0.8:
            sheet.write(any_phrase(random), sheet.height * 0.5)
        for head, place in zip(heads, places, strict=True):
            sheet.write(head, float(place), end=end)
        sheet.down(1.1)
        for side in sides:
            sheet.write(side, sheet.height * 0.5)
            for head, place in zip(heads, places, strict=True):
                value = _value(random)[:14]
                if random.random() < 0.9:
                    line = sheet.write(value, float(place), end=end)
                    if random.random() < 3 / (rows * columns):
                        asks = [
                            f"what is the {head} of {side}?",
                            f"{side}: which {head} does it have?",
                            f"{head} of {side}",
                            f"which {head} has {side}?",
                        ]
                        sheet.page.asked.append((pick(random, asks), value, (line,)))
            sheet.down()
        sheet.down(2)
    any_prose(sheet, 3)


def _contents(sheet: LineSheet) -> None:
    random, number = sheet.random, 1
    wraps, hang = random.random() < 0.35, float(random.choice([0, 0, 1, 2])) * sheet.height
    joined, apart, edge = random.random() < 0.5, random.random() < 0.3, max(sheet.right(), 40 * sheet.height)
    for part in range(int(random.integers(6, 40))):
        title = _case(random, " ".join(any_phrase(random) for _ in range(int(random.integers(1, 4)))))
        number += int(random.integers(0, 7))
        chapter = f"{part // 5 + 1}.{part % 5 + 1}"
        shown = f"{chapter} {title}" if not apart and random.random() < 0.6 else title
        if joined:
            line = sheet.write(f"{shown} {'.' * int(random.integers(2, 20))} {number}", sheet.height)
        else:
            if apart:
                sheet.write(chapter, sheet.height)
            left = (5 if apart else 1) * sheet.height
            words = shown.split()
            if wraps and len(words) > 2 and random.random() < 0.4:  # the number stands beside the second line
                cut = int(random.integers(2, len(words)))
                sheet.write(" ".join(words[:cut]), left)
                sheet.down(random.uniform(0.7, 1))
                shown, left = " ".join(words[cut:]), left + hang
            sheet.write(shown, left)
            line = sheet.write(str(number), edge, end=True)
        sheet.down()
        if random.random() < 0.2:
            asks = [f"on which page is {title}?", f"where does {title} begin?", f"what is the page of {title}?"]
            sheet.page.asked.append((pick(random, asks), str(number), (line,)))
