// Settings from the environment: what a table of variables takes, and one line for each that it does not.
import { isIP } from 'node:net';
import { z } from 'zod';

/** Parts between commas and blanks. */
export const List = z.string().transform((value) =>
  value
    .split(/[\s,]+/)
    .map((item) => item.trim())
    .filter((item) => item.length > 0),
);

/** An address or `address/prefix`, IPv4 or IPv6. */
export const AddressRange = z.string().refine(
  (value) => {
    const [address = '', prefix, ...rest] = value.split('/');
    const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
    return (
      bits > 0 && rest.length === 0 && (prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits))
    );
  },
  { error: ({ input }) => `'${input}' is no address and no address/prefix` },
);

/** A host as a `Host` header names it, without port; or `*` for any. */
export const HostName = z
  .string()
  .refine((value) => value === '*' || /^(?:[A-Za-z0-9_-]+\.)*[A-Za-z0-9_-]+$|^\[?[0-9A-Fa-f:.]+\]?$/.test(value), {
    error: ({ input }) => `'${input}' is no host name such as api.example.com`,
  });

/** Of a service on the web, without a slash at its end. */
export const WebAddress = z.url({ protocol: /^https?$/ }).transform((value) => value.replace(/\/+$/, ''));

/** `sqlite:<path>` or `postgres://…`. A refused value may hold a password: it is not repeated. */
export const DatabaseUrl = z
  .string()
  .regex(/^(?:sqlite:.|postgres(?:ql)?:\/\/)/, { error: 'must begin with sqlite: or postgres://', abort: true })
  .refine(isReadAsMeant, {
    error:
      'cannot be read as postgres://user:password@host:port/database; write `/`, `#`, `?` and other signs of user and password percent-encoded, as %2F, %23 and %3F',
  });

/**
 * A `/`, `#` or `?` in a password ends the host there: most often the rest is no port, and where it is one a part of the
 * password would be taken for the database, and the user for the host. What follows a `#` has no meaning to a database.
 */
function isReadAsMeant(value: string): boolean {
  if (value.startsWith('sqlite:')) return true;
  const url = URL.parse(value);
  if (url === null || url.hash !== '') return false;
  const isCut =
    url.username === '' &&
    url.host !== '' &&
    `${url.pathname}${url.pathname.length > 1 ? '' : url.search}`.includes('@');
  return !isCut;
}

/** Connections to a database server, at most. */
export const PoolSize = z.coerce.number().int().min(2).max(1_000);

/** `NAME: what is wrong`. Of a list, which of its items says the message, not the name. */
function describeIssue({ path, code, message, ...rest }: z.core.$ZodIssue): string {
  const isNoNumber = code === 'invalid_type' && 'expected' in rest && rest.expected === 'number';
  return `${String(path[0])}: ${isNoNumber ? 'must be a number' : message}`;
}

/** Values without blanks around them; empty ones count as absent, and other variables are passed over. Throws what `refusal` makes. */
export function readEnvironment<Table extends z.ZodObject>(
  table: Table,
  env: Readonly<Record<string, string | undefined>>,
  refusal: (problems: string) => Error,
): z.output<Table> {
  const given = Object.fromEntries(
    Object.keys(table.shape).flatMap((name) => {
      const value = env[name]?.trim();
      return value ? [[name, value]] : [];
    }),
  );
  const parsed = table.safeParse(given);
  if (parsed.success) return parsed.data;
  throw refusal(parsed.error.issues.map(describeIssue).join('\n'));
}
