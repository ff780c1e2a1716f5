"""Thirty schemas of documents, as programs ask for them."""

from __future__ import annotations

from typing import Any, Final

Schema = dict[str, Any]

TEXT: Final[Schema] = {"type": "string"}
WHOLE: Final[Schema] = {"type": "integer", "minimum": 10_000, "maximum": 9_999_999}
NUMBER: Final[Schema] = {"type": "number", "minimum": 0}
BOOLEAN: Final[Schema] = {"type": "boolean"}
NULL: Final[Schema] = {"type": "null"}


def closed(optional: tuple[str, ...] = (), /, **properties: Schema) -> Schema:
    """An object that has these members and no others."""
    required = [name for name in properties if name not in optional]
    made: Schema = {"type": "object", "properties": properties, "required": required}
    return made | {"additionalProperties": False}


def rows(items: Schema, least: int, most: int) -> Schema:
    """An array of so many rows."""
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


def one_of(*words: Any) -> Schema:
    """One of these values."""
    return {"enum": [*words]}


def any_of(*schemas: Schema) -> Schema:
    """A union."""
    return {"anyOf": [*schemas]}


def ref(name: str) -> Schema:
    """A schema that stands in `$defs`."""
    return {"$ref": f"#/$defs/{name}"}


def defining(schema: Schema, **definitions: Schema) -> Schema:
    """A schema with its definitions."""
    return schema | {"$defs": definitions}


_STATE: Final = one_of("awaiting_confirmation", "in_preparation", "handed_to_carrier", "delivered")
_LEVEL: Final = one_of("informational", "recommended", "mandatory", "critical_now")
_ADDRESS: Final = closed(street=TEXT, city=TEXT, country=one_of("Norway", "Portugal", "Uruguay"))
_PERSON: Final = closed(
    name=TEXT, role=one_of("maintainer", "reviewer", "observer"), address=ref("address")
)
_CARD: Final = closed(kind={"const": "card"}, number=WHOLE, holder=TEXT)
_TRANSFER: Final = closed(kind={"const": "transfer"}, account=TEXT, amount=NUMBER)
_VOUCHER: Final = closed(kind={"const": "voucher"}, code=TEXT)
_CIRCLE: Final = closed(shape={"const": "circle"}, radius=NUMBER, label=TEXT)
_BOX: Final = closed(shape={"const": "box"}, width=NUMBER, height=NUMBER, label=TEXT)
_NODE: Final = closed(name=TEXT, weight=WHOLE, children=rows(ref("node"), 0, 3))
_LINKED: Final = closed(value=WHOLE, note=TEXT, next=any_of(ref("linked"), NULL))
_TERM: Final = any_of(
    closed(op=one_of("add", "subtract", "multiply"), left=ref("term"), right=ref("term")),
    closed(number=NUMBER, unit=one_of("kilogram", "metre", "second")),
)

SCHEMAS: Final[dict[str, Schema]] = {
    "order": closed(id=WHOLE, customer=TEXT, lines=rows(closed(name=TEXT, count=WHOLE, price=NUMBER), 3, 6), state=_STATE, total=NUMBER),
    "person": defining(closed(person=ref("person"), since=WHOLE, remarks=TEXT), person=_PERSON, address=_ADDRESS),
    "team": defining(closed(title=TEXT, members=rows(ref("person"), 3, 5), budget=NUMBER), person=_PERSON, address=_ADDRESS),
    "payment": closed(order=WHOLE, pays=any_of(_CARD, _TRANSFER, _VOUCHER), remarks=TEXT, state=_STATE),
    "payments": closed(account=TEXT, pays=rows(any_of(_CARD, _TRANSFER, _VOUCHER), 4, 7), balance=NUMBER),
    "drawing": closed(title=TEXT, shapes=rows(any_of(_CIRCLE, _BOX), 4, 8), scale=NUMBER),
    "drawing_by_reference": defining(closed(title=TEXT, shapes=rows(any_of(ref("circle"), ref("box")), 4, 8), layers=WHOLE), circle=_CIRCLE, box=_BOX),
    "tree": defining(closed(name=TEXT, root=ref("node"), depth=WHOLE), node=_NODE),
    "chain": defining(closed(title=TEXT, first=ref("linked"), length=WHOLE), linked=_LINKED),
    "formula": defining(closed(title=TEXT, formula=ref("term"), result=NUMBER), term=_TERM),
    "measurements": closed(station=TEXT, unit=one_of("kilogram", "kelvin", "hectopascal"), values=rows(NUMBER, 30, 60)),
    "table_of_200": closed(name=TEXT, rows=rows(closed(id=WHOLE, label=TEXT), 200, 200)),
    "states_of_200": closed(line=TEXT, states=rows(_STATE, 200, 200), checked=BOOLEAN),
    "numbers_of_200": closed(series=TEXT, values=rows(WHOLE, 200, 200), sum=WHOLE),
    "pairs_of_200": rows(rows(NUMBER, 2, 2), 200, 200),
    "list_of_people": defining(rows(ref("person"), 4, 6), person=_PERSON, address=_ADDRESS),
    "findings": closed(summary=TEXT, findings=rows(closed(("remedy",), level=_LEVEL, text=TEXT, remedy=TEXT, line=WHOLE), 3, 6), count=WHOLE),
    "settings": closed(name=TEXT, network=closed(host=TEXT, port=WHOLE, retry=closed(times=WHOLE, wait_s=NUMBER)), log=closed(level=_LEVEL, folder=TEXT)),
    "deep": closed(a=closed(b=closed(c=closed(d=closed(text=TEXT, value=WHOLE), other=TEXT), more=TEXT), state=_STATE), end=NUMBER),
    "optional": closed(("subtitle", "edition", "isbn"), title=TEXT, subtitle=TEXT, edition=WHOLE, isbn=TEXT, author=closed(name=TEXT, born=WHOLE), price=NUMBER),
    "nullable": closed(title=TEXT, ended={"type": ["string", "null"]}, score={"type": ["number", "null"]}, parent=any_of(closed(id=WHOLE, title=TEXT), NULL), last=WHOLE),
    "route": closed(start=TEXT, stops=rows(closed(place=TEXT, at=closed(north=NUMBER, east=NUMBER)), 4, 7), means=one_of("bicycle", "ferry", "night_train"), km=NUMBER),
    "recipe": closed(title=TEXT, ingredients=rows(closed(name=TEXT, amount=any_of(NUMBER, one_of("a pinch", "to taste", "a handful"))), 4, 7), steps=rows(TEXT, 3, 5), minutes=WHOLE),
    "exam": closed(subject=TEXT, questions=rows(closed(question=TEXT, answers=rows(TEXT, 3, 4), right=one_of("first", "second", "third")), 2, 4), points=WHOLE),
    "inventory": defining(closed(site=TEXT, shelves=rows(closed(code=TEXT, items=rows(ref("item"), 2, 3)), 2, 4), value=NUMBER), item=closed(sku=WHOLE, state=_STATE)),
    "event": defining(closed(name=TEXT, place=ref("address"), host=any_of(ref("address"), TEXT), guests=WHOLE, fee=NUMBER), address=_ADDRESS),
    "classified": closed(text=TEXT, label=one_of("complaint_about_delivery", "question_about_invoice", "request_for_cancellation"), confidence=NUMBER, reasons=rows(TEXT, 2, 4)),
    "extraction": closed(people=rows(TEXT, 2, 5), dates=rows({"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}, 2, 5), amounts=rows(closed(value=NUMBER, currency=one_of("EUR", "NOK", "UYU")), 2, 5)),
    "plan": closed(goal=TEXT, steps=rows(closed(step=TEXT, needs=rows(WHOLE, 0, 3), risk=_LEVEL, effort=any_of(closed(hours=NUMBER), closed(days=WHOLE, people=WHOLE))), 3, 5), hours=NUMBER),
    "graph": defining(closed(name=TEXT, nodes=rows(ref("vertex"), 4, 6), edges=rows(closed(begin=WHOLE, end=WHOLE, kind=one_of("depends_on", "replaces", "mentions")), 3, 6)), vertex=closed(id=WHOLE, note=TEXT)),
}  # fmt: skip
"""Nested, with enums, unions, references, recursion, arrays of 200 rows, and numbers at an end."""
