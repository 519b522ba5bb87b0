"""The page on this machine alone: a server on 127.0.0.1 behind a random address."""

import json
import secrets
import socket
import threading
import time
from collections.abc import Callable
from importlib import resources
from typing import TYPE_CHECKING, Any

from kolchin.errors import DataError, KolchinError, MissingExtraError
from kolchin.options import option
from kolchin.review.desk import ReviewDesk

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

HOST = "127.0.0.1"
HOSTS = [HOST, "localhost"]
LARGEST_BODY = 100_000
FILES = {"": "review.html", "style.css": "style.css", "review.js": "review.js"}
TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""The page loads nothing from elsewhere, and its address goes nowhere."""


def make_token() -> str:
    """Return a part of the address that nobody can guess."""
    return secrets.token_urlsafe(16)


def make_application(desk: ReviewDesk, token: str) -> "Starlette":
    """Return the web application: the page, and the questions and answers behind it."""
    try:
        from starlette.applications import Starlette
        from starlette.middleware import Middleware
        from starlette.middleware.trustedhost import TrustedHostMiddleware
        from starlette.routing import Route
    except ImportError as error:
        raise describe_missing() from error

    def guard(work: "Callable[[Request], Any]") -> "Callable[[Request], Any]":
        async def endpoint(request: "Request") -> "Response":
            return await _respond(work, request, token)

        return endpoint

    async def ask(request: "Request") -> Any:
        found = request.query_params
        return desk.questions(
            found.get("queue", ""), _read_whole(found, "start"), _read_whole(found, "count")
        )

    async def answer(request: "Request") -> Any:
        said = await _body(request)
        return desk.answer(
            str(said.get("queue")),
            _read_number(said),
            str(said.get("answer")),
            _read_rows(said),
            said.get("round"),
        )

    async def undo(request: "Request") -> Any:
        said = await _body(request)
        number = _read_number(said) if "number" in said else None
        return desk.undo(said.get("queue"), number, said.get("round"))

    async def state(request: "Request") -> Any:
        return desk.state()

    async def count(request: "Request") -> Any:
        await _body(request)
        return desk.count()

    async def file(request: "Request") -> Any:
        return request.path_params.get("file", "")

    routes = [
        Route("/{token}/api/state", guard(state)),
        Route("/{token}/api/questions", guard(ask)),
        Route("/{token}/api/answer", guard(answer), methods=["POST"]),
        Route("/{token}/api/undo", guard(undo), methods=["POST"]),
        Route("/{token}/api/count", guard(count), methods=["POST"]),
        Route("/{token}/", guard(file)),
        Route("/{token}/{file}", guard(file)),
    ]
    trusted = Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS, www_redirect=False)
    return Starlette(routes=routes, middleware=[trusted])


async def _respond(work: "Callable[[Request], Any]", request: "Request", token: str) -> "Response":
    """Return what was asked for, to those who know the address; faults in words."""
    from starlette.responses import JSONResponse, PlainTextResponse, Response

    if not secrets.compare_digest(request.path_params["token"].encode(), token.encode()):
        return PlainTextResponse("There is nothing here.", 404, headers=HEADERS)
    try:
        made = await work(request)
    except KolchinError as error:
        return JSONResponse({"fault": str(error)}, 400, headers=HEADERS)
    except OSError as error:
        fault = f"The answer could not be saved: {error.strerror or error}."
        return JSONResponse({"fault": fault}, 500, headers=HEADERS)
    if not isinstance(made, str):
        return JSONResponse(made, headers=HEADERS)
    if made not in FILES:
        return PlainTextResponse("There is nothing here.", 404, headers=HEADERS)
    name = FILES[made]
    text = (resources.files("kolchin.review") / "page" / name).read_text(encoding="utf-8")
    return Response(text, media_type=TYPES[name.rpartition(".")[2]], headers=HEADERS)


async def _body(request: "Request") -> dict[str, Any]:
    """Return what was sent; only a page of this server can send JSON."""
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise DataError("Answers are sent as JSON.")
    if int(request.headers.get("content-length") or 0) > LARGEST_BODY:
        raise DataError("That is too much for an answer.")
    try:
        said = json.loads(await request.body())
    except ValueError as error:
        raise DataError("This is no JSON.") from error
    if not isinstance(said, dict):
        raise DataError("An answer is an object.")
    return said


def _read_number(said: dict[str, Any]) -> int:
    number = said.get("number")
    if type(number) is not int:  # True is none
        raise DataError("The 'number' of a question is a whole number.")
    return number


def _read_rows(said: dict[str, Any]) -> list[int]:
    rows = said.get("marked", [])
    if not isinstance(rows, list) or not all(isinstance(row, int) for row in rows):
        raise DataError("The 'marked' records are a list of whole numbers.")
    return rows


def _read_whole(found: Any, name: str) -> int:
    try:
        return int(found.get(name, 0))
    except ValueError as error:
        raise DataError(f"The '{name}' parameter must be a whole number.") from error


def describe_missing() -> MissingExtraError:
    """Say how to install what the page needs."""
    return MissingExtraError(
        "The review page needs Starlette and uvicorn: pip install 'kolchin[review]'."
    )


class ReviewServer:
    """A review page that is being served; ``address`` is where, ``close()`` ends it."""

    def __init__(self, desk: ReviewDesk, port: int = 0) -> None:
        try:
            import uvicorn
        except ImportError as error:
            raise describe_missing() from error
        self.desk, token = desk, make_token()
        app = make_application(desk, token)
        self._socket = _bind_socket(port)
        self.port = int(self._socket.getsockname()[1])
        self.address = f"http://{HOST}:{self.port}/{token}/"
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, lifespan="off", timeout_graceful_shutdown=2
        )
        self._server = uvicorn.Server(config)
        sockets = [self._socket]
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": sockets}, daemon=True
        )
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            time.sleep(0.01)

    @property
    def n_answers(self) -> int:
        """How many lines of answers there are."""
        return len(self.desk.file.read())

    def wait(self) -> None:
        """Serve until Ctrl-C."""
        try:
            while self._thread.is_alive():
                self._thread.join(0.2)
        except KeyboardInterrupt:
            pass
        finally:
            self.close()

    def close(self) -> None:
        """End the server; answers are on the disk already."""
        self._server.should_exit = True
        self._thread.join(5)
        self._socket.close()

    def __enter__(self) -> "ReviewServer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _bind_socket(port: int) -> socket.socket:
    """Return a socket on this machine alone; port 0 takes a free one."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((HOST, port))
    except (OSError, OverflowError) as error:
        found.close()
        raise DataError(
            f"Port {port} cannot be used: {error}. Name another with {option('port')}, or none."
        ) from error
    return found
