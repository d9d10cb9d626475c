// `strata inference network`: who is on the network of a gateway, what they have, how busy they are and how far they are trusted.
import { setTimeout as sleep } from 'node:timers/promises';
import { type CommandContext, listenForInterruption, type OutputStream } from '../../context.ts';
import { gatewayBase } from '../../gateway-address.ts';
import { CommandError, counted, type OutputOptions, plainText, printJson, printTable } from '../../output.ts';

export interface NetworkOptions extends OutputOptions {
  readonly base: string;
  readonly watch?: boolean;
  /** Between two questions of `watch`. */
  readonly watchMs?: number;
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

/** With `watch` until SIGINT; a gateway that does not answer for a while is told, and asked again. */
export async function networkCommand(
  context: CommandContext,
  { base, json = false, watch = false, watchMs = WATCH_MS }: NetworkOptions,
): Promise<void> {
  const { stdout, stderr } = context;
  const url = `${gatewayBase(base)}/network`;
  const print = (network: Network) => (json ? printJson(stdout, network) : show(stdout, network));
  if (!watch) return print(await askNetwork(url));
  const leaving = listenForInterruption(context, ['SIGINT']);
  for (let asked = 0; !leaving.signal.aborted; asked += 1) {
    const seen = await askNetwork(url, leaving.signal).catch((error: CommandError) => error);
    if (leaving.signal.aborted) return;
    // The first one says whether there is anything to watch.
    if (seen instanceof Error && asked === 0) throw seen;
    // Home, and what is below: the table is written over.
    if (!json && stdout.isTTY) stdout.write('\u001b[H\u001b[2J');
    if (seen instanceof Error) stderr.write(`strata: ${seen.message}; it is asked again\n`);
    else print(seen);
    await sleep(watchMs, undefined, { signal: leaving.signal }).catch(() => {});
  }
}

/** Rejects with CommandError. */
async function askNetwork(url: string, leaving?: AbortSignal): Promise<Network> {
  const limit = AbortSignal.timeout(LIMIT_MS);
  const signal = leaving ? AbortSignal.any([limit, leaving]) : limit;
  const response = await fetch(url, { signal }).catch((cause: unknown) => {
    throw new CommandError(`nothing answers at ${url}; is the gateway running?`, { cause });
  });
  const body = (await response.json().catch(() => undefined)) as
    | (Network & { readonly error?: { readonly message?: unknown } })
    | undefined;
  if (response.ok && Array.isArray(body?.peers)) return body;
  throw new CommandError(`${url} answers ${response.status}: ${plainText(String(body?.error?.message ?? 'no JSON'))}`);
}

function show(stdout: OutputStream, { self, peers, models, totals }: Network): void {
  stdout.write(`gateway ${self.peer}: ${counted(totals.workers, 'worker')} of ${counted(totals.peers, 'peer')}\n\n`);
  if (models.length === 0) stdout.write('no worker offers a model just now\n\n');
  else {
    const rows = models.map(({ id, sha256, workers, slots, running, waiting }) => [
      id,
      sha256.slice(0, 12),
      ...[workers, slots, running, waiting].map(String),
    ]);
    printTable(stdout, ['model', 'sha256', 'workers', 'slots', 'running', 'waiting'], rows);
    stdout.write('\n');
  }
  if (peers.length > 0)
    printTable(
      stdout,
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
