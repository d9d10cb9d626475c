// The name servers that the resolver and its peers are measured at: NSD with a generated tree, else a plain responder.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { startNsd, startUnbound, whyNotHere } from '../packages/scan/src/test/real-servers.ts';
import { startChild, tellReady } from './measure.ts';

const ROOT = '127.68.0.1';
const TOP = '127.68.0.2';
const LEAF = '127.68.0.3';
const UNBOUND = { address: '127.68.0.9', port: 5_300 };
/** Delegated domains; each has an address. */
export const NAMES = 100_000;
export const nameOf = (i: number) => `d${i}.alpha`;
/** Any name below it has an address. */
export const WILD = 'wild.alpha';

export interface DnsServers extends AsyncDisposable {
  readonly what: string;
  /** Has an answer to every name. */
  readonly leaf: { readonly address: string; readonly port: number };
  /** Where delegations begin; none where NSD is missing. */
  readonly root?: { readonly address: string; readonly port: number };
  /** A recursive resolver that knows nothing yet, beginning at the same root. */
  startUnbound?(): ReturnType<typeof startUnbound>;
}

export async function startDnsServers(): Promise<DnsServers> {
  const missing = await whyNotHere(LEAF, ['nsd']);
  if (missing !== undefined) {
    const child = await startChild<{ port: number }>('./dns-servers.ts');
    return {
      what: `a responder in Node (${missing})`,
      leaf: { address: '127.0.0.1', port: child.ready.port },
      [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
    };
  }
  await using stack = new AsyncDisposableStack();
  const soa = '$TTL 300\n@ IN SOA ns.nic.alpha. hostmaster.nic.alpha. 1 3600 600 86400 60\n';
  const lines = (of: (i: number) => string) => Array.from({ length: NAMES }, (_, i) => of(i)).join('');
  const top = `${soa}@ NS ns.nic\nns.nic A ${TOP}\nns.wild A ${LEAF}\nwild NS ns.wild\n${lines((i) => `d${i} NS ns.d${i}\nns.d${i} A ${LEAF}\n`)}`;
  // The leaf answers from one zone that holds all the domains: what it says of each is what the domain's own zone would.
  const leaf = `${soa}@ NS ns.nic\n*.wild A 192.0.2.1\n${lines((i) => `d${i} A 192.0.2.1\n`)}`;
  const root = `${soa}@ NS ns.root.\nns.root. A ${ROOT}\nalpha. NS ns.nic.alpha.\nns.nic.alpha. A ${TOP}\n`;
  stack.use(await startNsd(ROOT, { '.': root }));
  stack.use(await startNsd(TOP, { alpha: top }));
  stack.use(await startNsd(LEAF, { alpha: leaf }));
  const hasUnbound = (await whyNotHere(UNBOUND.address, ['unbound'])) === undefined;
  const owned = stack.move();
  return {
    what: `NSD with ${NAMES.toLocaleString('en-US')} names, on the other core`,
    leaf: { address: LEAF, port: 53 },
    root: { address: ROOT, port: 53 },
    ...(hasUnbound ? { startUnbound: () => startUnbound(UNBOUND, ROOT) } : {}),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** A of 192.0.2.1 for the question's own name, TTL 300. */
const ANSWER = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 1, 44, 0, 4, 192, 0, 2, 1]);

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
  tellReady({ port: socket.address().port }, async () => void socket.close());
}

// Started as a process of its own, this file is the responder.
if (import.meta.main) await respond();
