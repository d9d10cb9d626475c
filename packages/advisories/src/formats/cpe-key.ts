// The product key of a CPE name, 2.3 or 2.2, also of names that CNAs truncate after the product:
// https://nvlpubs.nist.gov/nistpubs/Legacy/IR/nistir7695.pdf §6.
import type { ProductKey } from '../advisory.ts';

const MAX_NAME = 2_048;
/** A colon after a backslash belongs to the value. */
const FORMATTED = /^cpe:2\.3:[aho*-]:((?:[^:\\]|\\.)+):((?:[^:\\]|\\.)+)(?::|$)/;

/** `cpe:f5:nginx` for `cpe:2.3:a:f5:nginx:*…` or `cpe:/a:f5:nginx`; undefined without vendor or product. */
export function cpeProductKey(name: string): ProductKey | undefined {
  if (name.length > MAX_NAME) return undefined;
  const [, vendor, product] = FORMATTED.exec(name) ?? uri(name);
  return isNamed(vendor) && isNamed(product) ? `cpe:${unescaped(vendor)}:${unescaped(product)}` : undefined;
}

function uri(name: string): (string | undefined)[] {
  if (!name.startsWith('cpe:/')) return [];
  return name.slice('cpe:/'.length).split(':').map(decoded);
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

const isNamed = (value: string | undefined): value is string =>
  value !== undefined && value !== '' && value !== '*' && value !== '-';

const unescaped = (value: string) => value.replace(/\\(.)/g, '$1').toLowerCase().toWellFormed();
