// Ports of loopback for servers that a test starts.
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that systems choose for outgoing connections, from 32,768 on Linux: none takes a port before its server does. */
const [FIRST, PORTS] = [11_000, 21_000];
/** The processes of a run, whose ids are close, begin at different ports. */
let next = process.pid * 100;

/** A port of loopback at which nothing listens. Each call returns another one. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + (next++ % PORTS);
    await using server = createServer().listen(port, '127.0.0.1');
    const listening = once(server, 'listening');
    if (await listening.catch((error) => error.code !== 'EADDRINUSE' && Promise.reject(error))) return port;
  }
}
