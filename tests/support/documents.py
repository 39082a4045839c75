"""Whether a JSON document keeps the shape that is promised for it."""

from typing import Any, get_args, get_origin, get_type_hints

from typing_extensions import is_typeddict


def deviations(value: object, shape: Any, where: str = "document") -> list[str]:
    """Everything in which a document differs from its shape; empty if it keeps it."""
    if is_typeddict(shape):
        return _object(value, shape, where)
    if get_origin(shape) is list:
        if not isinstance(value, list):
            return [f"{where} is no list"]
        (inner,) = get_args(shape)
        return [
            each
            for number, item in enumerate(value)
            for each in deviations(item, inner, f"{where}[{number}]")
        ]
    if get_origin(shape) is dict:
        if not isinstance(value, dict):
            return [f"{where} is no object"]
        inner = get_args(shape)[1]
        return [each for name, item in value.items() for each in deviations(item, inner, f"{where}.{name}")]
    if get_args(shape):
        found = [deviations(value, each, where) for each in get_args(shape)]
        return min(found, key=len)
    if shape is type(None) or shape is None:
        return [] if value is None else [f"{where} is not null"]
    fits = type(value) is shape or shape is object
    return [] if fits else [f"{where} is {value!r}, no {shape.__name__}"]


def _object(value: object, shape: Any, where: str) -> list[str]:
    hints = get_type_hints(shape)
    if not isinstance(value, dict):
        return [f"{where} is no object"]
    found = [f"{where}.{name} is missing" for name in shape.__required_keys__ if name not in value]
    found += [f"{where}.{name} is not promised" for name in value if name not in hints]
    for name in hints:
        if name in value:
            found += deviations(value[name], hints[name], f"{where}.{name}")
    return found
