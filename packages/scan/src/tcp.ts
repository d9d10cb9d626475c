// One DNS question over TCP (RFC 7766): for answers that do not fit a datagram.
import { connect } from 'node:net';
import type { Upstream } from './udp.ts';

export function exchangeOverTcp(options: {
  readonly upstream: Upstream;
  readonly query: Buffer;
  readonly timeoutMs: number;
}): Promise<Buffer | 'timeout' | 'unreachable'> {
  const { upstream, query, timeoutMs } = options;
  return new Promise((resolve) => {
    const socket = connect({ host: upstream.address, port: upstream.port });
    const chunks: Buffer[] = [];
    let length = 0;
    const settle = (outcome: Buffer | 'timeout' | 'unreachable') => {
      clearTimeout(timer);
      socket.destroy();
      resolve(outcome);
    };
    // For the whole exchange: a server that drips bytes gets no more than one that is silent.
    const timer = setTimeout(() => settle('timeout'), timeoutMs);
    socket.on('connect', () => {
      const prefix = Buffer.alloc(2);
      prefix.writeUInt16BE(query.length);
      socket.write(Buffer.concat([prefix, query]));
    });
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length < 2) return;
      const all = Buffer.concat(chunks);
      const size = all.readUInt16BE(0);
      if (all.length >= size + 2) settle(all.subarray(2, size + 2));
      else chunks.splice(0, chunks.length, all);
    });
    socket.on('error', () => settle('unreachable'));
    socket.on('close', () => settle('unreachable'));
  });
}
