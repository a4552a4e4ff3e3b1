"""Servers on loopback: the site over the test's own database, and one that answers as told."""

import contextlib
import functools
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextlib.contextmanager
def serve_site():
    """The site's address; it sees the rows of the running test, which is rolled back as ever."""
    from django.db import connections
    from django.test.testcases import LiveServerThread, _StaticFilesHandler

    class QuickToEnd(LiveServerThread):
        def _create_server(self, *args, **options):
            server = super()._create_server(*args, **options)
            server.serve_forever = functools.partial(server.serve_forever, 0.02)
            return server

    connection = connections["default"]
    connection.inc_thread_sharing()
    thread = QuickToEnd(
        "127.0.0.1", _StaticFilesHandler, connections_override={"default": connection}
    )
    thread.daemon = True
    thread.start()
    thread.is_ready.wait()
    try:
        if thread.error:
            raise thread.error
        yield f"http://127.0.0.1:{thread.port}"
    finally:
        thread.terminate()
        connection.dec_thread_sharing()


class Told:
    """A server that gives these answers, in turn, the last one for ever: (status, headers, body).

    `asked` lists (method, path, headers, body) of what it was asked.
    """

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    def next(self):
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextlib.contextmanager
def serve_told(*answers):
    """(address, Told)."""
    told = Told(*answers)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self):
            length = int(self.headers.get("Content-Length") or 0)
            told.asked.append(
                (self.command, self.path, dict(self.headers), self.rfile.read(length))
            )
            status, headers, body = told.next()
            self.send_response(status)
            for name, value in ({"Content-Length": str(len(body))} | headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
            self.close_connection = True

        do_GET = do_POST = answer

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", told
    finally:
        server.shutdown()
        server.server_close()
