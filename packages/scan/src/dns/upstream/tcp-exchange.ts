// One DNS query over TCP (RFC 7766), for answers that exceed a datagram.
import { randomInt } from 'node:crypto';
import { connect } from 'node:net';
import { answersQuery, isTruncated, stampId } from '../message/message.ts';
import type { Exchange, StopSwitch, Upstream } from './exchange.ts';

/**
 * One connection per query, because truncation is rare. The two length bytes bound the answer to 65,535 bytes. The time-out covers
 * the complete exchange, so a server that sends single bytes cannot extend it.
 */
export function askOverTcp(upstream: Upstream, query: Buffer, timeoutMs: number, stop: StopSwitch): Promise<Exchange> {
  return new Promise((resolve) => {
    const socket = connect({ host: upstream.address, port: upstream.port });
    const settle = (exchange: Exchange) => {
      clearTimeout(timer);
      stop.work = undefined;
      socket.destroy();
      resolve(exchange);
    };
    const timer = setTimeout(() => settle({ kind: 'timeout', strays: 0 }), timeoutMs);
    stop.work = { stop: () => settle({ kind: 'stopped' }) };

    stampId(query, randomInt(0x1_0000));
    const prefix = Buffer.alloc(2);
    prefix.writeUInt16BE(query.length);
    socket.write(Buffer.concat([prefix, query]));

    const chunks: Buffer[] = [];
    let received = 0;
    let expected = Number.POSITIVE_INFINITY;
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      received += chunk.length;
      if (expected === Number.POSITIVE_INFINITY && received >= 2) expected = 2 + Buffer.concat(chunks).readUInt16BE(0);
      if (received < expected) return;
      const bytes = Buffer.concat(chunks).subarray(2, expected);
      if (!answersQuery(bytes, query)) settle({ kind: 'garbled', reason: 'not an answer to the question, over TCP' });
      else if (isTruncated(bytes)) settle({ kind: 'garbled', reason: 'truncated even over TCP' });
      else settle({ kind: 'answer', bytes });
    });
    socket.on('end', () => settle({ kind: 'garbled', reason: 'the TCP connection ended inside the answer' }));
    socket.on('error', (error: NodeJS.ErrnoException) =>
      settle({ kind: 'unreachable', code: `TCP ${error.code ?? 'error'}` }),
    );
  });
}
