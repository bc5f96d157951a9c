"""Settings of commands: fields of frozen dataclasses with their help and allowed values.

Command lines, their help, run records and Python calls are all derived from them: no setting is written down twice.
"""

from __future__ import annotations

import inspect
import re
import shlex
import types
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, fields, replace
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from granola.errors import UsageError
from kg.web.addresses import without_secrets


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of a command: the metadata in the `Annotated` type of a field.

    `flag` is the option where it differs from the field's name; `least` and `most` are themselves allowed; `recorded`
    is False for settings that do not affect the result; `advanced` options are those that few people need.
    """

    help: str
    flag: str | None = None
    short: str | None = None
    metavar: str | None = None
    least: float | None = None
    most: float | None = None
    positional: bool = False
    recorded: bool = True
    folder: bool = False  # whether a folder is accepted in the place of the only file of rows in it
    advanced: bool = False

    def command_line_name(self, field: str) -> str:
        """The name of the option or argument on a command line; `field` is the name of the dataclass field."""
        if self.positional:
            return self.metavar or field.upper()
        return (self.flag or "--" + field.strip("_").replace("_", "-")).partition("/")[0]

    @property
    def allowed_range(self) -> str:
        """The allowed range of numbers in words; empty without a range."""
        if self.least is None:
            return ""
        return f"{self.least:g} or more" if self.most is None else f"{self.least:g} to {self.most:g}"


# A model at an address, whose URL may contain a secret: "openai:https://HOST/v1#NAME".
_MODEL_AT = re.compile(r"(?:[a-z-]{1,20}[=:])?[a-z]{1,20}:https?://[^#]{1,2000}#[\w./:@-]{1,200}\Z")
_SAMPLING = re.compile(
    r"(?:temperature|top_p|max_tokens|seed)=[0-9.]{1,20}"
)  # settings that affect answers, none of them secret
ADVANCED = object()  # marks a shared setting in `Annotated` as advanced for one command


@dataclass(frozen=True, slots=True)
class DeclaredSetting:
    """A setting with its field: `type` (of the items of a tuple), `default`, which is `...` for a required one."""

    field: str
    type: Any
    many: bool
    optional: bool
    default: Any
    setting: Setting

    @property
    def choices(self) -> tuple[str, ...]:
        """The allowed texts of a Literal or StrEnum; empty for other types."""
        if get_origin(self.type) is Literal:
            return get_args(self.type)
        return tuple(self.type) if isinstance(self.type, type) and issubclass(self.type, StrEnum) else ()


def check_and_convert(settings: Any) -> None:
    """Check every value of a new command, and convert values of another type than their field's.

    A text is accepted for a path or a choice, a single text for several. Raises UsageError for a value that is not
    allowed.
    """
    for declared in settings_of(settings.__class__):
        # Frozen dataclasses refuse normal assignment in __post_init__.
        value = getattr(settings, declared.field)
        if value is None and declared.optional:
            continue
        if declared.many:
            several = value if isinstance(value, Iterable) and not isinstance(value, str | Path) else [value]
            value = tuple(_check_value(declared, part) for part in several)
        else:
            value = _check_value(declared, value)
        object.__setattr__(settings, declared.field, value)


def command_line(verb: str, settings: Any, *, with_folders: bool = False) -> str:
    """The command line with the same effect: every setting that differs from its default.

    Files are named without folders unless `with_folders`, and addresses without secrets.
    """
    words = ["granola", *verb.split()]
    # Positional settings first, as people write them.
    for declared in sorted(settings_of(settings.__class__), key=lambda declared: not declared.setting.positional):
        value = getattr(settings, declared.field)
        if (
            not declared.setting.recorded
            or (declared.default is not ... and value == declared.default)
            or value is None
        ):
            continue
        name = declared.setting.command_line_name(declared.field)
        if value is False:  # the second of "--extend/--no-extend"
            name = (declared.setting.flag or name).rpartition("/")[2]
        for single in value if declared.many else (value,):
            words += [
                *([] if declared.setting.positional else [name]),
                *([] if declared.type is bool else [_as_command_line_text(single, with_folders=with_folders)]),
            ]
    return shlex.join(words)


def _as_command_line_text(value: Any, *, with_folders: bool) -> str:
    """A value as text of a command line."""
    text = str(value)
    if "://" in text:
        address, _, name = text.partition("#")
        if not _MODEL_AT.match(text):
            return without_secrets(address)
        place, _, query = address.partition("?")  # "openai:URL?SETTINGS#NAME" names a model
        # Sampling affects the answers and is shown; other settings may contain a secret.
        told: dict[bool, list[str]] = {True: [], False: []}
        for part in query.split("&") if query else []:
            if not part.startswith("batch_"):  # files of a batch do not affect the result
                told[_SAMPLING.fullmatch(part) is not None].append(part)
        shown = without_secrets(f"{place}?{'&'.join(told[False])}" if told[False] else place)
        more = f"{'&' if told[False] else '?'}{'&'.join(told[True])}" if told[True] else ""
        return f"{shown}{more}#{name}"
    # Some settings are a file or a name, such as that of a model.
    is_file = isinstance(value, str) and (Path(text).is_absolute() or Path(text).is_file())
    is_place = isinstance(value, Path) or is_file
    return Path(text).name if is_place and not with_folders else text


def recorded_settings(settings: object, declaring: type) -> dict[str, Any]:
    """The settings that the class `declaring` declares, in the form of a run record."""
    return {
        declared.field.strip("_"): setting_as_json(getattr(settings, declared.field))
        for declared in settings_of(declaring)
        if declared.setting.recorded
    }


def setting_as_json(value: Any) -> Any:
    """A value as JSON: paths and choices as text, tuples as lists."""
    if isinstance(value, tuple | list):
        return [setting_as_json(part) for part in value]
    return str(value) if isinstance(value, Path | StrEnum) else value


@cache
def settings_of(declaring: type) -> tuple[DeclaredSetting, ...]:
    """The settings of a command class: its own first, then inherited ones."""
    hints = get_type_hints(declaring, include_extras=True)
    defaults = {field.name: field.default for field in fields(declaring) if field.default_factory is MISSING}
    # In the order of inheritance: the own settings of a command first.
    names = dict.fromkeys(name for owner in declaring.__mro__ for name in inspect.get_annotations(owner))
    return tuple(_declared_setting(name, hints[name], defaults[name]) for name in names if name in defaults)


def _declared_setting(name: str, hint: Any, default: Any) -> DeclaredSetting:
    if get_origin(hint) is not Annotated:
        raise TypeError(f"{name} has no Setting")
    type_, setting, *marks = get_args(hint)
    # A setting that is common in one command may be rare in another.
    if ADVANCED in marks:
        setting = replace(setting, advanced=True)
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


def _convert_to_type(declared: DeclaredSetting, value: Any, name: str) -> Any:
    """The value converted to the type of its setting where that is certain: text to path or choice, int to float."""
    type_ = declared.type
    if declared.setting.folder and isinstance(value, str | Path):
        from abstraction.files.records import data_files

        files = data_files(str(value))
        # Which of them is meant cannot be guessed.
        if len(files) > 1:
            raise UsageError(f"{name} {value} is a folder with {len(files)} files of rows; name one of them")
        value = files[0]
    if type_ in (str, Path) and isinstance(value, str | Path):
        return type_(value)
    if choices := declared.choices:
        if value not in choices:
            raise UsageError(f"{name} is {value!r}; allowed: {', '.join(choices)}")
        return choices[choices.index(value)]
    return float(value) if type_ is float and isinstance(value, int) and not isinstance(value, bool) else value


def _check_value(declared: DeclaredSetting, value: Any) -> Any:
    setting, type_ = declared.setting, declared.type
    name = setting.command_line_name(declared.field)
    value = _convert_to_type(declared, value, name)
    # bool is a subclass of int, but True is no number.
    if isinstance(type_, type) and (not isinstance(value, type_) or (isinstance(value, bool) and type_ is not bool)):
        raise UsageError(f"{name} is {value!r}; expected {type_.__name__}")
    low, high = setting.least, setting.most
    if (low is not None and value < low) or (high is not None and value > high):
        raise UsageError(f"{name} is {value}; allowed: {setting.allowed_range}")
    return value
