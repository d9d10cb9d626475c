// The network settings of a gateway: those of its node, which workers share, and its own.
import { PeerEnvironment, type PeerSettings, readPeerSettings } from '@strata/p2p';
import { z } from 'zod';

/** Model names with the only file that may have each name: `name=sha256`, separated by spaces or commas. */
const Pins = z.string().transform((text, context): ReadonlyMap<string, string> => {
  const pins = new Map<string, string>();
  for (const pin of text.split(/[\s,]+/).filter((each) => each !== '')) {
    const [, name, sha256] = /^(.{1,200})=([0-9a-f]{64})$/i.exec(pin) ?? [];
    if (name === undefined || sha256 === undefined)
      context.addIssue({ code: 'custom', message: `'${pin.slice(0, 100)}' is not of the form name=sha256` });
    else if (pins.has(name)) context.addIssue({ code: 'custom', message: `'${name}' is pinned twice` });
    else pins.set(name, sha256.toLowerCase());
  }
  return pins;
});

export const NetworkEnvironment = z.object({
  STRATA_NETWORK: z.enum(['on', 'off']).optional(),
  ...PeerEnvironment.shape,
  STRATA_PIN_MODELS: Pins.optional(),
  STRATA_AUDIT_SHARE: z.coerce.number().min(0).max(1).default(0.02),
  STRATA_REPLAY_BUDGET_MS: z.coerce.number().int().min(0).max(600_000).default(1_000),
  STRATA_HEDGE_AFTER: z.coerce.number().min(1).max(1_000).optional(),
  // The node allows 1,024 connections; some are for other gateways.
  STRATA_NETWORK_WORKERS: z.coerce.number().int().min(1).max(1_000).default(1_000),
  STRATA_NETWORK_MODELS: z.coerce.number().int().min(1).max(1_000).default(64),
});

export interface NetworkConfig {
  readonly peer: PeerSettings;
  /**
   * SHA-256 by name: no other file is served under that name, and the gateway searches the network for workers with the
   * file.
   */
  readonly pins: ReadonlyMap<string, string>;
  /** The share of answers to audit for workers with a good reputation, 0 to 1. */
  readonly auditShare: number;
  /**
   * Maximum interruption when a worker is lost: within it, the answer is continued exactly, by replaying it token by
   * token.
   */
  readonly replayBudgetMs: number;
  /** A second worker is asked after this multiple of the expected time to first token. */
  readonly hedgeAfter: number | undefined;
  /** Maximum number of connected workers, and of served models. */
  readonly maxWorkers: number;
  readonly maxModels: number;
}

/**
 * Workers connect to gateways: a gateway listens on a port that is easily opened in a firewall, next to its API.
 * WebSockets are for workers behind a web proxy.
 */
const LISTEN = ['/ip4/0.0.0.0/tcp/9788', '/ip4/0.0.0.0/tcp/9789/ws'];

/** Undefined: the gateway does not join the network. Naming a peer to join enables the network. */
export function networkConfigOf(
  settings: z.output<typeof NetworkEnvironment>,
  directory: string,
): NetworkConfig | undefined {
  const isOn = (settings.STRATA_NETWORK ?? (settings.STRATA_JOIN === undefined ? 'off' : 'on')) === 'on';
  if (!isOn) return undefined;
  return {
    peer: readPeerSettings(settings, { directory, listen: LISTEN }),
    pins: settings.STRATA_PIN_MODELS ?? new Map(),
    auditShare: settings.STRATA_AUDIT_SHARE,
    replayBudgetMs: settings.STRATA_REPLAY_BUDGET_MS,
    hedgeAfter: settings.STRATA_HEDGE_AFTER,
    maxWorkers: settings.STRATA_NETWORK_WORKERS,
    maxModels: settings.STRATA_NETWORK_MODELS,
  };
}
