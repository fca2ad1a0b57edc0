"""The command ``autokit`` opens the lessons, copies them for a class, and says what works on this machine."""

from __future__ import annotations

import os
import platform
import socket
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from autokit.base.version import __version__


class Failure(Exception):
    """Something that the user can mend: the message says what and how."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with ``arguments`` (by default the program's own) and return its exit status.

    0: done.  1: it could not be done, and standard error says why.  2: the arguments made no sense.
    """
    for stream in (sys.stdout, sys.stderr):
        # A name that the terminal cannot show must not end the program.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options) or 0)
    except Failure as failure:
        print(f"autokit: {failure}", file=sys.stderr)
        return 1


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="autokit", description="Learn automatic differentiation by watching it happen."
    )
    parser.add_argument("--version", action="version", version=f"autokit {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    lab = commands.add_parser("lab", help="open JupyterLab on a copy of the lessons, at the first one")
    lab.add_argument(
        "--dir",
        type=Path,
        default=Path("autokit-lessons"),
        help="where your copies are (default: ./%(default)s); what you changed is never overwritten",
    )
    lab.add_argument("--solutions", action="store_true", help="copy the solutions of the exercises, too")
    lab.add_argument("--port", type=_port, help="the port to serve at (default: 8888, or the next free one)")
    lab.add_argument("--no-browser", action="store_true", help="print the address and open no browser")
    lab.set_defaults(run=_lab)

    lessons = commands.add_parser("lessons", help="copy the lessons to a folder")
    lessons.add_argument("dir", type=Path, metavar="DIR", help="the folder, made where it is missing")
    lessons.add_argument("numbers", type=int, metavar="N", nargs="*", help="their numbers (default: all)")
    lessons.add_argument("--solutions", action="store_true", help="copy solutions and outputs, too")
    lessons.set_defaults(run=_lessons)

    reference = commands.add_parser(
        "reference", help="write the reference: what every function computes, and its derivative"
    )
    reference.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        nargs="?",
        default=Path("autokit-reference.html"),
        help="the page to write, for a browser or JupyterLab (default: ./%(default)s)",
    )
    reference.set_defaults(run=_reference)

    progress = commands.add_parser("progress", help="say what you have solved")
    progress.set_defaults(run=_progress)

    solution = commands.add_parser("solution", help="tell the solution of an exercise")
    solution.add_argument("exercise", metavar="LESSON.N", help="as 5.2")
    solution.add_argument("--now", action="store_true", help="even without a try")
    solution.set_defaults(run=_solution)

    doctor = commands.add_parser("doctor", help="say what works here, and how to get what does not")
    doctor.set_defaults(run=_doctor)
    return parser


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise ArgumentTypeError(f"{text!r} is no port: give a number from 1 to 65535")
    return int(text)


def _lab(options: Namespace) -> None:
    if find_spec("jupyterlab") is None:
        raise Failure('JupyterLab is not installed; in the folder of autokit: pip install ".[lab]"')
    settings = [f"--ServerApp.root_dir={options.dir.resolve()}"]
    if options.port is not None:
        _ask_for_port(options.port)
        settings += [f"--ServerApp.port={options.port}", "--ServerApp.port_retries=0"]
    if options.no_browser:
        settings.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        settings.append("--allow-root")  # the only user that a container has
    first = _copy(options.dir, options.solutions)
    # The lesson alone, without the list of files beside it: pictures have the window's whole width then.
    settings.append(f"--LabApp.default_url=/doc/tree/{first}")
    # JupyterLab's question about news would stand before the player's controls until it is answered.
    ours = str(Path(__file__).parent / "classroom" / "jupyter")
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(
        filter(None, [ours, os.environ.get("JUPYTER_CONFIG_PATH")])
    )

    from jupyterlab.labapp import main as serve

    sys.argv[0] = "jupyter-lab"  # the name by which the server's own messages call it
    serve(settings)


def _ask_for_port(port: int) -> None:
    with socket.socket() as probe:
        if os.name == "posix":  # as servers do, so that a port that was just given back counts as free
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except PermissionError:
            raise Failure(f"port {port} is reserved for the system: choose one from 1024 up") from None
        except OSError:
            raise Failure(
                f"port {port} is in use: choose another, or leave --port out to take the next free one"
            ) from None


def _lessons(options: Namespace) -> None:
    _copy(options.dir, options.solutions, options.numbers)


def _copy(folder: Path, solutions: bool, numbers: Sequence[int] = ()) -> str:
    """Copy the lessons, say so, and return the name of the first one."""
    from autokit.classroom.lessons import Obstacle, copy_lessons

    try:
        report = copy_lessons(folder, not solutions, numbers)
    except (LookupError, Obstacle) as error:
        raise Failure(str(error)) from None
    except (FileExistsError, NotADirectoryError):
        raise Failure(f"{folder} is a file, or lies below one: name a folder") from None
    except PermissionError:
        raise Failure(f"{folder} cannot be written to: name a folder of your own") from None
    except OSError as error:
        raise Failure(f"the lessons could not be copied to {folder}: {error.strerror or error}") from None
    print(f"Lessons in {folder.resolve()}:")
    for copied in report:
        print(f"  {copied.name}: {copied.message}")
    sys.stdout.flush()
    return report[0].name


def _reference(options: Namespace) -> None:
    from autokit.base.files import replacing
    from autokit.classroom.reference import page

    try:
        with replacing(options.file) as file:
            file.write(page().encode())
    except (OSError, RuntimeError) as error:
        raise Failure(f"{options.file} cannot be written: {error}") from None
    print(f"The reference is in {options.file.resolve()}")


def _progress(options: Namespace) -> None:
    from autokit.classroom.progress import table

    print(table())


def _solution(options: Namespace) -> None:
    from autokit.classroom.progress import solution

    try:
        print(solution(options.exercise, options.now))
    except LookupError as error:
        raise Failure(str(error)) from None


def _doctor(options: Namespace) -> int:
    from autokit.classroom.doctor import examine

    print(f"autokit {__version__} on {platform.system()} {platform.machine()}\n")
    lacking = []
    for finding in examine():
        print(finding, flush=True)
        if not finding.works and "(optional)" not in finding.part.name:
            lacking.append(finding.part)
    if any(part.needed for part in lacking):
        print("\nSomething needed is missing: see above.")
        return 1
    names = ", ".join(part.name for part in lacking)
    print(f"\nThe engine works; not here: {names}." if lacking else "\nEverything needed works.")
    return 0
