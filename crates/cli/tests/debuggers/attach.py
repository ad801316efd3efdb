"""Attaches to a program that waits on a port, and lets it go on."""

import json
import socket
import sys


class Client:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.stream = self.socket.makefile("rb")
        self.sequence = 0

    def send(self, command, **arguments):
        self.sequence += 1
        body = {"seq": self.sequence, "type": "request", "command": command, "arguments": arguments}
        text = json.dumps(body).encode()
        self.socket.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))

    def until(self, kind, name):
        while True:
            length = 0
            while line := self.stream.readline().strip():
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            message = json.loads(self.stream.read(length))
            if message["type"] == kind and message.get("event", message.get("command")) == name:
                return message


client = Client(int(sys.argv[1]))
client.send("initialize", adapterID="test")
client.until("response", "initialize")
client.send("attach", justMyCode=True)
client.until("event", "initialized")
client.send("configurationDone")
client.until("response", "configurationDone")
print("attached")
