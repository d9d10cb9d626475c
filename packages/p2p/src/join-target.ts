// Whom to join: a multiaddr with a peer id, or a join token, read before anything is dialled; and why joining failed.
import type { Libp2p, PeerId } from '@libp2p/interface';
import { peerIdFromString } from '@libp2p/peer-id';
import { CODE_P2P, type Multiaddr, multiaddr } from '@multiformats/multiaddr';
import { isJoinToken, readJoinToken } from './join-token.ts';

/** `reasons` tells of each address why it did not answer. */
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

/** Throws JoinError for what is neither. */
export function readJoinTarget(text: string): JoinTarget {
  try {
    if (isJoinToken(text)) {
      const { peer, addresses, networkKey } = readJoinToken(text);
      return {
        peer: peerIdFromString(peer),
        addresses: addresses.map((address) => multiaddr(address)),
        ...(networkKey && { networkKey }),
      };
    }
    const address = multiaddr(text);
    const peer = address.getComponents().findLast(({ code }) => code === CODE_P2P)?.value;
    if (peer === undefined) throw new RangeError('without a peer id nobody could tell whether the right host answers');
    return { peer: peerIdFromString(peer), addresses: [address] };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'unreadable';
    throw new JoinError(`join takes an address with a peer id (/ip4/…/tcp/…/p2p/…) or a join token: ${why}`, { cause });
  }
}

/** Dials one address after the other until one answers; rejects with JoinError. */
export async function joinTarget(node: Libp2p, { peer, addresses }: JoinTarget, signal: AbortSignal): Promise<string> {
  const reasons: Record<string, string> = {};
  for (const address of addresses) {
    try {
      const { remotePeer } = await node.dial(address, { signal });
      return remotePeer.toString();
    } catch (error) {
      reasons[address.toString()] = reasonOf(error);
      if (signal.aborted) break;
    }
  }
  const list = Object.entries(reasons).map(([address, reason]) => `${address}: ${reason}`);
  throw new JoinError(`${peer} did not answer (${list.join('; ')})`, { reasons });
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  return error instanceof Error ? error.message || error.name : String(error);
}
