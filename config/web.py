"""The web process: uvicorn on a socket that its parent opened. `python -m config.web FILE_DESCRIPTOR`."""

from __future__ import annotations

import socket
import sys

import uvicorn

GRACE_SECONDS = 3
# Python lets a thread that computes run on for 5 ms before another gets its turn. A request passes between the event loop
# and its thread several times, and each pass would wait that long behind a page that is being rendered.
SWITCH_SECONDS = 0.0005


def main(descriptor: int) -> None:
    """Serve until SIGTERM. Proxies named by FORWARDED_ALLOW_IPS may say who the client is."""
    sys.setswitchinterval(SWITCH_SECONDS)
    config = uvicorn.Config(
        "config.asgi:application",
        access_log=False,
        log_level="warning",
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=descriptor)])


if __name__ == "__main__":
    main(int(sys.argv[1]))
