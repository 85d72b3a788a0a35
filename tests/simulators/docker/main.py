"""A simulation of `docker compose`, as far as the runbooks use it. No container engine is behind it.

It knows one project: a folder with `compose.yaml` and `.env`, of which only the variable in the image's name
counts. What runs is a real HTTP server that says which version it is. Messages and exit codes follow Docker
Compose v2: progress goes to stderr, an unhealthy service ends `up --wait` with 1.

State (`state.json` in its folder): `tags` that the registry has, `unhealthy` ones, `broken` ones that run but
answer 500, and what runs now.
"""

# ruff: noqa: RET503 -- `_die` never returns

import contextlib
import http.server
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import NoReturn

_IMAGE = re.compile(r"^\s*image:\s*(\S+)$", re.MULTILINE)
_PORT = re.compile(r"^\s*- \"127\.0\.0\.1:(\d+):80\"$", re.MULTILINE)
_VARIABLE = re.compile(r"\$\{(\w+)\}")


def main(folder: Path, argv: list[str]) -> int:
    """Run `docker compose --project-directory DIR COMMAND`."""
    if argv[:2] != ["compose", "--project-directory"]:
        _die("simulation: only  docker compose --project-directory DIR …  is here")
    project, command = Path(argv[2]), argv[3]
    image, port = _read(project)
    match command:
        case "config":
            return 0
        case "ps":
            return _ps(folder)
        case "pull":
            return _pull(folder, image)
        case "up":
            return _up(folder, image, port)
        case _:
            _die(f'unknown docker command: "compose {command}"')


def _die(message: str, code: int = 1) -> NoReturn:
    sys.stderr.write(message + "\n")
    raise SystemExit(code)


def _state(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / "state.json").read_text())
    return found


def _read(project: Path) -> tuple[str, int]:
    file = project / "compose.yaml"
    if not file.is_file():
        _die("no configuration file provided: not found", 14)
    text = file.read_text()
    image, port = _IMAGE.search(text), _PORT.search(text)
    if image is None or port is None:
        _die(f"validating {file}: services.web additional properties 'imgae' not allowed", 15)
    env = dict(line.split("=", 1) for line in (project / ".env").read_text().splitlines() if "=" in line)
    return _VARIABLE.sub(lambda match: env.get(match[1], ""), image[1]), int(port[1])


def _ps(folder: Path) -> int:
    running = _state(folder).get("running")
    if running:
        row = {
            "Name": "app-web-1",
            "Service": "web",
            "State": "running",
            "Image": running,
            "Health": "healthy",
        }
        print(json.dumps(row))
    return 0


def _pull(folder: Path, image: str) -> int:
    sys.stderr.write(" web Pulling \n")
    if image.rpartition(":")[2] not in _state(folder)["tags"]:  # type: ignore[operator] # a list
        sys.stderr.write(" web Error manifest unknown\n")
        _die(
            f"Error response from daemon: manifest for {image} not found: manifest unknown: manifest unknown"
        )
    sys.stderr.write(" web Pulled \n")
    return 0


def _up(folder: Path, image: str, port: int) -> int:
    state = _state(folder)
    tag = image.rpartition(":")[2]
    if state.get("running") != image:
        _stop(folder)
        if tag not in state["tags"]:  # type: ignore[operator] # a list
            _die(f"Error response from daemon: manifest for {image} not found: manifest unknown")
        sys.stderr.write(" Container app-web-1  Recreate\n Container app-web-1  Recreated\n")
        _serve_in_background(folder, port, tag, "500" if tag in state["broken"] else "200")  # type: ignore[operator]
        (folder / "state.json").write_text(json.dumps({**state, "running": image}))
    sys.stderr.write(" Container app-web-1  Waiting\n")
    if tag in state["unhealthy"]:  # type: ignore[operator] # a list
        _die(" Container app-web-1  Error\ncontainer app-web-1 is unhealthy")
    sys.stderr.write(" Container app-web-1  Healthy\n")
    return 0


def _stop(folder: Path) -> None:
    pid = folder / "web.pid"
    if pid.is_file():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(int(pid.read_text()), signal.SIGKILL)
        pid.unlink()


def _serve_in_background(folder: Path, port: int, tag: str, status: str) -> None:
    server = subprocess.Popen(
        [sys.executable, "-I", __file__, "--serve", str(port), tag, status],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={"PATH": os.defpath},
        start_new_session=True,
    )
    (folder / "web.pid").write_text(str(server.pid))
    for _ in range(200):
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=1).close()
            return
        if server.poll() is not None:
            _die("Error response from daemon: driver failed programming external connectivity")
        time.sleep(0.02)


def _serve(port: int, tag: str, status: int) -> None:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(f"version {tag}\n".encode())

    http.server.HTTPServer(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    if sys.argv[1] == "--serve":
        _serve(int(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
