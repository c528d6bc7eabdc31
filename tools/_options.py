"""A command-line parser as LLVM's tools have it: ``-x``, ``--x``, ``--x=v``, ``--x v``, and passes as flags, in order.

``argparse`` would cost a quarter of the start-up budget of ``kc-opt``, and cannot keep passes in order.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from kc.errors import KcError
from kc.record import Record


class UsageError(KcError):
    """The command line is wrong."""


class Option(Record):
    """One option; ``kind`` is ``flag`` (true/false), ``text``, ``int``, ``names`` (comma-separated) or ``many``."""

    kind: str
    help: str
    default: object = None
    choices: tuple[str, ...] = ()
    #: what a bare ``--x`` means where the value may be left out
    bare: str | None = None


class Parsed:
    """The result: the options of the table, positional arguments, and what else came, in order."""

    def __init__(self, table: dict[str, Option]):
        self.options: dict[str, object] = {name: _empty(option) for name, option in table.items()}
        self.given: set[str] = set()
        self.positional: list[str] = []
        #: flags that are no option of the table: (name, value or None)
        self.others: list[tuple[str, str | None]] = []

    def flag(self, name: str) -> bool:
        """The value of a flag."""
        return bool(self.options[name])

    def text(self, name: str) -> str | None:
        """The value of a text option; None when it was not given and has no default."""
        value = self.options[name]
        return None if value is None else str(value)

    def number(self, name: str) -> int | None:
        """The value of an integer option."""
        value = self.options[name]
        return value if isinstance(value, int) else None

    def names(self, name: str) -> list[str]:
        """The values of a ``names`` or ``many`` option."""
        value = self.options[name]
        return list(value) if isinstance(value, list) else []


def _empty(option: Option) -> object:
    if option.kind == "flag":
        return bool(option.default)
    return [] if option.kind in ("names", "many") else option.default


def parse(table: dict[str, Option], arguments: Sequence[str]) -> Parsed:
    """Parse ``arguments``; raises UsageError."""
    parsed, at = Parsed(table), 0
    while at < len(arguments):
        argument = arguments[at]
        at += 1
        if argument == "--":
            parsed.positional.extend(arguments[at:])
            break
        if argument == "-" or not argument.startswith("-"):
            parsed.positional.append(argument)
            continue
        name, equals, value = argument.lstrip("-").partition("=")
        if name not in table and argument.startswith("-o") and not argument.startswith("--") and len(argument) > 2:
            name, equals, value = "o", "=", argument[2:].lstrip("=")  # -oFILE
        option = table.get(name)
        if option is None:
            parsed.others.append((name, value if equals else None))
            continue
        if not equals and option.kind != "flag":
            if option.bare is not None:
                value = option.bare
            elif at < len(arguments):
                value = arguments[at]
                at += 1
            else:
                raise UsageError(f"option '--{name}' needs a value")
        _store(parsed, name, option, value if equals or option.kind != "flag" else "true")
    return parsed


def _store(parsed: Parsed, name: str, option: Option, value: str) -> None:
    def refuse(wants: str) -> NoReturn:
        raise UsageError(f"option '--{name}' wants {wants}, got '{value}'")

    parsed.given.add(name)
    if option.choices and value not in option.choices:
        refuse("one of " + ", ".join(option.choices))
    if option.kind == "flag":
        if value.lower() not in ("true", "1", "false", "0", ""):
            refuse("true or false")
        parsed.options[name] = value.lower() not in ("false", "0")
    elif option.kind == "int":
        try:
            parsed.options[name] = int(value, 0)
        except ValueError:
            refuse("an integer")
    elif option.kind == "names":
        parsed.names(name)
        parsed.options[name] = [*parsed.names(name), *(part for part in value.split(",") if part)]
    elif option.kind == "many":
        parsed.options[name] = [*parsed.names(name), value]
    else:
        parsed.options[name] = value


def help_text(usage: str, table: dict[str, Option]) -> str:
    """The text of ``--help``."""
    shown = [usage, "", "Options:"]
    for name, option in table.items():
        dashes = "-" if len(name) == 1 else "--"
        value = {"flag": "", "int": "=N", "text": "=TEXT", "names": "=NAME,…", "many": "=TEXT"}[option.kind]
        if option.choices:
            value = "=" + "|".join(option.choices)
        shown.append(f"  {dashes}{name}{value}")
        shown.append(f"        {option.help}")
    return "\n".join(shown) + "\n"
