"""The sink against real Alertmanagers, and against servers that misbehave."""

import contextlib
import json
import re
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from pytest_httpserver import HTTPServer
from servers.alertmanager import alertmanager
from servers.incidents import incident
from servers.process import free_port, wait_until
from servers.tls import CERTIFICATE, KEY, server_context
from servers.webhook import Webhook, webhook
from werkzeug import Request, Response

from sentinel.config.alertmanager import AlertmanagerSettings
from sentinel.config.prometheus import PrometheusSettings
from sentinel.daemon.dispatch import Dispatch
from sentinel.incident.tracker import Changes
from sentinel.model.incident import FormerTier, Incident, Tier
from sentinel.sink.alert import Alert, AlertWriter
from sentinel.sink.alertmanager import AlertmanagerSink
from sentinel.sink.batch import BODY_BYTES, bodies
from sentinel.sink.interface import Delivery, Receipt

PATH = "/api/v2/alerts"


def settings(*urls: str, **more: object) -> AlertmanagerSettings:
    return AlertmanagerSettings.model_validate({"urls": urls, **more})


def alert_of(one: Incident, now: float) -> Alert:
    return AlertWriter(AlertmanagerSettings(), PrometheusSettings(), 30.0).write(one, now)


def recent(**changes: object) -> Incident:
    return incident(started_at=time.time() - 120.0, **changes)


def deliver(sink: AlertmanagerSink, *alerts: Alert) -> tuple[Delivery, ...]:
    """Send, and wait for what becomes of it; by replica."""
    sink.send(alerts)
    sink.settle(30.0)
    return tuple(sorted(sink.outcomes(), key=lambda delivery: delivery.url))


@pytest.fixture
def hook() -> Iterator[Webhook]:
    with webhook() as received:
        yield received


def test_an_incident_fires_and_is_resolved_at_every_replica(tmp_path: Path, hook: Webhook) -> None:
    with (
        alertmanager(tmp_path / "a", hook.url) as a,
        alertmanager(tmp_path / "b", hook.url) as b,
        AlertmanagerSink(settings(a, b)) as sink,
    ):
        one = recent()
        assert [d.receipt for d in deliver(sink, alert_of(one, time.time()))] == [Receipt.ACCEPTED] * 2
        wait_until(lambda: len(hook.find("firing", alertname="NcclRankLate", rank="3")) == 2, "both fire")
        (first, second) = hook.find("firing")
        assert first["annotations"]["summary"].startswith("Rank 3")
        assert first["fingerprint"] == second["fingerprint"]
        for url in (a, b):
            (shown,) = httpx.get(url + PATH).json()
            assert shown["startsAt"] == alert_of(one, 0.0 + time.time()).starts_at

        ended = replace(one, ended_at=time.time() - 1.0, cost_ratio=0.2)
        assert [d.receipt for d in deliver(sink, alert_of(ended, time.time()))] == [Receipt.ACCEPTED] * 2
        wait_until(lambda: len(hook.find("resolved", rank="3")) == 2, "both resolve")


def test_a_tier_that_rises_resolves_one_alert_and_fires_the_other(tmp_path: Path, hook: Webhook) -> None:
    with alertmanager(tmp_path, hook.url) as url, AlertmanagerSink(settings(url)) as sink:
        writer = AlertWriter(settings(url), PrometheusSettings(), 30.0)
        small = recent(tier=Tier.P2)
        dispatch = Dispatch(writer, sink, [small], 60.0, 30.0)
        dispatch.send(time.time())
        wait_until(lambda: len(hook.find("firing", tier="P2")) == 1, "it fires as P2")
        large = replace(small, tier=Tier.P1, former_tiers=(FormerTier(Tier.P2, time.time()),))
        dispatch.update(Changes(ongoing=(large,), raised=(large,)))
        dispatch.send(time.time())
        wait_until(lambda: len(hook.find("resolved", tier="P2")) == 1, "the P2 is resolved")
        wait_until(lambda: len(hook.find("firing", tier="P1")) == 1, "it fires as P1")
        (shown,) = httpx.get(url + PATH).json()
        assert (shown["labels"]["tier"], shown["startsAt"]) == ("P1", alert_of(large, time.time()).starts_at)
        # A daemon that starts anew says the same again, and nobody is told twice.
        again = Dispatch(writer, sink, [large], 60.0, 30.0)
        again.send(time.time())
        again.update(Changes(ended=(replace(large, ended_at=time.time()),)))
        again.send(time.time())
        wait_until(lambda: len(hook.find("resolved", tier="P1")) == 1, "the P1 is resolved")
        told = [(alert["status"], alert["labels"]["tier"]) for alert in hook.alerts]
        assert sorted(told) == [("firing", "P1"), ("firing", "P2"), ("resolved", "P1"), ("resolved", "P2")]


def test_an_incident_that_comes_back_fires_again_with_its_old_start(tmp_path: Path, hook: Webhook) -> None:
    with alertmanager(tmp_path, hook.url) as url, AlertmanagerSink(settings(url)) as sink:
        one = recent()
        deliver(sink, alert_of(one, time.time()))
        wait_until(lambda: len(hook.find("firing")) == 1, "it fires")
        deliver(sink, alert_of(replace(one, ended_at=time.time() - 5.0), time.time()))
        wait_until(lambda: len(hook.find("resolved")) == 1, "it is resolved")
        deliver(sink, alert_of(replace(one, recurrences=1), time.time()))
        wait_until(lambda: len(hook.find("firing")) == 2, "it fires again")
        first, second = hook.find("firing")
        assert (first["startsAt"], first["fingerprint"]) == (second["startsAt"], second["fingerprint"])


def test_a_dead_replica_keeps_nothing_from_the_living(tmp_path: Path, hook: Webhook) -> None:
    port = free_port()
    with alertmanager(tmp_path / "a", hook.url) as alive:
        dead = f"http://127.0.0.1:{port}"
        with AlertmanagerSink(settings(dead, alive)) as sink:
            one = alert_of(recent(), time.time())
            found = {delivery.url: delivery for delivery in deliver(sink, one)}
            assert (found[dead].receipt, found[alive].receipt) == (Receipt.UNREACHABLE, Receipt.ACCEPTED)
            assert "refused" in found[dead].error
            with alertmanager(tmp_path / "b", hook.url, port):
                assert [d.receipt for d in deliver(sink, one)] == [Receipt.ACCEPTED] * 2
                wait_until(lambda: len(hook.find("firing")) == 2, "the revived replica fires too")


def test_of_a_batch_the_valid_alerts_are_taken(tmp_path: Path, hook: Webhook) -> None:
    good = alert_of(recent(), time.time())
    bad = replace(good, labels={"not a label name": "x"})
    with alertmanager(tmp_path, hook.url) as url, AlertmanagerSink(settings(url)) as sink:
        (delivery,) = deliver(sink, bad, good)
        assert delivery.receipt is Receipt.PARTIAL
        assert "HTTP 400" in delivery.error
        wait_until(lambda: len(hook.find("firing", rank="3")) == 1, "the valid one fires")


@pytest.mark.parametrize("status", [401, 404, 500, 503])
def test_a_refusal_is_said_in_the_server_s_words(httpserver: HTTPServer, status: int) -> None:
    httpserver.expect_request(PATH).respond_with_data("no such luck", status=status)
    with AlertmanagerSink(settings(httpserver.url_for(""))) as sink:
        (delivery,) = deliver(sink, alert_of(incident(), time.time()))
    assert delivery.receipt is Receipt.REFUSED
    assert delivery.error == f"HTTP {status}: no such luck"


def test_a_silent_replica_holds_nobody_up_and_gets_the_newest_when_it_is_done() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        with AlertmanagerSink(settings(url, timeout="30s")) as sink:
            sink.send([numbered(0)])
            first, _ = server.accept()
            assert b'"rank":"0"' in read_request(first)
            for number in range(1, 10):
                sink.send([numbered(number)])  # returns at once: this test ends long before the timeout
            superseded = sink.outcomes()
            assert [delivery.receipt for delivery in superseded] == [Receipt.SUPERSEDED] * 8
            answer(first)
            second, _ = server.accept()
            assert b'"rank":"9"' in read_request(second)
            answer(second)
            sink.settle(30.0)
            assert [delivery.receipt for delivery in sink.outcomes()] == [Receipt.ACCEPTED] * 2


def test_a_silent_replica_is_given_up_after_the_timeout() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        with AlertmanagerSink(settings(url, timeout="200ms")) as sink:
            (delivery,) = deliver(sink)
    assert delivery.receipt is Receipt.UNREACHABLE
    assert "Timeout" in delivery.error


def test_an_answer_that_does_not_end_is_cut() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        with AlertmanagerSink(settings(url, timeout="10s")) as sink:
            sink.send([])
            connection, _ = server.accept()
            read_request(connection)
            connection.sendall(b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 999999999\r\n\r\n")
            with contextlib.suppress(OSError):  # it hangs up
                while True:
                    connection.sendall(b"no such luck, " * 1000)
            sink.settle(30.0)
            (delivery,) = sink.outcomes()
            connection.close()
    assert delivery.receipt is Receipt.REFUSED
    assert delivery.error.startswith("HTTP 500: no such luck, no")
    assert len(delivery.error) < 400


def test_an_answer_that_comes_byte_by_byte_is_cut_off_by_the_next_delivery() -> None:
    """Each piece is in time: no timeout ends it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(30.0)
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        now = [100.0]
        with AlertmanagerSink(settings(url, timeout="10s"), monotonic=lambda: now[0]) as sink:
            sink.send([numbered(0)])
            slow, _ = server.accept()
            read_request(slow)
            slow.sendall(b"HTTP/1.1 200 OK\r\nX: ")
            now[0] += 21.0
            sink.send([numbered(1)])
            with contextlib.suppress(OSError):
                slow.sendall(b"x")
            next_one, _ = server.accept()
            assert b'"rank":"1"' in read_request(next_one)
            answer(next_one)
            sink.settle(30.0)
            receipts = [delivery.receipt for delivery in sink.outcomes()]
            slow.close()
    assert receipts == [Receipt.UNREACHABLE, Receipt.ACCEPTED]


def numbered(number: int) -> Alert:
    return alert_of(incident(str(number), ranks=(number,)), time.time())


def read_request(connection: socket.socket) -> bytes:
    """Headers and body."""
    connection.settimeout(30.0)
    text = b""
    while b"\r\n\r\n" not in text:
        text += connection.recv(65536)
    head, body = text.split(b"\r\n\r\n", 1)
    length = int(re.search(rb"content-length: (\d+)", head, re.IGNORECASE).group(1))
    while len(body) < length:
        body += connection.recv(65536)
    return body


def answer(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    connection.close()


def test_thousands_of_alerts_go_in_bodies_that_proxies_let_through(tmp_path: Path, hook: Webhook) -> None:
    alerts = [numbered(number) for number in range(3000)]
    assert [len(body) <= BODY_BYTES for body in bodies(alerts)] == [True] * len(bodies(alerts))
    assert [one for body in bodies(alerts) for one in json.loads(body)] == [one.document() for one in alerts]
    with alertmanager(tmp_path, hook.url) as url, AlertmanagerSink(settings(url)) as sink:
        assert [delivery.receipt for delivery in deliver(sink, *alerts)] == [Receipt.ACCEPTED]
        shown = httpx.get(url + PATH, timeout=30.0).json()
    assert {one["labels"]["rank"] for one in shown} == {str(number) for number in range(3000)}


def test_an_alert_that_is_too_long_alone_goes_alone() -> None:
    long = [replace(numbered(number), annotations={"description": "x" * 200}) for number in range(3)]
    assert [len(json.loads(body)) for body in bodies(long, most_bytes=300)] == [1, 1, 1]
    assert bodies([]) == (b"[]",)


def test_credentials_and_headers_are_sent(httpserver: HTTPServer, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("secret")
    requests: list[Request] = []

    def answer(request: Request) -> Response:
        requests.append(request)
        return Response()

    httpserver.expect_request(PATH, method="POST").respond_with_handler(answer)
    access = {"bearer_token_file": token, "headers": {"X-Scope-OrgID": "tenant"}}
    with AlertmanagerSink(settings(httpserver.url_for(""), **access)) as sink:
        deliver(sink)
        token.unlink()
        (delivery,) = deliver(sink)
    assert requests[0].headers["Authorization"] == "Bearer secret"
    assert requests[0].headers["X-Scope-OrgID"] == "tenant"
    assert delivery.receipt is Receipt.REFUSED
    assert "cannot read a secret" in delivery.error
    assert len(requests) == 1


def test_tls_both_ways() -> None:
    server = HTTPServer(ssl_context=server_context(mutual=True))
    server.start()
    try:
        server.expect_request(PATH).respond_with_data("")
        url = server.url_for("").replace("localhost", "127.0.0.1")
        with AlertmanagerSink(settings(url, ca_file=CERTIFICATE, cert_file=CERTIFICATE, key_file=KEY)) as sink:
            assert deliver(sink)[0].receipt is Receipt.ACCEPTED
        with AlertmanagerSink(settings(url)) as sink:
            (delivery,) = deliver(sink)
        assert delivery.receipt is Receipt.UNREACHABLE
        assert "certificate verify failed" in delivery.error
    finally:
        server.stop()
