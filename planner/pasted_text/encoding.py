"""Bytes of a text file as text: UTF-8 or UTF-16 with its mark, gzipped or not."""

import codecs
import gzip
import re
import zlib

_GZIP = b"\x1f\x8b"
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_UTF32 = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_HEAD = 1000
_ESCAPE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[()].)"
)


class EncodingProblemError(ValueError):
    """
    Bytes that are no text.

    Parameters
    ----------
    place, rule, remedy
        As in a problem of an input.
    """

    def __init__(self, *, rule: str, remedy: str, place: str = "") -> None:
        super().__init__(rule)
        self.place = place
        self.rule = rule
        self.remedy = remedy


def decode_bytes(data: bytes) -> str:
    """
    Return the text of a file, without byte order mark and without colours.

    Parameters
    ----------
    data
        The file: UTF-8, or UTF-16 with a byte order mark as PowerShell writes it.

    Raises
    ------
    EncodingProblemError
        If it is in another encoding, or cut in its packed form.
    """
    data = _unpacked(data)
    text = _utf16(data) if _is_utf16(data) else _utf8(data)
    if "\x1b" in text:
        text = _ESCAPE.sub("", text)
    return text


def _unpacked(data: bytes) -> bytes:
    if not data.startswith(_GZIP):
        return data
    try:
        return gzip.decompress(data)
    except (EOFError, OSError, zlib.error):
        rule, remedy = "the file must be whole gzip", "write or copy it anew"
        raise EncodingProblemError(rule=rule, remedy=remedy) from None


def _is_utf16(data: bytes) -> bool:
    return data.startswith(_UTF16) and not data.startswith(_UTF32)


def _utf16(data: bytes) -> str:
    try:
        return data.decode("utf-16")
    except UnicodeDecodeError as error:
        rule = f"the file begins as UTF-16, but byte {error.start} is not"
        remedy = "take it anew, or save it as UTF-8"
        raise EncodingProblemError(rule=rule, remedy=remedy) from None


def _utf8(data: bytes) -> str:
    data = data.removeprefix(codecs.BOM_UTF8)
    if data.startswith(_UTF32) or b"\0" in data[:_HEAD]:
        rule = (
            "the file must be UTF-8, or UTF-16 with a byte order mark, and not binary"
        )
        remedy = "save it as UTF-8; in PowerShell: … | Out-File -Encoding utf8 FILE"
        raise EncodingProblemError(rule=rule, remedy=remedy)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        rule = f"the file must be UTF-8 (byte {error.start} is not)"
        place, remedy = f"line {line}", "save it as UTF-8"
        raise EncodingProblemError(rule=rule, remedy=remedy, place=place) from None
