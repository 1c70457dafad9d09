"""Client of a Joust gateway in one file, for Python 3.9 or newer, without dependencies.

    from joust import Joust

    joust = Joust("http://localhost:8080", api_key="jst_...")
    answer = joust.chat("Why is the sky blue?", id="message-17", session_id="chat-3")
    print(answer["choices"][0]["message"]["content"])
    joust.vote("message-17", rating=1)

Requests may also come from another client (openai, anthropic, LangChain), with votes from this one:
send the header ``x-joust-id`` with each request, and vote by that id, or send ``x-joust-session-id``
and vote on the last answer of the session with ``vote_on_last``.
"""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Union
from urllib.parse import quote

__all__ = ["ApiError", "ConnectionFailed", "Joust", "Json"]

Json = Dict[str, Any]
Winner = Union[int, str]
Messages = Union[str, Sequence[Mapping[str, Any]]]


class ApiError(Exception):
    """The gateway refused a request or failed to answer it."""

    def __init__(self, status: int, error: Mapping[str, Any], retry_after: Optional[float] = None):
        self.status = status
        self.problem: str = error.get("message") or f"the gateway responded with status {status}"
        self.code: Optional[str] = error.get("code")
        #: Name of the member, parameter or header that caused the error.
        self.param: Optional[str] = error.get("param")
        #: Advice on how to correct the error.
        self.hint: Optional[str] = error.get("hint")
        #: Seconds to wait before the next attempt.
        self.retry_after = retry_after
        super().__init__(self.problem if self.hint is None else f"{self.problem} ({self.hint})")

    @property
    def is_temporary(self) -> bool:
        """Whether the same request may succeed later."""
        return self.code != "insufficient_quota" and (self.status == 429 or self.status >= 500)


class ConnectionFailed(Exception):
    """The gateway did not respond, or a stream ended early."""


class Joust:
    """HTTP client of a gateway. Methods raise ``ApiError`` or ``ConnectionFailed``."""

    def __init__(
        self,
        base_url: str = "http://localhost:8080",
        api_key: Optional[str] = None,
        timeout: float = 600,
    ):
        """``base_url`` is the address of the gateway without ``/v1``."""
        self._base_url = base_url.rstrip("/")
        self._api_key = api_key
        self._timeout = timeout

    def chat(
        self,
        messages: Messages,
        *,
        model: str = "auto",
        id: Optional[str] = None,
        session_id: Optional[str] = None,
        duel: Union[bool, str, None] = None,
        **more: Any,
    ) -> Json:
        """Returns a chat completion. You can vote on the answer by the ``id`` that you choose."""
        body = _chat_body(messages, model, id, session_id, duel, more)
        return self._json("POST", "/v1/chat/completions", {**body, "stream": False})

    def stream(
        self,
        messages: Messages,
        *,
        model: str = "auto",
        id: Optional[str] = None,
        session_id: Optional[str] = None,
        duel: Union[bool, str, None] = None,
        **more: Any,
    ) -> Iterator[Json]:
        """Yields the chunks of a chat completion. The first one has ``joust``."""
        body = {**_chat_body(messages, model, id, session_id, duel, more), "stream": True}
        with self._send("POST", "/v1/chat/completions", body) as response:
            for data in _events(response):
                if data == "[DONE]":
                    return
                chunk: Json = json.loads(data)
                if chunk.get("error"):
                    raise ApiError(502, chunk["error"])
                yield chunk
        raise ConnectionFailed("the response ended early")

    def vote(
        self,
        id: str,
        *,
        winner: Optional[Winner] = None,
        rating: Optional[float] = None,
        slot: Optional[int] = None,
        metrics: Optional[Mapping[str, Union[bool, float]]] = None,
        comment: Optional[str] = None,
        voter: Optional[str] = None,
        vote_token: Optional[str] = None,
    ) -> Json:
        """Votes on an answer by its id, by its decision's id, or by the id that you chose.

        ``winner`` is 0, 1, ``"tie"`` or ``"both_bad"``, ``rating`` is from -1 to 1. The vote is on disk
        when this returns. If the gateway cannot store a vote, it is sent again for up to a minute.
        """
        return self._vote(
            id=id,
            winner=winner,
            rating=rating,
            slot=slot,
            metrics=metrics,
            comment=comment,
            voter=voter,
            vote_token=vote_token,
        )

    def vote_on_last(
        self,
        session_id: str,
        *,
        winner: Optional[Winner] = None,
        rating: Optional[float] = None,
        slot: Optional[int] = None,
        metrics: Optional[Mapping[str, Union[bool, float]]] = None,
        comment: Optional[str] = None,
        voter: Optional[str] = None,
    ) -> Json:
        """Votes on the last answer of a session of this key."""
        return self._vote(
            session_id=session_id,
            last=True,
            winner=winner,
            rating=rating,
            slot=slot,
            metrics=metrics,
            comment=comment,
            voter=voter,
        )

    def second(self, id: str, *, vote_token: Optional[str] = None) -> Json:
        """Fetches the second answer of a duel whose response has ``joust.duel == "later"``.

        The second answer has the form of the first one. The call waits until the model has answered.
        """
        headers = {} if vote_token is None else {"x-joust-vote-token": vote_token}
        return self._json("GET", f"/v1/decisions/{quote(id, safe='')}/second", None, headers)

    def decision(self, id: str) -> Json:
        """Returns a decision by its id, by the id of its answer, or by the id that you chose."""
        return self._json("GET", f"/v1/decisions/{quote(id, safe='')}")

    def route(self, messages: Messages, *, model: str = "auto", **more: Any) -> Json:
        """Decides which model should answer, without calling it."""
        return self._json("POST", "/v1/route", _chat_body(messages, model, None, None, None, more))

    def _vote(self, **members: Any) -> Json:
        body = {name: value for name, value in members.items() if value is not None}
        deadline = time.monotonic() + _VOTE_SECONDS
        pause = 0.3
        while True:
            try:
                return self._json("POST", "/v1/feedback", body)
            except (ApiError, ConnectionFailed) as error:
                if isinstance(error, ApiError) and not error.is_temporary:
                    raise
                wait = (error.retry_after if isinstance(error, ApiError) else None) or pause
                if time.monotonic() + wait > deadline:
                    raise
                time.sleep(wait)
                pause = min(5.0, 2 * pause)

    def _json(
        self,
        method: str,
        path: str,
        body: Optional[Mapping[str, Any]] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Json:
        with self._send(method, path, body, headers) as response:
            try:
                result: Json = json.load(response)
            except (OSError, ValueError, http.client.HTTPException) as error:
                raise ConnectionFailed("the response ended early") from error
            return result

    def _send(
        self,
        method: str,
        path: str,
        body: Optional[Mapping[str, Any]] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._base_url + path, data=data, method=method)
        request.add_header("content-type", "application/json")
        if self._api_key is not None:
            request.add_header("authorization", f"Bearer {self._api_key}")
        for name, value in (headers or {}).items():
            request.add_header(name, value)
        try:
            return urllib.request.urlopen(request, timeout=self._timeout)
        except urllib.error.HTTPError as error:
            raise _api_error(error) from None
        except http.client.InvalidURL:
            raise
        except (OSError, http.client.HTTPException) as error:
            raise ConnectionFailed(f"the gateway at {self._base_url} does not respond") from error


#: Time for which a vote is sent again if the gateway cannot store it.
_VOTE_SECONDS = 60.0


def _chat_body(
    messages: Messages,
    model: str,
    id: Optional[str],
    session_id: Optional[str],
    duel: Union[bool, str, None],
    more: Mapping[str, Any],
) -> Json:
    options = {"id": id, "session_id": session_id, "duel": duel, **more.get("joust", {})}
    given = {name: value for name, value in options.items() if value is not None}
    listed: List[Mapping[str, Any]] = (
        [{"role": "user", "content": messages}] if isinstance(messages, str) else list(messages)
    )
    return {**more, "model": model, "messages": listed, **({"joust": given} if given else {})}


def _api_error(response: urllib.error.HTTPError) -> ApiError:
    try:
        body = json.load(response)
    except (OSError, ValueError, http.client.HTTPException):
        body = None
    error = body.get("error") if isinstance(body, dict) else None
    try:
        seconds: Optional[float] = float(response.headers.get("retry-after", ""))
    except ValueError:
        seconds = None
    return ApiError(response.code, error if isinstance(error, dict) else {}, seconds)


def _events(response: Any) -> Iterator[str]:
    """Yields the data of server-sent events."""
    data: List[str] = []
    try:
        for raw in response:
            line = raw.decode().rstrip("\r\n")
            if line.startswith("data:"):
                data.append(line[5:].lstrip(" "))
            elif line == "" and data:
                yield "\n".join(data)
                data = []
    except (OSError, http.client.HTTPException) as error:
        raise ConnectionFailed("the gateway closed the connection") from error
