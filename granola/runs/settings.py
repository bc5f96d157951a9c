"""What a run is told: a frozen value whose fields say what they mean and allow.

Command lines, their help, run records and Python calls are all made of it: no setting is written down twice.
"""

from __future__ import annotations

import inspect
import shlex
import types
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Protocol, Union, get_args, get_origin, get_type_hints

from granola.errors import UsageError
from kg.web.addresses import without_secrets


@dataclass(frozen=True, slots=True)
class Setting:
    """What a field of a run means: the metadata of its `Annotated` type.

    `flag` is its option where that is not its name; `least` and `most` are allowed themselves; `recorded` is False for
    what changes nothing of the result.
    """

    help: str
    flag: str | None = None
    short: str | None = None
    metavar: str | None = None
    least: float | None = None
    most: float | None = None
    positional: bool = False
    recorded: bool = True
    shown: str | None = None  # the default in words
    folder: bool = False  # whether a folder stands for the one file of rows in it

    def name(self, field: str) -> str:
        """How a command line names it."""
        if self.positional:
            return self.metavar or field.upper()
        return (self.flag or "--" + field.strip("_").replace("_", "-")).partition("/")[0]


@dataclass(frozen=True, slots=True)
class DeclaredSetting:
    """A setting with the field it is of: the type (a tuple's is of its items), the default, `...` where it has none."""

    field: str
    type: Any
    many: bool
    optional: bool
    default: Any
    setting: Setting


class RunOutcome(Protocol):
    """What a run has come to."""

    def show(self) -> None:
        """Print it: data on standard output, all else on standard error."""

    @property
    def failed(self) -> bool:
        """Whether rows were rejected, or what was checked does not hold: exit status 1."""


@dataclass(frozen=True, kw_only=True)
class Run(ABC):
    """One verb with its settings; the docstring of a subclass is the help of its command.

    Values that fit after all are taken: a text for a path or a choice, one text for several. Raises UsageError for
    those that a setting does not allow.
    """

    verb: ClassVar[str]

    def __post_init__(self) -> None:
        """Fit and check every value."""
        for declared in settings_of(type(self)):
            object.__setattr__(self, declared.field, _fitted(declared, getattr(self, declared.field)))

    @abstractmethod
    def run(self) -> RunOutcome:
        """Do it, and say what came of it."""

    def arguments(self) -> Mapping[str, Any]:
        """What a run record has of the settings."""
        return recorded(self, type(self))


def command_line(run: Run) -> str:
    """The command that does the same, for whoever reads a result: every setting that is not left as it is by default.

    Files are named without the folders of whoever ran it, and addresses without secrets.
    """
    words = ["granola", *run.verb.split()]
    for declared in sorted(settings_of(type(run)), key=lambda declared: not declared.setting.positional):
        value = getattr(run, declared.field)
        if (
            not declared.setting.recorded
            or (declared.default is not ... and value == declared.default)
            or value is None
        ):
            continue
        name = declared.setting.name(declared.field)
        for single in value if declared.many else (value,):
            words += [
                *([] if declared.setting.positional else [name]),
                *([] if declared.type is bool else [_named(single)]),
            ]
    return shlex.join(words)


def _named(value: Any) -> str:
    """A value as a command line has it."""
    text = str(value)
    if "://" in text:
        return without_secrets(text)
    is_place = isinstance(value, Path) or (isinstance(value, str) and Path(text).is_absolute())
    return Path(text).name if is_place and Path(text).is_absolute() else text


def recorded(settings: object, declaring: type) -> dict[str, Any]:
    """What a run record has of the settings that a class declares."""
    return {
        declared.field.strip("_"): plain(getattr(settings, declared.field))
        for declared in settings_of(declaring)
        if declared.setting.recorded
    }


def plain(value: Any) -> Any:
    """A setting as JSON has it."""
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    return str(value) if isinstance(value, Path | StrEnum) else value


@cache
def settings_of(run: type) -> tuple[DeclaredSetting, ...]:
    """The settings of a run: its own first, then those that it shares."""
    hints = get_type_hints(run, include_extras=True)
    defaults = {field.name: field.default for field in fields(run) if field.default_factory is MISSING}
    names = dict.fromkeys(name for owner in run.__mro__ for name in inspect.get_annotations(owner))
    return tuple(_declared(name, hints[name], defaults[name]) for name in names if name in defaults)


def setting_of(run: type, field: str) -> DeclaredSetting:
    """One of them."""
    return next(declared for declared in settings_of(run) if declared.field == field)


def _declared(name: str, hint: Any, default: Any) -> DeclaredSetting:
    if get_origin(hint) is not Annotated:
        raise TypeError(f"{name} has no Setting")
    type_, setting = get_args(hint)
    optional = get_origin(type_) in (Union, types.UnionType)
    if optional:
        (type_,) = (kind for kind in get_args(type_) if kind is not types.NoneType)
    many = get_origin(type_) is tuple
    return DeclaredSetting(
        field=name,
        type=get_args(type_)[0] if many else type_,
        many=many,
        optional=optional,
        default=... if default is MISSING else default,
        setting=setting,
    )


def _fitted(declared: DeclaredSetting, value: Any) -> Any:
    if value is None and declared.optional:
        return None
    if not declared.many:
        return _fitted_value(declared, value)
    several = value if isinstance(value, Iterable) and not isinstance(value, str | Path) else [value]
    return tuple(_fitted_value(declared, part) for part in several)


def _file_of(value: str, name: str) -> str:
    from abstraction.files.data_folders import data_files

    files = data_files(value)
    if len(files) > 1:
        raise UsageError(f"{name} {value} is a folder with {len(files)} files of rows; name one of them")
    return str(files[0])


def _converted(declared: DeclaredSetting, value: Any, name: str) -> Any:
    """A value in the type of its setting, where it is given as another that stands for it."""
    type_ = declared.type
    if type_ is str and isinstance(value, Path):
        value = str(value)
    if declared.setting.folder and isinstance(value, str):
        return _file_of(value, name)
    if type_ is Path and isinstance(value, str):
        return Path(value)
    if isinstance(type_, type) and issubclass(type_, StrEnum):
        if value not in list(type_):
            raise UsageError(f"{name} is {value!r}; allowed: {', '.join(type_)}")
        return type_(value)
    return float(value) if type_ is float and isinstance(value, int) and not isinstance(value, bool) else value


def _fitted_value(declared: DeclaredSetting, value: Any) -> Any:
    setting, type_ = declared.setting, declared.type
    name = setting.name(declared.field)
    value = _converted(declared, value, name)
    if isinstance(type_, type) and (not isinstance(value, type_) or (isinstance(value, bool) and type_ is not bool)):
        raise UsageError(f"{name} is {value!r}; expected {type_.__name__}")
    low, high = setting.least, setting.most
    if (low is not None and value < low) or (high is not None and value > high):
        allowed = f"{low:g} or more" if high is None else f"{low:g} to {high:g}"
        raise UsageError(f"{name} is {value}; allowed: {allowed}")
    return value
