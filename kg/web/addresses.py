"""Addresses of services: what of them may be shown, and how secrets reach them from the environment.

A name and a password do not stand in an address; they are taken from GRANOLA_SOURCE_USER and GRANOLA_SOURCE_PASSWORD.
A value in its query may name a variable, as in https://host/sparql?key=$MY_KEY. A secret that stands there in plain is
sent, but never shown: what is shown, and kept in manifests, names a variable in its place.
"""

from __future__ import annotations

import html
import os
import re
from dataclasses import dataclass, field
from urllib.parse import quote, quote_plus, unquote_plus, urlsplit

from kg.errors import SourceError

USER, PASSWORD = "GRANOLA_SOURCE_USER", "GRANOLA_SOURCE_PASSWORD"

_VARIABLE = re.compile(r"\$([A-Z_][A-Z0-9_]*)\Z")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,39}\Z")
_BEGIN = r"[A-Za-z][A-Za-z0-9+.-]+:(?:[A-Za-z][A-Za-z0-9+.-]+:)?/"  # not C:/; with one slash as a path has it
_PLACE = re.compile(rf"({_BEGIN}/?)([^/]*)(.*)", re.DOTALL)
_HOST = re.compile(r"(?:\[[0-9A-Fa-f:.]*\]?|[^:\[\]]*)(?::[0-9]+)?")
_BARE = re.compile(r"\A[^/?#\s:]+:[^/?#\s]*@")
_LONGEST = 40  # characters of a scheme in running text; without a bound any long word would be read again and again
_ADDRESS = re.compile(_BEGIN.replace("]+:", f"]{{1,{_LONGEST}}}+:") + r"/?[^\s'\"<>]+")
_SHORTEST = 4  # characters of a secret that is looked for in what a server says
_HIDDEN = "***"


def without_secrets(address: str) -> str:
    """An address as it may be shown: no name and password, no fragment, and variables for the values of its query.

    Nor what stands where a port does and is no number, which may be a password. ?key=abc becomes
    ?key=$GRANOLA_SOURCE_KEY, which an address that is given may say too.
    """
    main_part, _, query = address.partition("#")[0].partition("?")
    match = _PLACE.match(main_part)
    if match is None:
        return _BARE.sub("", address)
    scheme, place, path = match.groups()
    host = _HOST.match(place.rpartition("@")[2])
    shown = f"{scheme}{host[0] if host else ''}{path}"
    return f"{shown}?{'&'.join(map(_shown, _parts(query)))}" if query else shown


def scrubbed(message: str) -> str:
    """A message with the addresses in it as they may be shown."""
    return _ADDRESS.sub(lambda match: without_secrets(match[0]), message)


def _parts(query: str) -> list[str]:
    return re.split("[&;]", query)


def _shown(part: str) -> str:
    name, equals, value = part.partition("=")
    if not (equals and _NAME.match(name)):
        return part if _VARIABLE.match(part) else "$GRANOLA_SOURCE_QUERY"
    if not value or _VARIABLE.match(value):
        return part
    return f"{name}=$GRANOLA_SOURCE_{re.sub('[^A-Z0-9]', '_', name.upper())}"


@dataclass(frozen=True, kw_only=True, slots=True)
class ServiceAddress:
    """A service on the web: the address that is asked, and the one that may be shown."""

    shown: str
    sent: str = field(repr=False)
    credentials: tuple[str, str] | None = field(default=None, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def parse(cls, address: str, *, known: bool = False) -> ServiceAddress:
        """Variables in the query are put in. `known`: an address of ours, which gets nobody's name and password.

        Raises SourceError for what is no http or https address, one with a name and password in it, and a variable that
        is not set; no message repeats a secret.
        """
        shown = without_secrets(address)
        try:
            parts = urlsplit(address)
            port_is_well = parts.port is None or parts.port > 0
        except ValueError:  # brackets that do not close, a port that is no number
            raise SourceError(f"{shown!r} is no address of a service") from None
        if "@" in parts.netloc:
            raise SourceError(
                f"a name and a password do not belong into the address of {parts.hostname}; set {USER} and {PASSWORD}"
            )
        blank = any(letter <= " " or letter == "\x7f" for letter in address)
        if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_well or blank:
            raise SourceError(f"{shown!r} is no address of a service; expected one as https://host/path")
        main_part, _, query = address.partition("#")[0].partition("?")
        values = [_value(part, shown) for part in _parts(query)] if query else []
        sent = f"{main_part}?{'&'.join(whole for whole, _ in values)}" if query else main_part
        secrets = {value for _, value in values}
        credentials = None if known else _credentials()
        if credentials is not None:
            secrets |= {credentials[1]}
        forms = {form for secret in secrets for form in _written(secret) if len(form) >= _SHORTEST}
        return cls(shown=shown, sent=sent, credentials=credentials, secrets=tuple(sorted(forms, key=len, reverse=True)))

    def clean(self, text: str) -> str:
        """A text of the service's, or of a library, without the secrets that were sent."""
        for secret in self.secrets:
            text = text.replace(secret, _HIDDEN)
        return text


def _credentials() -> tuple[str, str] | None:
    password = os.environ.get(PASSWORD)
    return (os.environ.get(USER, ""), password) if password else None


def _value(part: str, shown: str) -> tuple[str, str]:
    """A part of a query as it is sent, and its value."""
    name, equals, value = part.rpartition("=") if _VARIABLE.match(part.rpartition("=")[2]) else part.partition("=")
    if not equals:
        name, value = "", part
    match = _VARIABLE.match(value)
    if match is None:
        return part, unquote_plus(value)
    meant = os.environ.get(match[1])
    if not meant:
        raise SourceError(f"{shown} needs the environment variable {match[1]}, which is not set")
    return f"{name}{equals}{quote(meant, safe='')}", meant


def _written(secret: str) -> tuple[str, ...]:
    """A secret in the forms in which a server may repeat it."""
    return (secret, quote(secret, safe=""), quote(secret), quote_plus(secret), html.escape(secret))
