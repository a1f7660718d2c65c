"""Frames between an engine and a process beside it: long ones, those that arrive in parts, and those that never end."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from stoker import __version__
from stoker.base.context import RequestContext
from stoker.contract.request import by_name
from stoker.contract.stacks import ShowTemplate
from stoker.rpc.pipes import PipeClient, ProcessEnded

CONTEXT = RequestContext("req-1", "u", "alice", "p")
REQUEST = ShowTemplate(ref=by_name("stack"))
SECONDS = 60.0


@contextmanager
def connected() -> Iterator[tuple[PipeClient, socket.socket]]:
    """A client that receives, and the other end of its connection."""
    ours, theirs = socket.socketpair()
    client, ended = PipeClient(ours), threading.Event()
    receiving = threading.Thread(target=client.receive, args=(ended.is_set, 0.01))
    with theirs:
        receiving.start()
        yield client, theirs
        ended.set()
    receiving.join(SECONDS)
    assert not receiving.is_alive()


def number_of_call(theirs: socket.socket) -> int:
    """The number of the next call that has been sent."""
    (size,) = struct.unpack("!i", theirs.recv(4, socket.MSG_WAITALL))
    line, _, _ = theirs.recv(size, socket.MSG_WAITALL).partition(b"\n")
    return int(json.loads(line)["call"])


def reply_to(call: int, answer: object) -> bytes:
    line = json.dumps({"reply": call, "kind": "answer", "release": __version__})
    frame = f"{line}\n{json.dumps(answer)}".encode()
    return struct.pack("!i", len(frame)) + frame


@pytest.mark.parametrize("first", [1, 3, 4, 50, 400_000])
def test_an_answer_that_arrives_in_parts_is_received_whole(first: int) -> None:
    answer = {"description": "\u00e4" * 1_000_000}
    with connected() as (client, theirs), ThreadPoolExecutor(1) as threads:
        for _ in range(2):
            called = threads.submit(client.call, CONTEXT, REQUEST, SECONDS)
            frame = reply_to(number_of_call(theirs), answer)
            theirs.sendall(frame[:first])
            theirs.sendall(frame[first:])
            assert called.result(SECONDS) == answer


@pytest.mark.parametrize("sent", [0, 2, 4, 100_000])
def test_a_call_whose_process_ends_before_the_answer_does_is_given_up(sent: int) -> None:
    with connected() as (client, theirs), ThreadPoolExecutor(1) as threads:
        called = threads.submit(client.call, CONTEXT, REQUEST, SECONDS)
        frame = reply_to(number_of_call(theirs), {"description": "x" * 200_000})
        theirs.sendall(frame[:sent])
        theirs.close()
        with pytest.raises(ProcessEnded):
            called.result(SECONDS)
        with pytest.raises(ProcessEnded):
            client.call(CONTEXT, REQUEST, SECONDS)


def test_calls_are_answered_in_any_order() -> None:
    with connected() as (client, theirs), ThreadPoolExecutor(2) as threads:
        first = threads.submit(client.call, CONTEXT, REQUEST, SECONDS)
        one = number_of_call(theirs)
        second = threads.submit(client.call, CONTEXT, REQUEST, SECONDS)
        two = number_of_call(theirs)
        theirs.sendall(reply_to(two, {"n": 2}) + reply_to(one, {"n": 1}))
        assert (first.result(SECONDS), second.result(SECONDS)) == ({"n": 1}, {"n": 2})
