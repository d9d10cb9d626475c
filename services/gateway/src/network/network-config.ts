// The network settings of a gateway: those of its node, which workers share, and its own.
import { itemsOf, loweredLimit } from '@strata/http';
import { JoinAddresses, PeerItems, readPeerSettings } from '@strata/p2p';
import { z } from 'zod';

/** The file of a name, and the digest of its tree if the operator knows it. */
interface Pin {
  readonly sha256: string;
  readonly treeSha256: string | undefined;
}

/**
 * Model names with the only file that may have each name: `name=sha256`, separated by spaces or commas, each optionally
 * with the digest of the file's tree: `name=sha256:tree`.
 */
const Pins = z.string().transform((text, context): ReadonlyMap<string, Pin> => {
  const pins = new Map<string, Pin>();
  for (const pin of text.split(/[\s,]+/).filter((each) => each !== '')) {
    const [, name, sha256, tree] = /^(.{1,200})=([0-9a-f]{64})(?::([0-9a-f]{64}))?$/i.exec(pin) ?? [];
    if (name === undefined || sha256 === undefined)
      context.addIssue({
        code: 'custom',
        message: `'${pin.slice(0, 100)}' is not of the form name=sha256 or name=sha256:tree`,
      });
    else if (pins.has(name)) context.addIssue({ code: 'custom', message: `'${name}' is pinned twice` });
    else pins.set(name, { sha256: sha256.toLowerCase(), treeSha256: tree?.toLowerCase() });
  }
  return pins;
});

export const NetworkEnvironment = z.object({
  STRATA_NETWORK: z.enum(['on', 'off']).optional().meta({
    description: 'whether workers can join',
    absent: '`on` if `STRATA_JOIN` is set, and for `inference gateway` with nothing else to serve; else `off`',
  }),
  STRATA_JOIN: JoinAddresses,
  STRATA_P2P: itemsOf(PeerItems).describe('options of the libp2p host, as `mdns=off,relay=on`'),
  STRATA_PIN_MODELS: Pins.optional().describe(
    '`name=sha256` or `name=sha256:tree`, comma-separated: the only file served under that name',
  ),
  STRATA_NETWORK_OPTIONS: itemsOf({
    'audit-share': z.coerce
      .number()
      .min(0)
      .max(1)
      .default(0.02)
      .describe('audited share of the answers of known workers'),
    'hedge-after': z.coerce
      .number()
      .min(1)
      .max(1_000)
      .optional()
      .describe('ask a second worker after this multiple of the expected time'),
    models: z.coerce
      .number()
      .int()
      .min(1)
      .max(1_000)
      .default(64)
      .describe('models of the network, pinned ones not counted'),
  }).describe('options of the network, as `audit-share=0.05`'),
});

export type NetworkConfig = NonNullable<ReturnType<typeof networkConfigOf>>;

/**
 * Workers connect to gateways: a gateway listens on a port that is easily opened in a firewall, next to its API.
 * WebSockets are for workers behind a web proxy.
 */
const LISTEN = ['/ip4/0.0.0.0/tcp/9788', '/ip4/0.0.0.0/tcp/9789/ws'];
/** The node allows 1,024 connections; some are for other gateways. */
const MAX_WORKERS = 1_000;

/** Undefined: the gateway does not join the network. Naming a peer to join enables the network. `env`: with former settings. */
export function networkConfigOf(
  settings: z.output<typeof NetworkEnvironment>,
  { directory, env }: { readonly directory: string; readonly env: Readonly<Record<string, string | undefined>> },
) {
  const isOn = (settings.STRATA_NETWORK ?? (settings.STRATA_JOIN === undefined ? 'off' : 'on')) === 'on';
  if (!isOn) return undefined;
  const pins = settings.STRATA_PIN_MODELS ?? new Map<string, Pin>();
  return {
    peer: readPeerSettings(settings, { directory, listen: LISTEN }),
    /** No other file is served under that name, and the gateway searches the network for workers with the file. */
    pins: new Map([...pins].map(([name, { sha256 }]) => [name, sha256])),
    /** Digests of the trees of pinned files, by SHA-256. */
    trees: new Map([...pins.values()].flatMap(({ sha256, treeSha256 }) => (treeSha256 ? [[sha256, treeSha256]] : []))),
    auditShare: settings.STRATA_NETWORK_OPTIONS['audit-share'],
    hedgeAfter: settings.STRATA_NETWORK_OPTIONS['hedge-after'],
    /** Connected workers; the least useful are evicted. */
    maxWorkers: loweredLimit(MAX_WORKERS, env.STRATA_NETWORK_WORKERS),
    maxModels: settings.STRATA_NETWORK_OPTIONS.models,
  };
}
