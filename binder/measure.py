"""What a class needs: ``python binder/measure.py [KERNELS] [LESSON]`` runs a lesson in many kernels at once.

Memory is what the kernels have to themselves, with their part of what they share (PSS, on Linux).
"""

from __future__ import annotations

import asyncio
import os
import platform
import sys
import time

import nbformat
import numpy
import psutil
from nbclient import NotebookClient

from autokit.base.version import __version__
from autokit.classroom.lessons import lessons_of


async def main(count: int, lesson: int) -> None:
    """Run the lesson once, then in all kernels, and print time and memory."""
    alone, one, _ = await run(1, lesson)
    seconds, together, largest = await run(count, lesson)
    print(f"autokit {__version__}, Python {platform.python_version()}, numpy {numpy.__version__},", end=" ")
    print(f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {time.strftime('%Y-%m-%d')}")
    print(f"lesson {lesson}: {alone:.0f} s alone, {seconds:.0f} s in {count} kernels at once")
    print(f"memory at most: {one:.0f} MB alone; of {count} {together:.0f} MB, {largest:.0f} MB the largest")


async def run(count: int, lesson: int) -> tuple[float, float, float]:
    """Seconds until the last kernel is done, and in MB the most of all kernels together and of one."""
    books = [nbformat.read(lessons_of([lesson])[0], as_version=4) for _ in range(count)]
    clients = [NotebookClient(book, timeout=600, kernel_name="python3") for book in books]
    start, most, largest = time.monotonic(), 0.0, 0.0
    work = asyncio.gather(*[client.async_execute() for client in clients])
    while not work.done():
        sizes = [pss(each) / 2**20 for each in psutil.Process().children(recursive=True)]
        most, largest = max(most, sum(sizes)), max([largest, *sizes])
        await asyncio.sleep(0.3)
    work.result()
    return time.monotonic() - start, most, largest


def pss(process: psutil.Process) -> int:
    """The bytes of a process; 0 once it has gone."""
    try:
        return process.memory_full_info().pss
    except psutil.Error:
        return 0


if __name__ == "__main__":
    os.environ["AUTOKIT_PROGRESS"] = ""
    numbers = [int(each) for each in sys.argv[1:]]
    asyncio.run(main(*[*numbers, *(10, 7)[len(numbers) :]]))
