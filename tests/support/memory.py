"""What the heap of a running OpenSM holds, and whether a series of such figures grows.

    heap = memory.Heap(directory)                      # builds support/heap.c
    with opensm.start(sim, directory, preload=heap.preload, environment=heap.environment) as sm:
        heap.ask()                                     # {"in_use": bytes, "blocks": …, "held": bytes}

in_use is what was allocated and not freed, held what malloc has from the kernel: the difference is holes and what it
keeps for later. Resident memory (sm.rss()) is what of that was touched, and code, stacks and libraries' data.
"""
import json
import os
import shlex
import statistics
import subprocess
import time

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "heap.c")


class Heap:
    def __init__(self, directory):
        os.makedirs(directory, exist_ok=True)
        self.fifo = os.path.join(os.path.abspath(directory), "heap")
        library = os.path.join(os.path.abspath(directory), "libheap.so")
        subprocess.run([*shlex.split(os.environ.get("CC", "cc")), "-O2", "-shared", "-fPIC", "-o", library, SOURCE,
                        "-lpthread"], check=True)
        os.mkfifo(self.fifo)
        self.preload, self.environment = [library], {"SELVAGE_HEAP": self.fifo}

    def ask(self, trim=False, timeout=20):
        told = self.fifo + ".told"
        if os.path.exists(told):
            os.unlink(told)
        with open(self.fifo, "wb", buffering=0) as fifo:
            fifo.write(b"t" if trim else b"?")
        deadline = time.time() + timeout
        while not os.path.exists(told):
            if time.time() > deadline:
                raise AssertionError("OpenSM does not tell of its heap")
            time.sleep(0.002)
        with open(told) as file:
            return json.load(file)


def quarters(series):
    """The medians of four quarters of a series, oldest first."""
    count = len(series)
    return [statistics.median(series[count * i // 4:count * (i + 1) // 4]) for i in range(4)]


def growth(series):
    """From the second quarter (the first is warming up) to the last."""
    medians = quarters(series)
    return medians[3] - medians[1]
