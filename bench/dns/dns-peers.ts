// Who else asks DNS, on the same server and names: dnsperf (in C), and sockets of Node without a resolver.
import { execFile, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import dnsPacket from 'dns-packet';
import { timed } from '../measure.ts';

export interface Rate {
  /** Answered questions a second of wall time. */
  readonly perSecond: number;
  /** CPU of the asker, µs a question. */
  readonly cpuMicros: number;
}

export interface PeerTask {
  readonly names: readonly string[];
  readonly server: { readonly address: string; readonly port: number };
  readonly inFlight: number;
  /** For files that the programs read. */
  readonly directory: string;
}

/** As many sockets as the resolver has for an upstream. */
const BARE_SOCKETS = 4;
const BARE_TIMEOUT_MS = 60_000;

export function isInstalled(program: string): boolean {
  return spawnSync(program, ['-h'], { timeout: 10_000 }).error === undefined;
}

/** @throws when more than a hundredth of the questions had no answer: a rate of failures would be no rate. */
export async function runDnsperf({ names, server, inFlight, directory }: PeerTask): Promise<Rate> {
  const file = path.join(directory, 'dnsperf.txt');
  await writeFile(file, names.map((name) => `${name} A\n`).join(''));
  // The shell measures the processor time.
  const script = 'TIMEFORMAT="cpu %U %S"; time dnsperf "$@"';
  const { stdout, stderr } = await promisify(execFile)('bash', [
    ...['-c', script, 'bash', '-s', server.address, '-p', String(server.port), '-d', file],
    ...['-n', '1', '-q', String(inFlight), '-c', '4', '-T', '1', '-e', '-t', '10'],
  ]);
  const [, user, system] = /cpu ([\d.]+) ([\d.]+)/.exec(stderr) ?? [];
  const completed = Number(/Queries completed:\s+(\d+)/.exec(stdout)?.[1] ?? 0);
  if (completed < names.length * 0.99) throw new Error(`dnsperf had ${completed} answers of ${names.length}`);
  const perSecond = Number(/Queries per second:\s+([\d.]+)/.exec(stdout)?.[1]);
  return { perSecond, cpuMicros: ((Number(user) + Number(system)) * 1e6) / completed };
}

/**
 * What Node's sockets take by themselves: questions made beforehand are sent, and answers only counted. No resolver in
 * Node can be cheaper. @throws when answers are missing.
 */
export async function runBareSockets({ names, server, inFlight }: PeerTask): Promise<Rate> {
  const queries = names.map((name, id) =>
    dnsPacket.encode({ type: 'query', id: id & 0xffff, flags: 0, questions: [{ type: 'A', name }] }),
  );
  const sockets = Array.from({ length: BARE_SOCKETS }, () =>
    createSocket({ type: 'udp4', recvBufferSize: 4 * 1024 * 1024 }),
  );
  for (const socket of sockets) {
    socket.connect(server.port, server.address);
    await once(socket, 'connect');
  }
  let sent = 0;
  let answered = 0;
  const all = Promise.withResolvers<void>();
  const sendNext = () => {
    const query = queries[sent];
    if (query !== undefined) sockets[sent++ % BARE_SOCKETS]?.send(query);
  };
  for (const socket of sockets)
    socket.on('message', () => {
      answered += 1;
      if (answered === queries.length) all.resolve();
      else sendNext();
    });
  const late = setTimeout(() => all.reject(new Error(`only ${answered} answers at bare sockets`)), BARE_TIMEOUT_MS);
  try {
    const { seconds, cpuSeconds } = await timed(() => {
      for (let i = 0; i < inFlight; i++) sendNext();
      return all.promise;
    });
    return { perSecond: names.length / seconds, cpuMicros: (cpuSeconds * 1e6) / names.length };
  } finally {
    clearTimeout(late);
    for (const socket of sockets) socket.close();
  }
}
