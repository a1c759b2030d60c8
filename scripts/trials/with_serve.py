"""A page of the server for a form that was sent, over a connection of this machine."""

import threading
import urllib.parse
import urllib.request

import uvicorn

from hra.pages.explore.server import Asked, application, form

server = uvicorn.Server(uvicorn.Config(application(form, Asked("first")), port=0, log_level="error"))
thread = threading.Thread(target=server.run)
thread.start()
while not server.started:
    assert thread.is_alive()
address = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/"
asked = urllib.parse.urlencode({"query": "what is red?", "azimuth": "40", "elevation": "-5"}).encode()
try:
    # The server answers forms of its own page alone.
    sent = urllib.request.Request(address, asked, {"Origin": address.rstrip("/")})
    with urllib.request.urlopen(sent) as answer:
        assert "what is red?" in answer.read().decode()
finally:
    server.should_exit = True
    thread.join()
