// Common parts of the provider tables: DNS names of the provider itself, and texts with values for one customer.
import { readRows } from '../data.ts';
import type { NetworkRef } from '../dns/networks.ts';
import type { Mint } from '../random.ts';

/**
 * A suffix under which every name exists: `host` has A and AAAA in the network, `spf` an SPF record over it,
 * `dkim` a DKIM key, `report` a report authorisation (RFC 7489 §7.1); `text` a literal TXT record.
 */
export interface ProviderName {
  readonly suffix: string;
  readonly network: NetworkRef;
  readonly has: readonly ('host' | 'spf' | 'dkim' | 'report')[];
  readonly text?: string;
}

/** A further provider that the records, headers or pages of one reveal, without being asked for. */
export interface Revealed {
  readonly category: string;
  readonly provider: string;
}

export function names(network: NetworkRef, has: ProviderName['has'], ...suffixes: readonly string[]): ProviderName[] {
  return suffixes.map((suffix) => ({ suffix, network, has }));
}

/**
 * A DKIM record (RFC 6376 §3.6.1) with a well-formed RSA public key (RFC 8017 §A.1.1) of 2,048 bits, in one case of four of
 * 1,024: the base64 of the header, an odd modulus whose first bit is 1, and the exponent 65537. It has no private key.
 */
export function dkimKey(mint: Mint, purpose: string): string {
  const [header, length] =
    mint.number(`${purpose} bits`, 0, 3) === 0
      ? ['MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQD', 170]
      : ['MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAx', 340];
  return `v=DKIM1; k=rsa; p=${header}${mint.code(purpose, length)}wIDAQAB`;
}

/** The rows of a data file. The given fields, texts or lists and records of texts, become functions of the customer. */
export function readTemplates<Row>(name: string, fields: readonly (keyof Row & string)[]): Row[] {
  return readRows<Record<string, unknown>>(name).map((row) => {
    const functions = fields.flatMap((field) =>
      Object.hasOwn(row, field) ? [[field, (mint: Mint) => filledIn(row[field], mint)]] : [],
    );
    return { ...row, ...Object.fromEntries(functions) } as Row;
  });
}

function filledIn(value: unknown, mint: Mint): unknown {
  if (typeof value === 'string') return filled(value, mint);
  if (Array.isArray(value)) return value.map((each) => filledIn(each, mint)).filter((each) => each !== '');
  return Object.fromEntries(Object.entries(Object(value)).map(([key, each]) => [key, filledIn(each, mint)]));
}

const FIELD = /\[([^[\]]+)\]/;

/**
 * A text with its values for one customer. In brackets, innermost first: `domain`, `slug`, `brand`; `hex PURPOSE LENGTH`;
 * `code PURPOSE LENGTH`, also with `lower` or `upper`; `number PURPOSE FROM TO`, also with steps in order, such as `*2`,
 * `-1`, `%60` and `pad2`; `dkim PURPOSE`; `pick PURPOSE a|b|c`; and `if PURPOSE 4 a|b`, which is a for one customer in four.
 */
export function filled(text: string, mint: Mint): string {
  const field = FIELD.exec(text);
  if (!field) return text;
  return filled(
    text.replace(FIELD, () => valueFor(field[1] ?? '', mint)),
    mint,
  );
}

function valueFor(field: string, mint: Mint): string {
  const [kind, purpose = '', ...more] = field.split(' ');
  const [first, second, ...steps] = more;
  switch (kind) {
    case 'domain':
    case 'slug':
    case 'brand':
      return mint[kind];
    case 'hex':
    case 'code': {
      const value = mint[kind](purpose, Number(first));
      return second === 'lower' ? value.toLowerCase() : second === 'upper' ? value.toUpperCase() : value;
    }
    case 'number':
      return steps.reduce(stepped, String(mint.number(purpose, Number(first), Number(second))));
    case 'dkim':
      return dkimKey(mint, purpose);
    case 'pick': {
      const choices = more.join(' ').split('|');
      return choices[mint.number(purpose, 0, choices.length - 1)] ?? '';
    }
    case 'if': {
      const [one = '', other = ''] = more.slice(1).join(' ').split('|');
      return mint.number(purpose, 0, Number(first) - 1) === 0 ? one : other;
    }
    default:
      throw new RangeError(`'${field}' is not a value of a customer`);
  }
}

function stepped(value: string, step: string): string {
  const [, operation = '', given = ''] = /^(\D+)(\d+)$/.exec(step) ?? [];
  const [number, by] = [Number(value), Number(given)];
  const results: Readonly<Record<string, number>> = {
    '*': number * by,
    '+': number + by,
    '-': number - by,
    '%': number % by,
  };
  return operation === 'pad' ? value.padStart(by, '0') : String(results[operation]);
}
