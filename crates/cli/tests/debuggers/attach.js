// Attaches to a program that waits on a port, and lets it go on.
"use strict";

async function main(port) {
  const [{ webSocketDebuggerUrl }] = await (await fetch(`http://127.0.0.1:${port}/json/list`)).json();
  const socket = new WebSocket(webSocketDebuggerUrl);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  const paused = new Promise((resolve) => {
    socket.onmessage = ({ data }) => JSON.parse(data).method === "Debugger.paused" && resolve();
  });
  const send = (id, method) => socket.send(JSON.stringify({ id, method }));
  send(1, "Debugger.enable");
  send(2, "Runtime.runIfWaitingForDebugger");
  await paused;
  console.log("paused");
  send(3, "Debugger.resume");
  setTimeout(() => socket.close(), 200);
}

setTimeout(() => process.exit(2), 30000).unref();
main(Number(process.argv[2])).catch((error) => {
  console.error(error);
  process.exit(1);
});
