// Reads settings from the environment with a zod schema, with one error line per invalid variable.
import { isIP } from 'node:net';
import { z } from 'zod';
import { ConnectionEnvironment } from '../limits/connection-settings.ts';
import { plainMessage } from '../problems/plain-message.ts';
import { SettingsError } from '../user-error.ts';
import { itemsOf } from './items.ts';

/** Items separated by commas and whitespace. */
export const List = z.string().transform((value) =>
  value
    .split(/[\s,]+/)
    .map((item) => item.trim())
    .filter((item) => item.length > 0),
);

/** An address or `address/prefix`, IPv4 or IPv6. */
const AddressRange = z.string().refine(
  (value) => {
    const [address = '', prefix, ...rest] = value.split('/');
    const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
    return (
      bits > 0 && rest.length === 0 && (prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits))
    );
  },
  { error: ({ input }) => `'${input}' is not an address or address/prefix` },
);

/** A host as in a `Host` header, without port; `*` for any. */
const HostName = z
  .string()
  .refine((value) => value === '*' || /^(?:[A-Za-z0-9_-]+\.)*[A-Za-z0-9_-]+$|^\[?[0-9A-Fa-f:.]+\]?$/.test(value), {
    error: ({ input }) => `'${input}' is not a host name such as api.example.com`,
  });

/** URL of a web service, without a trailing slash. */
export const WebAddress = z.url({ protocol: /^https?$/ }).transform((value) => value.replace(/\/+$/, ''));

/** `sqlite:<path>` or `postgres://…`. An invalid value may contain a password: it is not repeated in the message. */
export const DatabaseUrl = z
  .string()
  .regex(/^(?:sqlite:.|postgres(?:ql)?:\/\/)/, { error: 'must begin with sqlite: or postgres://', abort: true })
  .refine(isUnambiguous, {
    error:
      'must have the form postgres://user:password@host:port/database; percent-encode `/`, `#`, `?` and other special characters in user and password, as %2F, %23 and %3F',
  });

/**
 * An unencoded `/`, `#` or `?` in a password ends the host: usually the remainder is not a valid port; if it is, part
 * of the password would be read as the database, and the user as the host. A fragment (`#`) has no meaning in a
 * database URL.
 */
function isUnambiguous(value: string): boolean {
  if (value.startsWith('sqlite:')) return true;
  const url = URL.parse(value);
  if (url === null || url.hash !== '') return false;
  const isCut =
    url.username === '' &&
    url.host !== '' &&
    `${url.pathname}${url.pathname.length > 1 ? '' : url.search}`.includes('@');
  return !isCut;
}

/** Maximum connections to a database server. */
export const PoolSize = z.coerce
  .number()
  .int()
  .min(2)
  .max(1_000)
  .default(10)
  .describe('PostgreSQL connections; plus up to three for the ledger and one for each lock; of a `scanner` two in all');

export const Port = z.coerce.number().int().min(0).max(65_535);

/** Ports of metrics, by service. A number without a name is that of the stack service; gateway and worker have no default. */
export const MetricsPorts = itemsOf(
  { stack: Port.default(9464), gateway: Port.optional(), worker: Port.optional() },
  { first: 'stack' },
).meta({
  description: 'ports of metrics, `/health` and `/ready`, as `9464,gateway=9465,worker=9466`',
  absent: '`9464` of the stack service',
});

/** The origin of a ledger: the first line of its checkpoints. */
export const LedgerOrigin = z
  .string()
  .regex(/^[a-z0-9.-]+(?:\/[a-z0-9./-]+)?$/, 'must be a host name with an optional path');

/** Settings of every service. */
export const ServiceEnvironment = z.object({
  STRATA_DATA: z.string().min(1).default('./data').describe('data directory: databases, ledgers, signing keys, models'),
  STRATA_HOST: z.string().min(1).default('127.0.0.1').describe('address to listen on; of a worker, for its metrics'),
  STRATA_LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .describe('`fatal` … `trace`, `silent`'),
});

/** Settings of every service with an API and a database. */
export const ServerEnvironment = z.object({
  STRATA_TRUSTED_PROXIES: List.pipe(z.array(AddressRange))
    .default([])
    .describe('addresses or CIDRs whose `X-Forwarded-For` is trusted; limits per address need it'),
  STRATA_ALLOWED_HOSTS: List.pipe(z.array(HostName))
    .default([])
    .describe('host names that requests may name, `*` for any ([security](security.md#host-and-origin))'),
  STRATA_ALLOW_ADDRESSES: List.pipe(z.array(AddressRange))
    .default([])
    .describe('private CIDRs that scans, feeds, webhooks and witnesses may connect to'),
  ...ConnectionEnvironment.shape,
  STRATA_DRAIN_SECONDS: z.coerce
    .number()
    .min(0)
    .max(600)
    .optional()
    .describe('time between a failing `/ready` and the end on SIGTERM; 0, or 3 for a gateway while another one runs'),
});

/** `NAME: message`. For an item of a list, the message names the item; named items, and what is in maps, come before it. */
function describeIssue({ path: [name, ...items], code, message, ...rest }: z.core.$ZodIssue): string {
  const isNoNumber = code === 'invalid_type' && 'expected' in rest && rest.expected === 'number';
  const where = typeof items[0] === 'string' ? `${String(name)}: ${items.map(String).join('.')}` : String(name);
  return `${where}: ${isNoNumber ? 'must be a number' : message}`;
}

/** Trims values; empty ones count as absent, and other variables are ignored. Throws SettingsError. */
export function readEnvironment<Table extends z.ZodObject>(
  table: Table,
  env: Readonly<Record<string, string | undefined>>,
): z.output<Table> {
  const given = Object.fromEntries(
    Object.keys(table.shape).flatMap((name) => {
      const value = env[name]?.trim();
      return value ? [[name, value]] : [];
    }),
  );
  const parsed = table.safeParse(given, { error: plainMessage });
  if (parsed.success) return parsed.data;
  throw new SettingsError(parsed.error.issues.map(describeIssue).join('\n'));
}
