// Event streams on real sockets: keep-alive comments while idle, and readers that do not read.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { it } from 'node:test';
import { until } from '../test/network/answers.ts';
import { EventWriter } from './event-writer.ts';

/** One request on a socket that can stop reading; `answer` gets what a route gets. */
async function withReader(answer: (raw: ServerResponse, reader: ReturnType<typeof connect>) => Promise<void>) {
  await using server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  await using reader = connect((server.address() as AddressInfo).port, '127.0.0.1');
  reader.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  const [, raw] = (await once(server, 'request')) as [unknown, ServerResponse];
  await answer(raw, reader);
}

const replyOf = (raw: ServerResponse) => ({ raw, hijack: () => {}, getHeaders: () => ({}) });

it('the stream of an answer begins and sends keep-alive comments while there are no events', () =>
  withReader(async (raw, reader) => {
    const chunks: string[] = [];
    reader.on('data', (chunk: Buffer) => chunks.push(chunk.toString()));
    using writer = new EventWriter(replyOf(raw), new AbortController().signal, { keepAliveMs: 20 });
    const received = (text: RegExp) => until(() => text.test(chunks.join('')));
    await received(/^HTTP\/1\.1 200 OK\r\n[\s\S]*: keep-alive\n\n[\s\S]*: keep-alive\n\n/);
    assert.ok(writer.hasBegun);
    await writer.send({ a: 1 });
    writer.end();
    await received(/data: \{"a":1\}\n\n/);
    await assert.rejects(writer.send({ a: 2 }), /has ended/);
    assert.throws(() => new EventWriter(replyOf(raw), new AbortController().signal), /answered already/);
  }));

it('the stream of an answer disconnects a reader that does not read', () =>
  withReader(async (raw, reader) => {
    reader.pause();
    using writer = new EventWriter(replyOf(raw), new AbortController().signal, { idleMs: 100 });
    await assert.rejects(async () => {
      for (let i = 0; i < 10_000; i += 1) await writer.send({ text: 'x'.repeat(10_000) });
    });
    await until(() => raw.destroyed && raw.closed);
  }));
