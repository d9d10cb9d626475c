// Parses join targets, a multiaddr with a peer id or a join token, before anything is dialled; and explains failed
// joins.
import type { Connection, Libp2p, PeerId } from '@libp2p/interface';
import { peerIdFromString } from '@libp2p/peer-id';
import type { Ping } from '@libp2p/ping';
import { CODE_P2P, type Multiaddr, multiaddr } from '@multiformats/multiaddr';
import { LIVENESS } from '../limits.ts';
import { isJoinToken, JoinTokenError, readJoinToken } from './join-token.ts';

/** `reasons` contains for each address why it failed. */
export class JoinError extends Error {
  override readonly name = 'JoinError';
  readonly reasons: Readonly<Record<string, string>>;

  constructor(message: string, options: { readonly reasons?: Readonly<Record<string, string>>; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.reasons = options.reasons ?? {};
  }
}

export interface JoinTarget {
  readonly peer: PeerId;
  readonly addresses: readonly Multiaddr[];
  readonly networkKey?: Uint8Array;
}

/** Throws JoinError for an invalid target. */
export function readJoinTarget(text: string): JoinTarget {
  if (isJoinToken(text)) {
    const { peer, addresses, networkKey } = parsed(text, () => readJoinToken(text));
    return {
      peer: peerIdFromString(peer),
      addresses: addresses.map((address) => multiaddr(address)),
      ...(networkKey && { networkKey }),
    };
  }
  if (!text.startsWith('/')) throw unreadable(text, 'it is neither');
  const address = parsed(text, () => multiaddr(text));
  const peer = address.getComponents().findLast(({ code }) => code === CODE_P2P)?.value;
  if (peer === undefined) throw unreadable(text, 'without a peer id the host cannot be authenticated');
  return { peer: parsed(text, () => peerIdFromString(peer)), addresses: [address] };
}

function parsed<T>(text: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    throw unreadable(text, cause instanceof JoinTokenError ? cause.message : 'it is damaged', cause);
  }
}

/** A token may be secret: it is not repeated. */
function unreadable(text: string, why: string, cause?: unknown): JoinError {
  const shown = isJoinToken(text) ? 'this join token' : `'${text.slice(0, 200)}'`;
  return new JoinError(
    `join takes an address with a peer id (/ip4/192.0.2.7/tcp/4001/p2p/12D3Koo…) or a join token (strata1…), and not ${shown}: ${why}`,
    { cause },
  );
}

export interface JoinOptions {
  /** Whether this host has the key of a private network. */
  readonly isPrivate: boolean;
  readonly signal: AbortSignal;
}

/** Dials one address after the other until one answers and stays connected; rejects with JoinError. */
export async function joinTarget(
  node: Libp2p<{ ping: Ping }>,
  { peer, addresses }: JoinTarget,
  { isPrivate, signal }: JoinOptions,
): Promise<string> {
  const reasons: Record<string, string> = {};
  for (const address of addresses) {
    try {
      const connection = await node.dial(address, { signal });
      if (await isStaying(node, connection, signal)) return connection.remotePeer.toString();
      reasons[address.toString()] =
        `it closes the connection: it may have an allow-list, to which its operator would have to add ${node.peerId}, or no free capacity`;
    } catch (error) {
      reasons[address.toString()] = reasonOf(error, isPrivate);
      if (signal.aborted) break;
    }
  }
  const list = Object.entries(reasons).map(([address, reason]) => `${address.replace(`/p2p/${peer}`, '')}: ${reason}`);
  throw new JoinError(`${peer} did not answer (${list.join('; ')})`, { reasons });
}

/** A rejected host notices it by the end of the connection, after the handshake. */
async function isStaying(node: Libp2p<{ ping: Ping }>, connection: Connection, signal: AbortSignal): Promise<boolean> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(LIVENESS.pingTimeoutMs)]);
  await node.services.ping.ping(connection.remotePeer, { signal: limited }).catch(() => {});
  return connection.status === 'open' || node.getConnections(connection.remotePeer).length > 0;
}

/** Replaces libp2p's messages by ones for operators, where they are unclear. */
function reasonOf(error: unknown, isPrivate: boolean): string {
  if (error instanceof AggregateError) return error.errors.map((one) => reasonOf(one, isPrivate)).join(', ');
  const message = error instanceof Error ? error.message || error.name : String(error);
  if (/unexpected ?peer|remote peer id|payload identity/i.test(message))
    return 'another host answers there, with another key';
  if (/ECONNREFUSED/.test(message)) return `the connection was refused (${message})`;
  if (/EHOSTUNREACH|ENETUNREACH|ENOTFOUND/.test(message)) return message;
  return `${message}; ${isPrivate ? KEYED : KEYLESS}`;
}

/** Bytes under another network key are unreadable: the failure looks like a closed or silent connection. */
const KEYED = 'a host at this address may be in another private network or in none, or have no free capacity';
const KEYLESS =
  'a host at this address may be in a private network, which needs its join token or key, or have no free capacity';
