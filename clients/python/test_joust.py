"""Tests of the client against a gateway with the sandbox, whose address is in JOUST_URL.

The router `auto` of this gateway makes a second answer for every request (duels.mode: true).
"""

import http.client
import os
import socket
import threading
import unittest
from http.server import BaseHTTPRequestHandler, HTTPServer

from joust import ApiError, ConnectionFailed, Joust

URL = os.environ.get("JOUST_URL")


@unittest.skipIf(URL is None, "JOUST_URL does not name a gateway")
class AgainstGateway(unittest.TestCase):
    def setUp(self) -> None:
        assert URL is not None
        self.joust = Joust(URL)

    def test_votes_by_an_id_of_its_own(self) -> None:
        answer = self.joust.chat("Why is the sky blue?", id="py/1 ä")
        self.assertEqual(answer["joust"]["id"], "py/1 ä")
        receipt = self.joust.vote("py/1 ä", rating=1, voter="ann", comment="fine")
        self.assertEqual(receipt["id"], answer["joust"]["decision_id"])
        self.assertEqual(receipt["status"], "logged")
        shown = self.joust.decision("py/1 ä")
        self.assertEqual([vote.get("rating") for vote in shown["votes"]], [1, None])

    def test_an_id_is_used_once(self) -> None:
        self.joust.chat("Hi", id="py-2")
        with self.assertRaises(ApiError) as raised:
            self.joust.chat("Hi", id="py-2")
        error = raised.exception
        self.assertEqual((error.status, error.code), (409, "id_in_use"))
        self.assertFalse(error.is_temporary)
        self.assertIn("choose a new id", str(error))

    def test_votes_on_the_last_answer_of_a_session(self) -> None:
        self.joust.chat("One?", session_id="py-s", duel=False)
        last = self.joust.chat("Two?", session_id="py-s", duel=False)
        receipt = self.joust.vote_on_last("py-s", rating=-0.5)
        self.assertEqual(receipt["id"], last["joust"]["decision_id"])

    def test_fetches_the_second_answer_and_compares(self) -> None:
        first = self.joust.chat([{"role": "user", "content": "Why do cats purr?"}])
        self.assertEqual(first["joust"]["duel"], "later")
        anonymous = Joust(URL or "")
        token = first["joust"]["vote_token"]
        second = anonymous.second(first["id"], vote_token=token)
        self.assertEqual(second["joust"]["slot"], 1)
        texts = [one["choices"][0]["message"]["content"] for one in (first, second)]
        self.assertNotEqual(texts[0], texts[1])
        receipt = self.joust.vote(first["id"], winner=1)
        self.assertEqual(len(receipt["models"]), 2)

    def test_streams(self) -> None:
        chunks = list(self.joust.stream("Why?", duel=True, temperature=0.5))
        self.assertTrue(chunks[0]["joust"]["duel"])
        indices = {choice["index"] for chunk in chunks for choice in chunk["choices"]}
        self.assertEqual(indices, {0, 1})
        self.joust.vote(chunks[0]["joust"]["decision_id"], winner="tie")

    def test_decides_without_an_answer(self) -> None:
        self.assertEqual(self.joust.route("Why?")["object"], "decision")


class Failing(BaseHTTPRequestHandler):
    """Refuses the first request with 503, then accepts; a stream ends early."""

    requests = 0

    def do_POST(self) -> None:  # noqa: N802
        self.rfile.read(int(self.headers["content-length"]))
        Failing.requests += 1
        if self.path == "/v1/chat/completions":
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'data: {"choices": []}\n\n')
        elif Failing.requests == 1:
            self.send_response(503)
            self.send_header("retry-after", "0")
            self.end_headers()
            self.wfile.write(b'{"error": {"message": "down", "code": "store_unavailable"}}')
        else:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"id": "d1", "status": "logged"}')

    def log_message(self, *_: object) -> None:
        pass


def answered_with(response: bytes) -> "tuple[Joust, threading.Thread]":
    """A client whose only request gets these bytes, and then the end of the connection."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with listener, listener.accept()[0] as connection:
            connection.recv(65536)
            connection.sendall(response)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    return Joust(f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=10), thread


class AgainstDamage(unittest.TestCase):
    def test_reports_what_is_no_response(self) -> None:
        joust, thread = answered_with(b"nonsense\r\n\r\n")
        with self.assertRaises(ConnectionFailed):
            joust.decision("d1")
        thread.join()

    def test_reports_a_response_that_is_cut(self) -> None:
        joust, thread = answered_with(b'HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"id":')
        with self.assertRaises(ConnectionFailed):
            joust.decision("d1")
        thread.join()

    def test_reports_an_error_that_is_cut(self) -> None:
        joust, thread = answered_with(b'HTTP/1.1 404 No\r\ncontent-length: 99\r\n\r\n{"error":')
        with self.assertRaises(ApiError) as raised:
            joust.decision("d1")
        self.assertEqual(raised.exception.status, 404)
        thread.join()

    def test_reports_a_stream_that_is_cut_within_a_chunk(self) -> None:
        head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
        joust, thread = answered_with(head + b'63\r\ndata: {"choices": []}\n\ndata: ')
        with self.assertRaises(ConnectionFailed):
            list(joust.stream("Why?"))
        thread.join()

    def test_accepts_chunks_whose_error_is_null(self) -> None:
        head = b"HTTP/1.1 200 OK\r\n\r\n"
        joust, thread = answered_with(head + b'data: {"error": null}\n\ndata: [DONE]\n\n')
        self.assertEqual(list(joust.stream("Why?")), [{"error": None}])
        thread.join()

    def test_reports_an_address_that_cannot_be_used_at_once(self) -> None:
        with self.assertRaises(http.client.InvalidURL):
            Joust("http://127.0.0.1:port").vote("d1", rating=1)


class AgainstFaults(unittest.TestCase):
    def setUp(self) -> None:
        self.server = HTTPServer(("127.0.0.1", 0), Failing)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.joust = Joust(f"http://127.0.0.1:{self.server.server_port}")
        Failing.requests = 0

    def tearDown(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def test_sends_a_vote_again_until_it_is_stored(self) -> None:
        self.assertEqual(self.joust.vote("d1", rating=1)["status"], "logged")
        self.assertEqual(Failing.requests, 2)

    def test_reports_a_stream_that_ends_early(self) -> None:
        with self.assertRaises(ConnectionFailed):
            list(self.joust.stream("Why?"))

    def test_reports_a_gateway_that_does_not_respond(self) -> None:
        port = self.server.server_port
        self.tearDown()
        with self.assertRaises(ConnectionFailed):
            Joust(f"http://127.0.0.1:{port}").decision("d1")
        self.setUp()


if __name__ == "__main__":
    unittest.main()
