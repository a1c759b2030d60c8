"""What the pages are asked: fields with their labels, values, and questions in the label's words and in others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

Random = np.random.Generator

_FIRST = ("Anna", "Boris", "Carla", "David", "Elena", "Farid", "Greta", "Hugo", "Irene", "Jonas", "Kim", "Lena")
_LAST = ("Miller", "Novak", "Okafor", "Petrov", "Quinn", "Rossi", "Silva", "Tanaka", "Unger", "Vargas", "Weber")
_TOWNS = ("Oxford", "Leeds", "Bristol", "Dover", "Exeter", "Lincoln", "Norwich", "Preston", "Salford", "Truro")
_STREETS = ("Mill Lane", "High Street", "Station Road", "Park Avenue", "Church Walk", "Queen Street")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True)
class FieldKind:
    """One thing that a page may state.

    Attributes
    ----------
    labels : how it may be printed.
    value : a random value of it.
    rehearsed : a paraphrase to develop a method with.
    paraphrases : questions that share no word with these labels, for the evaluation.
    """

    labels: tuple[str, ...]
    value: Callable[[Random], str]
    rehearsed: str
    paraphrases: tuple[str, str]

    def question(self, label: str) -> str:
        """The question in the label's own words."""
        return f"what is the {label.lower().rstrip('.:')}?"


def amount(random: Random, least: float = 20, most: float = 400) -> str:
    """A price with two decimals."""
    return f"{random.uniform(least, most):.2f}"


def person(random: Random) -> str:
    """First and last name."""
    return f"{random.choice(_FIRST)} {random.choice(_LAST)}"


def date(random: Random) -> str:
    """A date in one of three notations."""
    day, month, year = random.integers(1, 29), random.integers(1, 13), random.integers(2019, 2027)
    forms = (f"{day:02}.{month:02}.{year}", f"{year}-{month:02}-{day:02}", f"{day} {_MONTHS[month - 1]} {year}")
    return str(random.choice(forms))


def _number(digits: int, prefix: str = "") -> Callable[[Random], str]:
    return lambda random: prefix + "".join(map(str, random.integers(1, 10, digits)))


def _phone(random: Random) -> str:
    return f"0{random.integers(100, 999)} {random.integers(100000, 999999)}"


def _address(random: Random) -> str:
    return f"{random.integers(1, 99)} {random.choice(_STREETS)}"


def _one_of(*values: str) -> Callable[[Random], str]:
    return lambda random: str(random.choice(values))


def _clock(random: Random) -> str:
    return f"{random.integers(7, 23):02}:{random.integers(0, 60):02}"


FIELDS: Mapping[str, FieldKind] = MappingProxyType(
    {
        "total": FieldKind(
            *(("TOTAL", "Grand total", "Total due", "Total amount"), amount, "how much did they pay?"),
            ("how much money did this cost altogether?", "what did the customer spend?"),
        ),
        "subtotal": FieldKind(
            *(("Subtotal", "Sub total", "Net sum"), amount, "how much was it before tax?"),
            ("what did the goods cost before tax was added?", "how much would it be without tax?"),
        ),
        "tax": FieldKind(
            *(("VAT 20%", "Sales tax", "Tax"), lambda random: amount(random, 2, 40), "how much goes to the state?"),
            ("how much money does the government receive?", "what was charged for the state?"),
        ),
        "change": FieldKind(
            *(("Change", "Cash back"), lambda random: amount(random, 1, 20), "how much money was handed back?"),
            ("how much did the buyer get returned?", "how many coins were given in return?"),
        ),
        "discount": FieldKind(
            *(("Discount", "You saved"), lambda random: amount(random, 1, 20), "how much was the price reduced?"),
            ("by how much was it made cheaper?", "how large was the price reduction?"),
        ),
        "date": FieldKind(
            *(("Date", "Issued on", "Invoice date"), date, "when was this written?"),
            ("on which day did this happen?", "when was this printed?"),
        ),
        "time": FieldKind(
            *(("Time", "Printed at"), _clock, "at what hour was this?"),
            ("what hour did the clock show?", "how late was it?"),
        ),
        "number": FieldKind(
            *(("Invoice no.", "Receipt no.", "Document no."), _number(7), "which number identifies this?"),
            ("what identifies this bill?", "which reference does the bill carry?"),
        ),
        "cashier": FieldKind(
            *(("Cashier", "Served by", "Clerk"), person, "which employee was at the till?"),
            ("who worked at the checkout?", "which employee helped them?"),
        ),
        "customer": FieldKind(
            *(("Customer", "Bill to", "Client"), person, "who bought this?"),
            ("who is the buyer?", "who ordered the goods?"),
        ),
        "phone": FieldKind(
            *(("Phone", "Tel.", "Telephone"), _phone, "which number can be dialled?"),
            ("how can one call them?", "which number should I ring?"),
        ),
        "payment": FieldKind(
            *(
                ("Paid by", "Payment method"),
                _one_of("VISA", "Mastercard", "Cash", "Debit card"),
                "was it cash or card?",
            ),
            ("did they use cash or a credit card?", "with which card did they settle it?"),
        ),
        "table": FieldKind(
            *(("Table", "Seat"), _number(2), "where did the guests sit?"),
            ("at which place were the guests sitting?", "where in the restaurant were they?"),
        ),
        "due": FieldKind(
            *(("Due date", "Payable until"), date, "what is the deadline?"),
            ("by when must the money arrive?", "what is the deadline for the transfer?"),
        ),
        "account": FieldKind(
            *(("IBAN", "Bank account"), _number(14, "GB"), "where should money be wired?"),
            ("to where should the money be transferred?", "where do I wire the money?"),
        ),
        "town": FieldKind(
            *(("City", "Place of delivery"), _one_of(*_TOWNS), "in which town is it?"),
            ("to which town do the goods go?", "where will it be shipped?"),
        ),
        "address": FieldKind(
            *(("Address", "Street"), _address, "where do they live?"),
            ("where is their house?", "in which house do they live?"),
        ),
        "weight": FieldKind(
            *(("Weight", "Gross weight"), lambda random: f"{random.uniform(1, 90):.1f} kg", "how heavy is it?"),
            ("how heavy is the parcel?", "how many kilograms are there?"),
        ),
    }
)
"""Kind of field to what is known of it."""
