"""Parser of `sasl.jaas.config`: one login module with its options."""

import re
from dataclasses import dataclass, field

_STRING = r'"(?:\\.|[^"\\])*"'
_WORD = r'[^\s=;"]+'
_MODULE = re.compile(rf"\s*({_WORD})\s+({_WORD})\s*(.*?);?\s*", re.DOTALL)
_OPTION = re.compile(rf"\s*({_WORD})\s*=\s*({_STRING}|{_WORD})\s*")
_FLAGS = {"required", "requisite", "sufficient", "optional"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "b": "\b"}


class JaasError(ValueError):
    """Error for text that is not one login module; the message never quotes it."""


@dataclass(frozen=True, slots=True)
class LoginModule:
    """
    Login module with its options.

    Parameters
    ----------
    name
        Simple name of the Java class, such as ``PlainLoginModule``.
    options
        Options as written; never shown, since they hold passwords.
    """

    name: str
    options: dict[str, str] = field(repr=False)


def _unquote(text: str) -> str:
    if not text.startswith('"'):
        return text
    return re.sub(
        r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), text[1:-1], flags=re.DOTALL
    )


def parse_jaas(text: str) -> LoginModule:
    r"""
    Parse ``Module required key="value" …;``.

    Raises
    ------
    JaasError
        If the text has another form.

    Examples
    --------
    >>> parse_jaas('a.b.PlainLoginModule required username="u" password="p;\\"";').name
    'PlainLoginModule'
    """
    if not text.rstrip().endswith(";"):
        msg = "must end with ';'"
        raise JaasError(msg)
    match = _MODULE.fullmatch(text)
    if match is None or match[2].lower() not in _FLAGS:
        msg = 'must read: CLASS required key="value" … ;'
        raise JaasError(msg)
    options: dict[str, str] = {}
    rest = match[3]
    while rest.strip():
        option = _OPTION.match(rest)
        if option is None:
            msg = f'option {len(options) + 1} must read key="value"'
            raise JaasError(msg)
        options[option[1]] = _unquote(option[2])
        rest = rest[option.end() :]
    return LoginModule(match[1].rpartition(".")[2], options)
