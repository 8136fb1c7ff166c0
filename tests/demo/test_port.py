import socket

from sentinel.demo.port import free_ports


def test_ports_are_distinct_and_free():
    ports = free_ports(5)
    assert len(set(ports)) == 5
    for port in ports:
        with socket.socket() as server:
            server.bind(("127.0.0.1", port))
