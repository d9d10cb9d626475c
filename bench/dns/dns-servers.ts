// The name servers that the resolver and its peers are measured at: NSD with a generated tree, else a plain responder.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { startServer, whyNotHere } from '../../packages/scan/src/test/real-servers.ts';
import { reportReady, setting, startChild, thousands } from '../measure.ts';
import { ANSWER } from './dns-codec.ts';

const LEAF = '127.68.0.3';
/** Each has an address. */
export const NAMES = Math.min(100_000, setting('DOMAINS', 100_000));
export const nameOf = (i: number) => `d${i}.alpha`;
/** Any name below it has an address. */
export const WILD = 'wild.alpha';

export interface DnsServers extends AsyncDisposable {
  readonly what: string;
  /** Has an answer to every name. */
  readonly leaf: { readonly address: string; readonly port: number };
}

export async function startDnsServers(): Promise<DnsServers> {
  const missing = await whyNotHere(LEAF, ['nsd']);
  if (missing !== undefined) {
    const child = await startChild<{ port: number }>(new URL(import.meta.url));
    return {
      what: `a responder in Node (${missing})`,
      leaf: { address: '127.0.0.1', port: child.ready.port },
      [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
    };
  }
  const soa = '$TTL 300\n@ IN SOA ns.nic.alpha. hostmaster.nic.alpha. 1 3600 600 86400 60\n';
  const addresses = Array.from({ length: NAMES }, (_, i) => `d${i} A 192.0.2.1\n`).join('');
  const nsd = await startNsd(`${soa}@ NS ns.nic\n*.wild A 192.0.2.1\n${addresses}`);
  return {
    what: `NSD with ${thousands(NAMES)} names, on the other core`,
    leaf: { address: LEAF, port: 53 },
    [Symbol.asyncDispose]: () => nsd[Symbol.asyncDispose](),
  };
}

/** NSD with one zone, of this text. */
function startNsd(zone: string) {
  return startServer('nsd', { address: LEAF, port: 53 }, async (directory) => {
    await writeFile(path.join(directory, 'alpha.zone'), zone);
    return `server:
  ip-address: ${LEAF}@53
  username: ""
  zonesdir: "${directory}"
  database: ""
  pidfile: ""
  xfrdfile: "${directory}/xfrd.state"
  zonelistfile: "${directory}/zone.list"
  logfile: "${directory}/log"
  server-count: 1
  rrl-ratelimit: 0
remote-control:
  control-enable: no
zone:
  name: "alpha"
  zonefile: "alpha.zone"
`;
  });
}

async function respond(): Promise<void> {
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
  reportReady({ port: socket.address().port }, async () => void socket.close());
}

// Started as a process of its own, this file is the responder.
if (import.meta.main) await respond();
