"""The server of the page, from its socket to its end."""

import signal
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from planner.errors import BadInputError, InputProblem
from planner.io.records import Record
from planner.snapshot import Snapshot
from planner.ui.ui_security import new_token
from planner.ui.ui_server import UiApp
from planner.ui.ui_session import Session

if TYPE_CHECKING:
    from uvicorn import Server

HOST = "127.0.0.1"


class UiRecord(Record):
    """Address of the page, which has the token, and folder of the plans it writes."""

    url: str
    port: int
    folder: str


def listen(port: int) -> socket.socket:
    """
    Return a socket that listens on this machine alone.

    Parameters
    ----------
    port
        Port; 0 for any that is free.

    Raises
    ------
    BadInputError
        If the port is taken, or may not be used.
    """
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((HOST, port))
        found.listen()
    except (OSError, OverflowError) as error:
        found.close()
        rule = f"must be free on {HOST}: {error}"
        problem = InputProblem.of_option("--port", port, rule, "leave it out")
        msg = "the page cannot be served"
        raise BadInputError(msg, [problem]) from error
    return found


def run(
    snapshot: Snapshot,
    *,
    name: str,
    output: Path,
    listener: socket.socket,
    opens: bool,
    started: Callable[[str], None],
) -> None:
    """
    Serve the page of a cluster until Ctrl-C.

    Parameters
    ----------
    snapshot
        The cluster.
    name
        Snapshot as the command line names it.
    output
        Folder in which plan folders are written.
    listener
        Socket that listens.
    opens
        Whether to open a browser.
    started
        Called with the address before requests are served; those that arrive earlier
        wait.
    """
    import uvicorn

    port, token = listener.getsockname()[1], new_token()
    url = f"http://{HOST}:{port}/{token}/"
    # Ctrl-C may also come while the process that plans is started or ended.
    with suppress(KeyboardInterrupt), closing(Session(snapshot)) as session:
        config = uvicorn.Config(
            UiApp(session, name, output).guarded(token, port),
            lifespan="off",
            log_level="error",
            access_log=False,
            server_header=False,
            # An answer that is under way must not hold up Ctrl-C.
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)
        with _ended_by(server):
            started(url)
            if opens:
                opening = threading.Thread(
                    target=webbrowser.open, args=(url,), daemon=True
                )
                opening.start()
            server.run(sockets=[listener])


@contextmanager
def _ended_by(server: "Server") -> Iterator[None]:
    """End a server by Ctrl-C also before and after it handles signals itself."""

    def end(_: int, __: FrameType | None) -> None:
        server.should_exit = True

    before = signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
