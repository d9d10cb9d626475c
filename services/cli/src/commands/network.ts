// `strata inference network`: who is on the network of a gateway, what they have, how busy they are and how far they are trusted.
import { setTimeout as sleep } from 'node:timers/promises';
import { gatewayBase } from '../gateway-address.ts';
import { CommandError, counted, type OutputOptions, plainText, printJson, printTable } from '../output.ts';

export interface NetworkOptions extends OutputOptions {
  readonly base: string;
  readonly watch?: boolean;
}

/** As `GET /network` of a gateway tells it. */
interface Network {
  readonly self: { readonly peer: string };
  readonly peers: readonly Peer[];
  readonly models: readonly {
    readonly id: string;
    readonly sha256: string;
    readonly workers: number;
    readonly slots: number;
    readonly running: number;
    readonly waiting: number;
  }[];
  readonly totals: { readonly peers: number; readonly workers: number };
}

interface Peer {
  readonly peer: string;
  readonly role: string;
  readonly connected_since: string | null;
  readonly round_trip_ms: number | null;
  readonly models: readonly {
    readonly name: string;
    readonly slots: number;
    readonly decode_tokens_per_second: number;
  }[];
  readonly running: number;
  readonly waiting: number;
  readonly standing: { readonly state: string; readonly trust: number; readonly audits: number } | null;
}

const WATCH_MS = 1_000;
const LIMIT_MS = 10_000;

/** With `watch` until SIGINT. */
export async function networkCommand({ base, json = false, watch = false }: NetworkOptions): Promise<void> {
  const url = `${gatewayBase(base)}/network`;
  const leaving = new AbortController();
  if (watch) process.once('SIGINT', () => leaving.abort());
  do {
    const network = await askNetwork(url);
    if (json) printJson(network);
    else {
      // Home, and what is below: the table is written over.
      if (watch && process.stdout.isTTY) process.stdout.write('\u001b[H\u001b[2J');
      show(network);
    }
    if (watch) await sleep(WATCH_MS, undefined, { signal: leaving.signal }).catch(() => {});
  } while (watch && !leaving.signal.aborted);
}

async function askNetwork(url: string): Promise<Network> {
  const response = await fetch(url, { signal: AbortSignal.timeout(LIMIT_MS) }).catch((cause: unknown) => {
    throw new CommandError(`nothing answers at ${url}; is the gateway running?`, { cause });
  });
  const body = (await response.json().catch(() => undefined)) as
    | (Network & { readonly error?: { readonly message?: unknown } })
    | undefined;
  if (response.ok && Array.isArray(body?.peers)) return body;
  throw new CommandError(`${url} answers ${response.status}: ${plainText(String(body?.error?.message ?? 'no JSON'))}`);
}

function show({ self, peers, models, totals }: Network): void {
  process.stdout.write(
    `gateway ${self.peer}: ${counted(totals.workers, 'worker')} of ${counted(totals.peers, 'peer')}\n\n`,
  );
  if (models.length === 0) process.stdout.write('no worker offers a model just now\n\n');
  else {
    const rows = models.map(({ id, sha256, workers, slots, running, waiting }) => [
      id,
      sha256.slice(0, 12),
      ...[workers, slots, running, waiting].map(String),
    ]);
    printTable(['model', 'sha256', 'workers', 'slots', 'running', 'waiting'], rows);
    process.stdout.write('\n');
  }
  if (peers.length > 0)
    printTable(
      ['peer', 'role', 'since', 'rtt', 'models', 'tokens/s', 'running', 'waiting', 'standing', 'audits'],
      peers.map(peerRow),
    );
}

function peerRow(peer: Peer): string[] {
  const speeds = peer.models.map(({ decode_tokens_per_second }) => decode_tokens_per_second.toFixed(0));
  return [
    peer.peer,
    peer.role,
    peer.connected_since?.slice(0, 19).replace('T', ' ') ?? 'by gossip',
    peer.round_trip_ms === null ? '' : `${peer.round_trip_ms.toFixed(1)} ms`,
    peer.models.map(({ name }) => name).join(', '),
    speeds.join(', '),
    String(peer.running),
    String(peer.waiting),
    peer.standing === null ? '' : `${peer.standing.state} ${peer.standing.trust.toFixed(2)}`,
    peer.standing === null ? '' : String(peer.standing.audits),
  ];
}
