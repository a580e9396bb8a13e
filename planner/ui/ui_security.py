"""
Guard of the page: only this machine's browser, only with the token, only this origin.

Any web page that a browser opens may send requests to 127.0.0.1, under a name of its
own as well (DNS rebinding). So the host of every request is compared, its origin where
the browser names one, and the token of the address, which nothing but the command's
output has.
"""

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src data:",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
"""Content-Security-Policy: files of the page itself, and nothing inline."""
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # The address has the token.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""Headers of every answer."""
OWN_SITES = ("same-origin", "none")
"""Values of Sec-Fetch-Site: the page itself, or an address that a person opened."""
TOKEN_BYTES = 24


def new_token() -> str:
    """Return a token that cannot be guessed, for an address."""
    return secrets.token_urlsafe(TOKEN_BYTES)


@dataclass(frozen=True, slots=True)
class Guard:
    """
    Application that passes on only the requests of the page's own origin.

    Parameters
    ----------
    app
        Application behind the guard.
    token
        First part of every path.
    port
        Port of the server.
    """

    app: App
    token: str
    port: int

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it with 403."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = [(k.encode(), v.encode()) for k, v in HEADERS.items()]
                message["headers"] = [*message["headers"], *added]
            await send(message)

        refused = (
            "only HTTP is served" if scope["type"] != "http" else self._refused(scope)
        )
        if refused:
            await _refuse(refused, send_guarded)
            return
        await self.app(scope, receive, send_guarded)

    def _refused(self, scope: Message) -> str:
        """Return why a request is refused; empty if it may pass."""
        headers = _headers(scope)
        hosts = [f"{name}:{self.port}" for name in ("127.0.0.1", "localhost")]
        if headers.get("host") not in hosts:
            return "the host is not this machine's"
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
        is_own = origin in {f"http://{host}" for host in hosts}
        if (origin is not None and not is_own) or site not in OWN_SITES:
            return "the request comes from another page"
        if scope["method"] not in {"GET", "HEAD"} and not is_own:
            return "the request names no origin"
        given = scope["path"].split("/")[1]
        if not secrets.compare_digest(given.encode(), self.token.encode()):
            return (
                "the token of the address is wrong: open the address that was printed"
            )
        return ""


def _headers(scope: Message) -> dict[str, str]:
    """Return the headers by name; one that is given twice has no value of use."""
    found: dict[str, str] = {}
    for key, value in scope["headers"]:
        name = key.decode("latin-1").lower()
        found[name] = value.decode("latin-1") if name not in found else ""
    return found


async def _refuse(reason: str, send: Send) -> None:
    body = f"Refused: {reason}.\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    headers.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": body})
