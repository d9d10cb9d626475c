// Software with vulnerabilities, under every publisher's name for it.
import { readRows } from '../data.ts';
import type { AffectedProduct } from './facts.ts';

interface Row extends Omit<AffectedProduct, 'versions'> {
  readonly name: string;
}

const software = new Map(readRows<Row>('software').map(({ name, ...product }) => [name, product]));

/** `'2.4.0 <2.4.59'`, `'<=2.4.57'`, `'=2.4.49'`, `'8.1.0 <8.1.29'` as intervals of a product. Throws RangeError for an unknown name. */
export function of(name: string, ...ranges: readonly string[]): AffectedProduct {
  const product = software.get(name);
  if (!product) throw new RangeError(`no software '${name}'`);
  return { ...product, versions: ranges.map(intervalOf) };
}

function intervalOf(range: string): AffectedProduct['versions'][number] {
  if (range === '*') return {};
  if (range.startsWith('=')) return { from: range.slice(1), upTo: range.slice(1) };
  const terms = range.split(' ');
  const last = terms.at(-1) ?? '';
  const from = last === terms[0] && /^\d/.test(last) === false ? undefined : terms[0];
  const end = last.startsWith('<=') ? { upTo: last.slice(2) } : last.startsWith('<') ? { below: last.slice(1) } : {};
  return { ...(from === undefined ? {} : { from }), ...end };
}
