"""Two ranks, of which one ends as the first argument says, while the other waits for it."""

import os
import signal
import sys
import time
from datetime import timedelta

import autokit as torch
from autokit import distributed as dist
from autokit import nn


def pass_through(model: nn.Module, only: int | None = None) -> None:
    y = model(torch.ones(2, 3)) if only is None else model.module[only](torch.ones(2, 3))
    y.sum().backward()


if __name__ == "__main__":
    how = sys.argv[1]
    dist.init_process_group("mpi", timeout=timedelta(seconds=0.5 if how == "late" else 60))
    rank = dist.get_rank()
    print(f"pid {os.getpid()}", flush=True)
    dist.barrier()
    if how in ("backward", "uneven"):
        model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1)))
        pass_through(model)
        if how == "backward":
            model(torch.ones(2, 3))
            pass_through(model, only=0)
            pass_through(model)
        elif rank == 0:
            pass_through(model)
    elif rank == 1:
        match how:
            case "raise":
                raise RuntimeError("broken here")
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            case "terminate":
                os.kill(os.getpid(), signal.SIGTERM)
            case "exit":
                sys.exit()
            case "late":
                time.sleep(30)
    if how == "call" and rank == 0 or how == "late":
        dist.barrier()
    elif how not in ("backward", "uneven"):
        dist.all_reduce(torch.ones(3))
        time.sleep(30)
