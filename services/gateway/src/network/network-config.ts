// The settings of a gateway on the network: its host's, which workers share, and its own.
import { PeerEnvironment, type PeerSettings, readPeerSettings } from '@strata/p2p';
import { z } from 'zod';

/** Names as callers use them, each with the one model file that may have it: `name=sha256`, apart by spaces or commas. */
const Pins = z.string().transform((text, context): ReadonlyMap<string, string> => {
  const pins = new Map<string, string>();
  for (const pin of text.split(/[\s,]+/).filter((each) => each !== '')) {
    const [, name, sha256] = /^(.{1,200})=([0-9a-f]{64})$/i.exec(pin) ?? [];
    if (name === undefined || sha256 === undefined)
      context.addIssue({ code: 'custom', message: `'${pin.slice(0, 100)}' is no name=sha256` });
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
  // Its host holds 1,024 connections; some are other gateways'.
  STRATA_NETWORK_WORKERS: z.coerce.number().int().min(1).max(1_000).default(1_000),
  STRATA_NETWORK_MODELS: z.coerce.number().int().min(1).max(1_000).default(64),
});

export interface NetworkConfig {
  readonly peer: PeerSettings;
  /** SHA-256 by name: no other file is served under that name, and who has it is looked for. */
  readonly pins: ReadonlyMap<string, string>;
  /** Share of the answers of workers with a good reputation, 0 to 1. */
  readonly auditShare: number;
  /** What a lost worker may cost an answer: it goes on exactly, read again token by token, as long as that fits. */
  readonly replayBudgetMs: number;
  /** A second worker is asked after so many times the expected time to a first token. */
  readonly hedgeAfter: number | undefined;
  /** Workers connected, and models served, at most. */
  readonly maxWorkers: number;
  readonly maxModels: number;
}

/** Workers dial gateways: a gateway listens where a firewall is easily opened, beside its API. WebSockets are for hosts whose way out is a web proxy. */
const LISTEN = ['/ip4/0.0.0.0/tcp/9788', '/ip4/0.0.0.0/tcp/9789/ws'];

/** Undefined: the gateway stays out of the network. Naming somebody to join turns it on. */
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
