"""Addresses of services: the parts that may be shown, and whose name and password are sent.

A name and a password may not be part of an address; they are read from GRANOLA_SOURCE_USER and
GRANOLA_SOURCE_PASSWORD. A key in its query is sent, but never shown, nor stored in a manifest: ?key=abc becomes
?key=***.
"""

from __future__ import annotations

import html
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import quote, quote_plus, unquote_plus, urlsplit

from kg.errors import SourceError

USER, PASSWORD = "GRANOLA_SOURCE_USER", "GRANOLA_SOURCE_PASSWORD"

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,39}\Z")
_BEGIN = r"[A-Za-z][A-Za-z0-9+.-]+:(?:[A-Za-z][A-Za-z0-9+.-]+:)?/"  # not C:/; with one slash as a path has it
_PLACE = re.compile(rf"({_BEGIN}/?)([^/]*)(.*)", re.DOTALL)
_HOST = re.compile(r"(?:\[[0-9A-Fa-f:.]*\]?|[^:\[\]]*)(?::[0-9]+)?")
_BARE = re.compile(r"\A[^/?#\s:]+:[^/?#\s]*@")
_LONGEST = 40  # characters of a scheme in running text; without a bound any long word would be read again and again
_ADDRESS = re.compile(_BEGIN.replace("]+:", f"]{{1,{_LONGEST}}}+:") + r"/?[^\s'\"<>]+")
_SHORTEST = 4  # shortest secret, in characters, that is searched for in a server's messages
_HIDDEN = "***"


def without_secrets(address: str) -> str:
    """An address as it may be shown: no name and password, no fragment, no values in its query.

    A port that is no number is removed too, for it may be a password.
    """
    main_part, _, query = address.partition("#")[0].partition("?")
    match = _PLACE.match(main_part)
    if match is None:
        return _BARE.sub("", address)
    scheme, place, path = match.groups()
    host = _HOST.match(place.rpartition("@")[2])
    shown = f"{scheme}{host[0] if host else ''}{path}"
    parts = [part.partition("=") for part in re.split("[&;]", query) if query]
    hidden = "&".join(f"{name}={_HIDDEN}" if equals and _NAME.match(name) else _HIDDEN for name, equals, _ in parts)
    return f"{shown}?{hidden}" if query else shown


def message_without_secrets(message: str) -> str:
    """A message in which every address is shown as by `without_secrets`."""
    return _ADDRESS.sub(lambda match: without_secrets(match[0]), message)


@dataclass(frozen=True, kw_only=True, slots=True)
class ServiceAddress:
    """A service on the web: the address that is asked, and the one that may be shown."""

    shown: str
    sent: str = field(repr=False)
    credentials: tuple[str, str] | None = field(default=None, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def parse(cls, address: str, *, built_in: bool = False) -> ServiceAddress:
        """`built_in`: an address of our own list, to which the user's name and password are not sent.

        Raises SourceError for other than http and https addresses, and for one with a name and password in it; no
        message repeats a secret.
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
        sent = address.partition("#")[0]  # a fragment is for browsers
        secrets = {unquote_plus(part.partition("=")[2] or part) for part in re.split("[&;]", parts.query)}
        password = None if built_in else os.environ.get(PASSWORD)  # nobody else's server gets it
        credentials = (os.environ.get(USER, ""), password) if password else None
        secrets |= {password} if password else set()
        # The forms in which a server may repeat a secret.
        encoders: tuple[Callable[[str], str], ...] = (str, partial(quote, safe=""), quote, quote_plus, html.escape)
        forms = {form for secret in secrets for encode in encoders if len(form := encode(secret)) >= _SHORTEST}
        return cls(shown=shown, sent=sent, credentials=credentials, secrets=tuple(sorted(forms, key=len, reverse=True)))

    def remove_secrets(self, text: str) -> str:
        """A text from the service or a library, with the secrets that were sent replaced."""
        for secret in self.secrets:  # the longest first: one may be within another
            text = text.replace(secret, _HIDDEN)
        return text
