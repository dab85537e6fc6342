"""A gateway as a process of its own, to be killed: writes down what it got, then acknowledges it.

usage: relay_gateway.py ADDRESS GATEWAY SECRET LOG. SIGTERM: goes idle, waits for the answer and ends.
"""

import random
import signal
import sys
import time

import relay_wire


class Stop(Exception):
    pass


def on_term(*_):
    raise Stop


def serve(wire, log):
    wire.send({"type": "hello", "platform": "local", "botId": "console"})
    try:
        while True:
            frame = wire.receive()
            if frame["type"] != "inbound":
                continue
            log.write(f"got {frame['bufferId']} {frame['event']['text']}\n")
            log.flush()
            time.sleep(random.random() * 0.004)
            wire.send({"type": "inbound_ack", "bufferId": frame["bufferId"]})
    except Stop:
        wire.send({"type": "going_idle"})
        while wire.receive()["type"] != "going_idle_ack":
            pass
        log.write("idle\n")
        raise


def main(address, gateway, secret, path):
    signal.signal(signal.SIGTERM, on_term)
    with open(path, "a", encoding="utf-8") as log:
        while True:
            try:
                serve(relay_wire.RelayWire(address, gateway, secret), log)
            except Stop:
                return
            except (relay_wire.Closed, OSError):
                time.sleep(0.05)


if __name__ == "__main__":
    main(*sys.argv[1:5])
