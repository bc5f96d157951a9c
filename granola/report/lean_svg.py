"""SVG that matplotlib wrote, made small for a page: tenths of a unit, styles shared by all figures, nothing unused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import escape
from xml.etree import ElementTree

_NUMBER = re.compile(r"-?[0-9]{1,12}\.[0-9]{1,12}")
_SPACE = re.compile(r"\s+")
_BESIDE_LETTER = re.compile(r" ?([A-Za-z]) ?")
_POINT = re.compile(r"(-?[0-9.]{1,20}) (-?[0-9.]{1,20})")
_TURNED_BY_NOTHING = re.compile(r"\Arotate\(-?0 ")
_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_FONT = re.compile(r"font-family: [^;]{0,100};? ?|font: (?=[0-9])| 'DejaVu Sans', sans-serif|(?<=px) sans-serif")
_WITHIN = re.compile(r"(?<=url\()#([\w-]{1,100})")
_HREF = "{http://www.w3.org/1999/xlink}href"
_LETTERS = "fill: #ffffff"  # white letters stand on dark bars, in the dark as well


class FigureStyles:
    """The styles of all figures of one page, each a class; colours in `dark` become variables of the page."""

    def __init__(self, dark: Mapping[str, str]) -> None:
        self._dark = dark
        self._classes: dict[str, str] = {}

    def class_of(self, style: str, *, is_text: bool = False) -> str:
        """The class with this style."""
        white = is_text and _LETTERS in style
        text = ";".join(
            part.replace(": ", ":").strip() if white else _COLOUR.sub(self._variable, part.replace(": ", ":").strip())
            for part in style.split(";")
            if part.strip() and part.strip() not in _DEFAULTS
        )
        return self._classes.setdefault(text, f"f{len(self._classes)}") if text else ""

    def css(self) -> str:
        """The rules of all classes."""
        return "".join(f".figures .{name}{{{text}}}" for text, name in self._classes.items())

    def _variable(self, colour: re.Match[str]) -> str:
        return f"var(--c{colour[0][1:]},{colour[0]})" if colour[0] in self._dark else colour[0]


_DEFAULTS = frozenset({"stroke-dashoffset: 0", "stroke-linecap: butt", "stroke-linejoin: miter"})


def lean_svg(svg: str, *, name: str, title: str, styles: FigureStyles) -> str:
    """The SVG element for a page, scaled by its box; `name` keeps its ids apart, `title` names it for who listens."""
    root = ElementTree.fromstring(svg)  # matplotlib's own, made in this process
    used = set(re.findall(r"(?:url\(|href=\")#([\w-]{1,100})", svg))
    short = {old: f"{name}{index}" for index, old in enumerate(sorted(used))}
    boxes = {
        one.get("id", ""): one[0]
        for one in root.iter()
        if _tag(one) == "clipPath" and len(one) and _tag(one[0]) == "rect"
    }
    needed = _needed_clips(root, boxes)
    body = "".join(part for child in root for part in _written(child, styles, short, needed))
    box = root.get("viewBox", "")
    return f'<svg role="img" aria-label="{escape(title)}" viewBox="{_rounded(box)}">{body}</svg>'


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _needed_clips(
    root: ElementTree.Element, boxes: Mapping[str, ElementTree.Element]
) -> frozenset[ElementTree.Element]:
    """The elements of which some point lies outside the box that cuts them."""
    needed = set()
    for element in root.iter():
        box = boxes.get(element.get("clip-path", "")[5:-1])
        if box is None:
            continue
        left, top = float(box.get("x", 0)) - 0.5, float(box.get("y", 0)) - 0.5
        right, bottom = left + 1 + float(box.get("width", 0)), top + 1 + float(box.get("height", 0))
        points = [(float(x), float(y)) for one in element.iter() for x, y in _POINT.findall(one.get("d", ""))]
        if _tag(element) != "path" or not all(left <= x <= right and top <= y <= bottom for x, y in points):
            needed.add(element)
    return frozenset(needed)


def _written(
    element: ElementTree.Element,
    styles: FigureStyles,
    short: Mapping[str, str],
    needed: frozenset[ElementTree.Element],
) -> Iterator[str]:
    tag, style = _tag(element), element.get("style", "")
    if tag in ("metadata", "style", "title") or _is_unseen(tag, style):
        return
    attributes = _kept_attributes(element, styles, short, is_clipped=element in needed)
    inside = "".join(part for child in element for part in _written(child, styles, short, needed))
    text = escape((element.text or "").strip(), quote=False)
    if tag == "g" and not attributes:
        yield inside
    elif inside or text or tag in ("path", "use", "rect", "image"):
        shown = "".join(f' {key.rpartition("}")[2]}="{escape(value)}"' for key, value in attributes.items())
        yield f"<{tag}{shown}>{text}{inside}</{tag}>" if inside or text else f"<{tag}{shown}/>"
    if tail := (element.tail or "").strip():
        yield escape(tail, quote=False)


def _kept_attributes(
    element: ElementTree.Element, styles: FigureStyles, short: Mapping[str, str], *, is_clipped: bool
) -> dict[str, str]:
    """The attributes that change how an element looks, with short ids and rounded numbers; its style as a class."""
    tag, attributes = _tag(element), dict[str, str]()
    for key, value in element.attrib.items():
        if key == "id":
            if value in short:
                attributes["id"] = short[value]
        elif key == _HREF:
            attributes["href"] = f"#{short[value[1:]]}" if value.startswith("#") else value
        elif key == "clip-path":
            if is_clipped:
                attributes[key] = f"url(#{short[value[5:-1]]})"
        elif key == "style":
            value = _FONT.sub("", value) if tag == "text" else _WITHIN.sub(lambda one: f"#{short[one[1]]}", value)
            if name := styles.class_of(_rounded(value), is_text=tag == "text"):
                attributes["class"] = name
        elif key == "transform" and _TURNED_BY_NOTHING.match(value):
            continue
        else:
            attributes[key] = _path(value) if key == "d" else _rounded(value)
    return attributes


def _is_unseen(tag: str, style: str) -> bool:
    return tag == "path" and ("opacity: 0;" in style or style.endswith("opacity: 0") or style == "fill: none")


def _rounded(text: str) -> str:
    return _NUMBER.sub(lambda number: f"{float(number[0]):.1f}".removesuffix(".0").replace("-0.0", "0"), text)


def _path(text: str) -> str:
    """A path's steps in tenths, a point that does not move the pen left out."""
    words = _BESIDE_LETTER.sub(r"\1", _SPACE.sub(" ", _rounded(text)).strip())
    steps = re.findall(r"[A-Za-z][^A-Za-z]*", words)
    kept = [step for index, step in enumerate(steps) if index == 0 or step != steps[index - 1] or step[0] != "L"]
    return "".join(
        (" " if index and step[0] == "L" == kept[index - 1][0] and step[1:2] != "-" else "")
        + (step[1:] if index and step[0] == "L" == kept[index - 1][0] else step)
        for index, step in enumerate(kept)
    )
