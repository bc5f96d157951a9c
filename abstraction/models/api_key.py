"""A server's key: read from the environment, shown to its server and to nobody else."""

from __future__ import annotations

import os

from abstraction.errors import ModelSpecError

SHOWN = "[key]"
_TELLING = 8  # characters from which a key is no word that a text might hold by chance


class ApiKey:
    """The key that an environment variable holds. Never part of a repr, a pickle or a message."""

    __slots__ = ("_value", "variable")

    def __init__(self, variable: str) -> None:
        """Read it. Raises ModelSpecError where the variable is not set or holds what no header can carry."""
        self.variable = variable
        self._value = os.environ.get(variable, "").strip()
        if not self._value:
            raise ModelSpecError(f"{variable} is not set: put the server's key there, or leave out key={variable}")
        if not all("!" <= letter <= "~" for letter in self._value):
            raise ModelSpecError(f"what {variable} holds is no key: letters, digits and signs of ASCII, without spaces")

    def header(self) -> dict[str, str]:
        """What shows it to the server."""
        return {"Authorization": f"Bearer {self._value}"}

    def scrubbed(self, text: str) -> str:
        """A message or an error without the key."""
        return text.replace(self._value, SHOWN)

    def scrubbed_bytes(self, body: bytes) -> bytes:
        """A body that is no JSON without the key, also where its slashes are escaped."""
        for shown in {self._value, self._value.replace("/", "\\/")}:
            body = body.replace(shown.encode(), SHOWN.encode())
        return body

    def scrubbed_json(self, answer: object, *, refused: bool = False) -> object:
        """A server's answer without the key, also where the server repeats it.

        A short key, such as the EMPTY that servers without keys are given, is a word that an answer may hold: it goes
        only where the request was `refused`.
        """
        if len(self._value) < _TELLING and not refused:
            return answer
        if isinstance(answer, str):
            return self.scrubbed(answer)
        if isinstance(answer, list):
            return [self.scrubbed_json(part, refused=refused) for part in answer]
        if isinstance(answer, dict):
            return {self.scrubbed(name): self.scrubbed_json(part, refused=refused) for name, part in answer.items()}
        return answer

    def __repr__(self) -> str:
        return f"ApiKey({self.variable!r})"

    def __reduce__(self) -> str:
        raise TypeError("a key is not pickled")
