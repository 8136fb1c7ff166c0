# SPDX-License-Identifier: Apache-2.0
"""A request's deadline, with a clock of our own."""

import io
import socket

import pytest
from nccl_endpoint.timed_reader import TimedReader


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_bytes_one_by_one_do_not_put_the_deadline_off() -> None:
    clock = Clock()
    client, server = socket.socketpair()
    with client, server:
        reader = TimedReader(server, 10.0, 4.0, clock)
        buffered = io.BufferedReader(reader)
        clock.now += 1000.0  # between requests it is the socket that waits
        for _ in range(4):
            client.sendall(b"x")
            assert buffered.read1(1) == b"x"
            clock.now += 1.0
        client.sendall(b"x")
        with pytest.raises(TimeoutError):
            buffered.read1(1)
        reader.next_request()
        assert buffered.read1(1) == b"x"


def test_silence_is_waited_out_for_so_long_and_no_longer() -> None:
    clock = Clock()
    client, server = socket.socketpair()
    with client, server:
        reader = TimedReader(server, 10.0, 4.0, clock)
        client.sendall(b"xy")
        reader.readinto(bytearray(1))
        assert server.gettimeout() == 10.0
        clock.now += 1.0
        reader.readinto(bytearray(1))
        assert server.gettimeout() == 3.0
