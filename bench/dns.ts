// Bench of the resolver: answered questions a second from a loopback server, beside Node's own resolver on the same server.

import { createSocket } from 'node:dgram';
import { Resolver as NodeResolver } from 'node:dns/promises';
import { once } from 'node:events';
import { Resolver } from '@strata/scan';
import type { Figure } from './main.ts';
import { median, perSecond, startChild, tellReady } from './measure.ts';

const NAMES = 20_000;
const IN_FLIGHT = 500;
const ROUNDS = 5;
/** A of 192.0.2.1 for the question's own name, TTL 300. */
const ANSWER = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 1, 44, 0, 4, 192, 0, 2, 1]);

/** Alternates the two, so that a slow moment of the machine meets both; medians of the rounds. */
export async function benchDns(): Promise<Figure[]> {
  await using server = await startChild<{ port: number }>('./dns.ts');
  const { port } = server.ready;
  const ours: number[] = [];
  const ourCores: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await using resolver = new Resolver({ upstreams: [{ address: '127.0.0.1', port }] });
    const cpu = process.cpuUsage();
    ours.push(await rateOfAsking(`s${round}`, async (name) => (await resolver.query(name, 'A')).records.length));
    const { user, system } = process.cpuUsage(cpu);
    ourCores.push((NAMES * 1e6) / (user + system));
    const node = new NodeResolver();
    node.setServers([`127.0.0.1:${port}`]);
    theirs.push(await rateOfAsking(`n${round}`, async (name) => (await node.resolve4(name)).length));
  }
  return [
    {
      what: `answered questions, ${NAMES.toLocaleString('en-US')} names, ${IN_FLIGHT} in flight`,
      value: perSecond(median(ours)),
      against: `dns.promises.Resolver in the same run: ${perSecond(median(theirs))}`,
    },
    { what: 'of which a core', value: perSecond(median(ourCores)), against: 'goal: 20,000/s' },
  ];
}

/** Throws when a name has no answer: a rate of failures would be no rate. */
async function rateOfAsking(prefix: string, ask: (name: string) => Promise<number>): Promise<number> {
  let next = 0;
  const startedAt = performance.now();
  const asker = async () => {
    while (next < NAMES) {
      const name = `${prefix}-${next++}.example.com`;
      if ((await ask(name)) !== 1) throw new Error(`no answer for ${name}`);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, asker));
  return (NAMES * 1_000) / (performance.now() - startedAt);
}

async function serve(): Promise<void> {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 4 * 1024 * 1024 });
  socket.on('message', (query, from) => {
    const end = query.indexOf(0, 12) + 5;
    const answer = Buffer.concat([query.subarray(0, end), ANSWER]);
    answer.writeUInt16BE(0x8180, 2);
    answer.set([0, 1, 0, 1, 0, 0, 0, 0], 4);
    socket.send(answer, from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  tellReady({ port: socket.address().port }, async () => void socket.close());
}

// Started as a process of its own, this file is the server.
if (import.meta.main) await serve();
