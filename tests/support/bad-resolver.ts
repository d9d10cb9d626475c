// A DNS proxy that can stop, drop, refuse, fail or deny names.
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket as TcpSocket } from 'node:net';

/** `stopped`: no process listens. `nxdomain`: no name exists. */
export type ResolverState = 'ok' | 'stopped' | 'silent' | 'refuses' | 'fails' | 'nxdomain';

/** Of RFC 1035, 4.1.1. */
const RCODES: Readonly<Record<string, number>> = { fails: 2, nxdomain: 3, refuses: 5 };

export async function startBadResolver(behind: { readonly address: string; readonly port: number }) {
  let state: ResolverState = 'ok';
  let port = 0;
  let udp: Socket | undefined;
  let tcp: Server | undefined;
  const connections = new Set<TcpSocket>();

  const listen = async () => {
    udp = createSocket('udp4');
    const front = udp;
    front.on('message', (question, from) => {
      const send = (answer: Buffer) => front === udp && front.send(answer, from.port, from.address);
      if (state === 'silent' || question.length < 12) return;
      if (state !== 'ok') return void send(failureOf(question, state));
      const ask = createSocket('udp4');
      const over = setTimeout(() => ask.close(), 10_000);
      ask.once('message', (answer) => {
        clearTimeout(over);
        ask.close();
        send(answer);
      });
      ask.send(question, behind.port, behind.address);
    });
    front.bind(port, '127.0.0.1');
    await once(front, 'listening');
    ({ port } = front.address());
    tcp = createServer((client) => {
      // Over TCP it is as silent, and as the real one when it is ok; no other answer is needed there.
      const upstream = state === 'ok' ? connect(behind.port, behind.address) : undefined;
      for (const socket of [client, ...(upstream ? [upstream] : [])]) {
        connections.add(socket);
        socket.on('error', () => {}).on('close', () => connections.delete(socket));
      }
      if (upstream) client.pipe(upstream).pipe(client);
    });
    tcp.listen(port, '127.0.0.1');
    await once(tcp, 'listening');
  };
  const close = async () => {
    const [front, server] = [udp, tcp];
    udp = undefined;
    tcp = undefined;
    for (const socket of connections) socket.destroy();
    front?.close();
    server?.close();
    await Promise.all([front, server].map((each) => each && once(each, 'close')));
  };
  await listen();
  return {
    /** As `STRATA_RESOLVERS` has it. */
    address: `127.0.0.1:${port}`,
    async become(next: ResolverState) {
      if (next === state) return;
      state = next;
      for (const socket of connections) socket.destroy();
      if (next === 'stopped') await close();
      else if (!udp) await listen();
    },
    [Symbol.asyncDispose]: close,
  };
}

/** The question given back, with an answer's header and a reason. */
function failureOf(question: Buffer, state: ResolverState): Buffer {
  const answer = Buffer.from(question);
  answer[2] = (answer[2] ?? 0) | 0x80;
  answer[3] = 0x80 | (RCODES[state] ?? 2);
  return answer;
}
