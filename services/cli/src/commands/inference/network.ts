// `strata inference network`: the peers of a gateway, their models, load and reputation.
import { setTimeout as sleep } from 'node:timers/promises';
import { InferenceClient, type Network } from '@strata/client';
import { formatSize } from '@strata/files';
import type { CommandContext, OutputStream } from '../../context.ts';
import { CommandError } from '../../errors.ts';
import { listenForInterruption } from '../../interruption.ts';
import { counted, type OutputOptions, plainText, printJson, printTable } from '../../output.ts';
import { gatewayBase } from '../../service-address.ts';
import { commandErrorOf } from './chat.ts';

export interface NetworkOptions extends OutputOptions {
  readonly base: string;
  readonly watch?: boolean;
  /** Interval of `watch`. */
  readonly watchMs?: number;
}

const WATCH_MS = 1_000;
const TIMEOUT_MS = 10_000;

/** With `watch` until SIGINT; a failed request is reported and repeated. */
export async function networkCommand(
  context: CommandContext,
  { base, json = false, watch = false, watchMs = WATCH_MS }: NetworkOptions,
): Promise<void> {
  const { stdout, stderr } = context;
  const client = new InferenceClient({ baseUrl: gatewayBase(base), timeoutMs: TIMEOUT_MS });
  const print = (network: Network) => (json ? printJson(stdout, network) : show(stdout, network));
  if (!watch) return print(await fetchNetwork(client, base));
  const { signal } = listenForInterruption(context, ['SIGINT']);
  for (let requests = 0; !signal.aborted; requests += 1) {
    const network = await fetchNetwork(client, base, signal).catch((error: CommandError) => error);
    if (signal.aborted) return;
    // Without a first answer there is nothing to watch.
    if (network instanceof Error && requests === 0) throw network;
    // Cursor to the top left, and clear the screen.
    if (!json && stdout.isTTY) stdout.write('\u001b[H\u001b[2J');
    if (network instanceof Error) stderr.write(`strata: ${plainText(network.message)}; retrying\n`);
    else print(network);
    await sleep(watchMs, undefined, { signal }).catch(() => {});
  }
}

/** Rejects with CommandError. */
async function fetchNetwork(client: InferenceClient, base: string, signal?: AbortSignal): Promise<Network> {
  const network = await client.network({ signal }).catch((cause) => {
    throw commandErrorOf(cause, base);
  });
  if (Array.isArray(network.peers)) return network;
  throw new CommandError(`${base} is not a gateway`);
}

function show(stdout: OutputStream, { self, gateways, peers, models, totals }: Network): void {
  stdout.write(
    `gateway ${plainText(self.peer)}: ${counted(totals.workers, 'worker')} of ${counted(totals.peers, 'peer')}\n\n`,
  );
  // Absent in earlier gateways, as are loads and memory.
  if ((gateways?.length ?? 0) > 1) {
    const rows = gateways.map(({ peer, self: isSelf, state, connected }) => [
      ...[peer, state, isSelf ? 'this one' : connected ? 'connected' : 'not connected'],
    ]);
    printTable(stdout, ['gateway', 'state', 'connection'], rows);
    stdout.write('\n');
  }
  if (models.length === 0) stdout.write('no worker offers a model\n\n');
  else {
    const rows = models.map(({ id, sha256, workers, loaded, loading, slots, running, waiting, verified }) => [
      id,
      sha256.slice(0, 12),
      ...[workers, loaded ?? '', loading ?? '', slots, running, waiting].map(String),
      // Absent in earlier gateways.
      ...[verified?.level ?? '', verified?.reason ?? ''],
    ]);
    printTable(
      stdout,
      ['model', 'sha256', 'workers', 'loaded', 'loading', 'slots', 'running', 'waiting', 'verified', 'reason'],
      rows,
    );
    stdout.write('\n');
  }
  if (peers.length > 0)
    printTable(
      stdout,
      ['peer', 'role', 'since', 'rtt', 'models', 'memory', 'tokens/s', 'running', 'waiting', 'reputation', 'audits'],
      peers.map(peerRow),
    );
}

function loadNote({ loaded, loading }: { readonly loaded?: boolean; readonly loading?: boolean }): string {
  return loading ? ' (loading)' : loaded === false ? ' (not loaded)' : '';
}

function peerRow(peer: Network['peers'][number]): string[] {
  const speeds = peer.models.map(({ decode_tokens_per_second }) => decode_tokens_per_second.toFixed(0));
  return [
    peer.peer,
    peer.role,
    peer.connected_since?.slice(0, 19).replace('T', ' ') ?? 'not connected',
    peer.round_trip_ms === null ? '' : `${peer.round_trip_ms.toFixed(1)} ms`,
    peer.models.map(({ name, loaded, loading }) => `${name}${loadNote({ loaded, loading })}`).join(', '),
    peer.memory ? `${formatSize(peer.memory.held_bytes)} of ${formatSize(peer.memory.budget_bytes)}` : '',
    speeds.join(', '),
    String(peer.running),
    String(peer.waiting),
    peer.standing === null ? '' : `${peer.standing.state} ${peer.standing.trust.toFixed(2)}`,
    peer.standing === null ? '' : String(peer.standing.audits),
  ];
}
