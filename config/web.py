"""The web process: uvicorn on a socket that its parent opened. `python -m config.web FILE_DESCRIPTOR`."""

from __future__ import annotations

import socket
import sys

import uvicorn

GRACE_SECONDS = 3


def main(descriptor: int) -> None:
    """Serve until SIGTERM. Proxies named by FORWARDED_ALLOW_IPS may say who the client is."""
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
