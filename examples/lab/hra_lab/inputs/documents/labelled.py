# ruff: noqa: E501 -- lists of words
"""Forms of columns and letters as lines of text: values below, beside or above labels of which the meaning is known.

Like the pages of `ambiguous`, which lack what forms have: the next label in a row where a value might stand, values in
a row whose labels stand above, and questions in other words than the label's to things that receipts do not name.
"""

from __future__ import annotations

from collections.abc import Callable

from hra_lab.inputs.documents import ambiguous as made
from hra_lab.inputs.documents.ambiguous import AmbiguousPage, Random

_FIRST, _LAST = ("Amir", "Beth", "Clara", "Dieter", "Ella", "Farah", "Gustav", "Helen", "Ines", "Jorge", "Klara", "Li"), ("Adams", "Becker", "Costa", "Dubois", "Evans", "Fischer", "Garcia", "Haddad", "Ito", "Jansen", "Keller", "Lopez")  # fmt: skip
_TOWNS = ("Berlin", "Lyon", "Malacca", "Porto", "Ghent", "York", "Graz", "Toledo", "Ipoh", "Basel", "Cork", "Turin")

# Labels and questions of what receipts seldom name.
_LABELS = {
    "customer": "Customer|Client|Bill to|Sold to|Ordered by|Kunde|Client name|Cliente|Buyer|Attention|Contact person",
    "address": "Address|Street|Anschrift|Adresse|Dirección|Alamat|Home address|Street address|Residence",
    "city": "City|Town|Place|Ort|Ville|Ciudad|Destination|Place of delivery|Place of issue|Ship to",
    "account": "IBAN|Account|Account no.|Bank account|Konto|Kontonummer|Compte|Our account",
    "weight": "Weight|Gross weight|Net weight|Gewicht|Poids|Peso|Mass",
    "method": "Payment method|Paid by|Payment|Zahlungsart|Settled by|Mode of payment",
    "seat": "Table|Seat|Tisch|Table no.|Mesa",
    "email": "E-mail|Email|Mail|Correo|Courriel",
}
_ASKS = {
    "customer": "who is the customer?|who is the client?|who paid for this?|who receives the bill?|to whom was it sold?|which person bought it?|wer ist der Kunde?",
    "address": "what is the address?|in which street is it?|what is the street?|where does the person live?|where is the customer at home?|wo wohnt der Kunde?",
    "city": "what is the city?|which town is it?|what is the destination?|in which city is it?|which place is named?",
    "account": "what is the IBAN?|what is the account number?|which account must one pay to?|where does the payment go?|which bank account is it?",
    "weight": "what is the weight?|how much does it weigh?|how many kilos is it?",
    "method": "how was it paid?|what is the payment method?|by which means did they pay?|card or cash?",
    "seat": "which table is it?|what is the seat?|at which table did they eat?",
    "email": "what is the email?|where can one write to?|to which address does one send mail?",
}
# What receipts name as well, and forms do.
_SHARED = ("total", "subtotal", "tax", "discount", "date", "due", "number", "phone", "cashier", "time", "quantity", "birth")  # fmt: skip
_LEADS = ("please note the", "we confirm the", "here is the", "for your files, the", "as agreed, the", "this is the", "your", "please find the")  # fmt: skip
_NOT_BOTH = ("total", "subtotal", "tax")  # where one is asked for that is missing, others are too near to it


def _person(random: Random) -> str:
    return f"{made.pick(random, _FIRST)} {made.pick(random, _LAST)}"


def _digits(random: Random, count: int) -> str:
    return "".join(map(str, random.integers(0, 10, count)))


_VALUES: dict[str, Callable[[Random], str]] = {
    **dict.fromkeys(("total", "subtotal", "tax", "discount"), lambda random: made.any_money(random, random.gamma(1.5, 90))),
    **dict.fromkeys(("date", "due", "birth"), made.any_date),
    **dict.fromkeys(("customer", "cashier"), _person),
    "number": lambda random: made.pick(random, ["", "", "R-", "INV"]) + _digits(random, int(random.integers(5, 9))),
    "phone": lambda random: f"0{_digits(random, 3)}{made.pick(random, [' ', '-', '/'])}{_digits(random, 6)}",
    "time": lambda random: f"{random.integers(0, 24):02}:{random.integers(0, 60):02}",
    "quantity": lambda random: f"{random.integers(1, 60)}",
    "address": lambda random: made.pick(random, [f"{random.integers(1, 120)} {made.pick(random, made.STREETS)}", f"{made.pick(random, made.STREETS)} {random.integers(1, 120)}"]),
    "city": lambda random: made.pick(random, _TOWNS),
    "account": lambda random: made.pick(random, ["DE", "FR", "GB", ""]) + _digits(random, int(random.integers(10, 19))),
    "weight": lambda random: f"{random.uniform(0.2, 90):.1f} {made.pick(random, ['kg', 'kg', 'g', 't'])}",
    "method": lambda random: made.pick(random, ["Cash", "VISA", "Credit card", "Debit", "PayPal", "Transfer"]),
    "seat": lambda random: f"{random.integers(1, 99)}",
    "email": lambda random: f"{made.pick(random, _FIRST).lower()}@{made.pick(random, _TOWNS).lower()}.org",
}  # fmt: skip


def labelled_page(random: Random) -> AmbiguousPage:
    """One form, or one letter."""
    sheet = made.LineSheet(random)
    sheet.width = float(random.uniform(30, 60))
    kinds = [str(kind) for kind in random.permutation([*_LABELS, *_SHARED])[: int(random.integers(4, 12))]]
    (_form if random.random() < 0.7 else _letter)(sheet, kinds)
    if random.random() < 0.1:
        near = set(_NOT_BOTH) if set(kinds) & set(_NOT_BOTH) else set()
        missing = [kind for kind in (*_LABELS, *_SHARED) if kind not in {*kinds, *near}]
        sheet.page.asked = [(_ask(random, made.pick(random, missing), ""), "", ())]
    made.leave_out(random, sheet.page)
    return sheet.page


def _ask(random: Random, kind: str, label: str) -> str:
    if label and random.random() < 0.4:
        return made.any_question(random, label.rstrip(":."))
    return made.pick(random, (_ASKS.get(kind) or made.ASKS[kind]).split("|"))


def _label(random: Random, kind: str) -> str:
    return made.pick(random, _LABELS[kind].split("|") if kind in _LABELS else made.LABELS[kind])


def _form(sheet: made.LineSheet, kinds: list[str]) -> None:
    """Fields in one to three columns, between lines of text."""
    random, high = sheet.random, sheet.height
    style = made.pick(random, ["below", "below", "beside", "beside", "inline", "above"])
    columns = int(random.choice([1, 2, 2, 2, 3]))
    across = random.uniform(0.9, 1.1) * sheet.right() / columns
    sheet.write(made.any_phrase(random).upper(), high, big=random.uniform(1, 2))
    sheet.down(2)
    made.any_prose(sheet, 3)
    small, step = random.uniform(0.75, 1.0), random.uniform(1.5, 2.6)
    colon = ":" if random.random() < (0.2 if style in ("below", "above") else 0.7) else ""
    apart = random.uniform(1, 8) if random.random() < 0.5 else 0.0  # between a label and its value; 0 is just behind it
    whole = style == "inline" and columns > 1 and random.random() < 0.2  # a row read as one line
    upper = random.random() < 0.3
    row = ""
    for place, kind in enumerate(kinds):
        label, value = _label(random, kind), _VALUES[kind](random)
        shown = (label.upper() if upper else label).rstrip(":") + colon
        at = high + place % columns * across
        if style == "inline" and whole:
            row += f"{shown} {value} "
            number = len(sheet.page.lines)
            if place % columns == columns - 1 or place == len(kinds) - 1:
                number, row = sheet.write(row.strip(), high), ""
        elif style == "inline":
            number = sheet.write(f"{shown} {value}", at)
        elif style == "beside":
            sheet.write(shown, at)
            number = sheet.write(value, at + (0.5 * high * len(shown) + high if not apart else (6 + apart) * high))
        else:
            under = sheet.y + 1.15 * high
            first, second = (sheet.y, under) if style == "below" else (under, sheet.y)
            sheet.write(shown, at, big=small, y=first)
            number = sheet.write(value, at, y=second)
        sheet.page.asked.append((_ask(random, kind, label), value, (number,)))
        if place % columns == columns - 1 or place == len(kinds) - 1:
            sheet.down(step if style in ("below", "above") else 1)
            if style in ("below", "above"):
                sheet.y += 0.8 * high
    sheet.down()
    made.any_prose(sheet, 8)


def _letter(sheet: made.LineSheet, kinds: list[str]) -> None:
    """Running text, some lines of which state a value."""
    random = sheet.random
    made.any_prose(sheet, 3)
    for kind in kinds:
        label, value = _label(random, kind), _VALUES[kind](random)
        lead, mark = made.pick(random, _LEADS), made.pick(random, [":", ":", " is", ""])
        number = sheet.write(f"{lead.capitalize()} {label.lower().rstrip('.:')}{mark} {value}", sheet.height)
        sheet.page.asked.append((_ask(random, kind, label), value, (number,)))
        sheet.down()
        made.any_prose(sheet, 3)
