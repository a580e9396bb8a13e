"""Decoding of text files in UTF-8 or UTF-16, gzipped or not."""

import codecs
import gzip
import re
import zlib

_GZIP = b"\x1f\x8b"
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_UTF32 = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_HEAD = 1000
_BEGINNING = 100_000
_MOSTLY = 0.8
_JSON = ("{", "[", '"', "]", "}")
_OTHER_BLANKS = re.compile("[\u00a0\u2007\u202f\u200b\u2060\ufeff]")
_NO_WIDTH = re.compile("[\u200b\u2060\ufeff]")
_ANY_BLANK = " \t\u00a0\u2007\u202f\u200b\u2060\ufeff"
_ESCAPE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[()].|[=>78])"
)
_PAGE_BREAK = re.compile(r"^[\f\r]+(?=[^\f\r\n])|\f+$", re.MULTILINE)


class EncodingProblemError(ValueError):
    """
    Error for bytes that are not text.

    Parameters
    ----------
    place, rule, remedy
        As in `InputProblem`.
    """

    def __init__(self, *, rule: str, remedy: str, place: str = "") -> None:
        super().__init__(rule)
        self.place = place
        self.rule = rule
        self.remedy = remedy


def decode_bytes(data: bytes) -> str:
    """
    Return the text of a file, without byte order mark and colour codes.

    No-break spaces, as in web pages, become spaces, except inside lines of JSON, where
    they may be part of a name. Form feeds at either end of a line are removed, and
    carriage returns become line breaks in a text without line feeds.

    Parameters
    ----------
    data
        Content of the file: UTF-8, or UTF-16 as PowerShell writes it, with or without
        byte order mark.

    Raises
    ------
    EncodingProblemError
        If the file has another encoding, or is truncated gzip.
    """
    data = _unpacked(data)
    codec = _utf16_codec(data)
    text = _utf8(data) if codec is None else _utf16(data, codec)
    if "\x1b" in text:
        text = _ESCAPE.sub("", text)
    if "\r" in text and "\n" not in text:
        text = text.replace("\r", "\n")
    if "\f" in text or "\n\r" in text:
        text = _PAGE_BREAK.sub("", text)
    return text if text.isascii() else _with_plain_blanks(text)


def _with_plain_blanks(text: str) -> str:
    """Return a text with plain spaces, and without zero-width characters."""
    if not _OTHER_BLANKS.search(text):
        return text
    return "\n".join(map(_with_plain_blanks_in, text.split("\n")))


def _with_plain_blanks_in(line: str) -> str:
    rest = line.lstrip(_ANY_BLANK)
    before = line[: len(line) - len(rest)]
    if not rest.startswith(_JSON):
        before, rest = line, ""
    return _OTHER_BLANKS.sub(" ", _NO_WIDTH.sub("", before)) + rest


def _unpacked(data: bytes) -> bytes:
    if not data.startswith(_GZIP):
        return data
    try:
        return gzip.decompress(data)
    except (EOFError, OSError, zlib.error):
        rule, remedy = "the file must be whole gzip", "write or copy it anew"
        raise EncodingProblemError(rule=rule, remedy=remedy) from None


def _utf16_codec(data: bytes) -> str | None:
    """Return the codec of a UTF-16 file; `None` for any other encoding."""
    if data.startswith(_UTF32):
        return None
    if data.startswith(_UTF16):
        return "utf-16"
    # Without a mark: output of tools is mostly ASCII, so every other byte is 0.
    head = data[:_HEAD]
    even, odd = head[::2].count(0), head[1::2].count(0)
    if odd > _MOSTLY * len(head) / 2 and not even:
        return "utf-16-le"
    return "utf-16-be" if even > _MOSTLY * len(head) / 2 and not odd else None


def _utf16(data: bytes, codec: str) -> str:
    try:
        return data.decode(codec)
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


def head_of(data: bytes) -> str:
    """Return the beginning of a file as text, with any content."""
    if data.startswith(_GZIP):
        try:
            data = zlib.decompressobj(31).decompress(data, _BEGINNING)
        except zlib.error:
            return ""
    # An end in the middle of a character is replaced, not an error.
    head = data[:_BEGINNING]
    try:
        return decode_bytes(head)
    except EncodingProblemError:
        return head.decode("utf-8-sig", errors="replace")
