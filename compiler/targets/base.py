"""What a target is, and how one is named in text."""

from __future__ import annotations

import dataclasses
import difflib
import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from kc.errors import InputError

if TYPE_CHECKING:
    from kc.bindings import ir
    from kc.pipelines import Phase

#: name -> ``module:Class``; other packages add theirs by an entry point of the group ``kc.targets``
TARGETS: dict[str, str] = {
    "cpu": "kc.targets.cpu:CpuTarget",
    "nvptx": "kc.targets.nvptx:NvptxTarget",
}


@dataclasses.dataclass(frozen=True)
class Target:
    """Base of all targets: an immutable description that passes may read, with the road down to it.

    A subclass sets ``name`` and has its options as fields; ``positional`` names the field that a word without ``=``
    sets.
    """

    name: ClassVar[str] = ""
    #: other names of options
    ALIASES: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def positional(cls, word: str) -> str:
        """The field that ``word`` (in ``name:word``) is for. Raises InputError when it is for none."""
        raise InputError(f"target '{cls.name}' takes options as key=value, not '{word}'")

    @property
    def spec(self) -> str:
        """The target as text that ``get_target`` takes."""
        shown = [
            f"{field.name.replace('_', '-')}={getattr(self, field.name)}"
            for field in dataclasses.fields(self)
            if getattr(self, field.name) != field.default
        ]
        return self.name + (":" + ";".join(shown) if shown else "")

    @property
    def triple(self) -> str:
        """LLVM's name of the platform."""
        raise NotImplementedError

    def limits(self) -> Mapping[str, int]:
        """Sizes that schedules go by: ``vector_bytes``, ``l1_bytes``, ``l2_bytes``, ``shared_bytes`` …"""
        return {}

    def choices(self) -> Mapping[str, str]:
        """Parameters of the phases above the target's own, where it wants others than their defaults."""
        return {}

    def prepare(self) -> tuple[Phase, ...]:
        """What this target wants done on linalg before kernels are formed."""
        return ()

    def phases(self) -> tuple[Phase, ...]:
        """The road from kernels on linalg down to the llvm level."""
        raise NotImplementedError

    def generate(self, module: ir.Module, options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, bytes]]:
        """Code for ``module``, which stands at the llvm level: the artifact's manifest and its files.

        Raises CompileError when code generation fails.
        """
        raise NotImplementedError

    def text(self, module: ir.Module, level: str) -> str:
        """``module`` (at the llvm level) as ``asm`` or ``llvm-ir``."""
        raise NotImplementedError

    def forms(
        self, lowered: Callable[[str], ir.Module], manifest: Mapping[str, Any], files: Mapping[str, bytes]
    ) -> dict[str, Callable[[], bytes | str]]:
        """What the program can be written as: name of the form -> function that makes it.

        ``lowered`` gives the module at a level, ``manifest`` and ``files`` are what ``generate`` returned.
        """
        return {
            "llvm-ir": lambda: self.text(lowered("llvm"), "llvm-ir"),
            "asm": lambda: self.text(lowered("llvm"), "asm"),
        }


def get_target(text: str | Target) -> Target:
    """The target that ``text`` names: ``name`` or ``name:option;option``, an option being ``key=value`` or one word.

    ``cpu``, ``cpu:znver3``, ``cpu:aarch64-linux-gnu``, ``cpu:triple=aarch64-linux-gnu;cpu=neoverse-n1``,
    ``nvptx:sm_80``. Raises InputError for a name or an option that does not exist.
    """
    if isinstance(text, Target):
        return text
    name, _, rest = text.partition(":")
    cls = _find(name)
    fields = {field.name.replace("_", "-"): field for field in dataclasses.fields(cls)}
    values: dict[str, Any] = {}
    for word in filter(None, (part.strip() for part in rest.split(";"))):
        key, equals, value = word.partition("=")
        if not equals:
            key, value = cls.positional(word), word
        field = fields.get(cls.ALIASES.get(key, key).replace("_", "-"))
        if field is None:
            raise InputError(f"target '{name}' has no option '{key}'; it has {', '.join(fields) or 'none'}")
        if field.name in values:
            raise InputError(f"option '{key}' of target '{name}' is given twice")
        values[field.name] = _convert(name, key, value, field.default)
    return cls(**values)


def _convert(name: str, key: str, value: str, default: Any) -> Any:
    if isinstance(default, bool):
        if value not in ("true", "false", "1", "0"):
            raise InputError(f"option '{key}' of target '{name}' wants true or false, got '{value}'")
        return value in ("true", "1")
    if isinstance(default, int):
        try:
            return int(value, 0)
        except ValueError:
            raise InputError(f"option '{key}' of target '{name}' wants an integer, got '{value}'") from None
    return value


def _find(name: str) -> type[Target]:
    path = TARGETS.get(name)
    if path is None:
        from importlib.metadata import entry_points

        found = [entry for entry in entry_points(group="kc.targets") if entry.name == name]
        if not found:
            near = difflib.get_close_matches(name, TARGETS, 1)
            hint = f"; did you mean '{near[0]}'?" if near else f"; there are {', '.join(TARGETS)}"
            raise InputError(f"no target is named '{name}'{hint}")
        loaded = found[0].load()
    else:
        module, _, attribute = path.partition(":")
        loaded = getattr(importlib.import_module(module), attribute)
    if not (isinstance(loaded, type) and issubclass(loaded, Target)):
        raise InputError(f"'{name}' names {loaded!r}, which is not a kc.targets.Target")
    return loaded
