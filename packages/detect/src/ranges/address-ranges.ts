// Published address ranges -> the product at an address. Files are given as text: no I/O here.
import type { Provider } from '../rulebook/catalog.ts';
import { Digest } from '../rulebook/digest.ts';
import { parseAddress, parseCidr, prefixText } from './ip-address.ts';
import { PrefixTable, type TableEntry } from './prefix-table.ts';
import { type RangeFormat, readRangeFile, type TaggedPrefix } from './range-formats.ts';
import { createMeanings, type Meaning } from './range-meanings.ts';

export interface RangeFile {
  /** Without folder; identifies a plain list: `digitalocean.csv`. */
  readonly name: string;
  readonly text: string;
}

/** What was read of a file; `ignored` counts prefixes with an unknown tag. */
export interface RangeFileReport {
  readonly name: string;
  readonly format: RangeFormat;
  readonly ranges: number;
  readonly ignored: number;
}

type Product = Pick<Meaning, 'provider' | 'category'>;

/** The range that contains an address. */
export interface PublishedRange extends Product {
  /** `192.0.2.0/24`. */
  readonly prefix: string;
}

/** Immutable. */
export interface AddressRanges {
  /** Number of ranges read, including duplicates. */
  readonly size: number;
  /** Size of the search tables. */
  readonly sizeBytes: number;
  /** The same ranges with the same meaning give the same digest; part of the rulebook's version. */
  readonly digest: string;
  readonly files: readonly RangeFileReport[];
  /** Every provider and category of a range, sorted. */
  readonly products: readonly Product[];
  /** The longest range that contains an address; undefined without one, and for text that is not an address. */
  find(address: string): PublishedRange | undefined;
}

/** The problems of the files; `problems` has one line each: file, position, message; the first hundred. */
export class AddressRangeError extends Error {
  override readonly name = 'AddressRangeError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[], count: number) {
    const lines = problems.map((problem) => `\n  ${problem}`).join('');
    const rest = count > problems.length ? `\n  and ${count - problems.length} more` : '';
    super(`the address ranges have ${count} problem(s):${lines}${rest}`);
    this.problems = problems;
  }
}

/** Several times what the large clouds and edges publish together. */
const MAX_RANGES = 500_000;
/** Wider ranges have no single owner: a typing error could assign the entire address space to one provider. */
const MIN_LENGTH_IPV4 = 8;
const MIN_LENGTH_IPV6 = 16;
const MAX_PROBLEMS = 100;

interface ProductRange extends Omit<TableEntry, 'label'> {
  readonly product: Product;
}

/** Reads the files with the catalog's table of meanings; throws AddressRangeError with all problems. */
export function loadAddressRanges(
  files: readonly RangeFile[],
  { meanings, catalog }: { readonly meanings: readonly unknown[]; readonly catalog: readonly Provider[] },
): AddressRanges {
  const meaningOf = createMeanings(meanings, catalog);
  const problems = new Problems();
  const ranges: ProductRange[] = [];
  const reports: RangeFileReport[] = [];
  for (const { name, text } of files) {
    const read = readRangeFile(text, name.replace(/\.[^.]*$/, ''));
    if (typeof read === 'string') {
      problems.add(`${name} ${read}`);
      continue;
    }
    const before = ranges.length;
    for (const tagged of read.prefixes) {
      const meaning = meaningOf(read.format, tagged);
      if (meaning === undefined) continue;
      const range = typeof meaning === 'string' ? meaning : toRange(tagged, meaning);
      if (typeof range === 'string') problems.add(`${name} ${tagged.position}: ${range}`);
      else if (ranges.length < MAX_RANGES) ranges.push(range);
      else problems.add(`${name} ${tagged.position}: more than ${MAX_RANGES} ranges`);
    }
    const count = ranges.length - before;
    reports.push({ name, format: read.format, ranges: count, ignored: read.prefixes.length - count });
  }
  problems.throwAny();
  return createRanges(ranges, reports);
}

function toRange({ prefix }: TaggedPrefix, meaning: Meaning): ProductRange | string {
  const cidr = parseCidr(prefix);
  const shown = prefix.slice(0, 64);
  if (typeof cidr === 'string') return `'${shown}' ${cidr}`;
  const min = cidr.words.length === 1 ? MIN_LENGTH_IPV4 : MIN_LENGTH_IPV6;
  if (cidr.length < min) return `'${shown}' is wider than /${min}`;
  return { ...cidr, rank: meaning.rank, product: meaning };
}

function createRanges(ranges: readonly ProductRange[], files: readonly RangeFileReport[]): AddressRanges {
  const byName = new Map(ranges.map(({ product }) => [nameOf(product), product]));
  const sorted = [...byName].sort(([a], [b]) => (a < b ? -1 : 1));
  const labels = new Map(sorted.map(([name], label) => [name, label]));
  const tableOf = (width: 1 | 4) =>
    new PrefixTable(
      ranges
        .filter(({ words }) => words.length === width)
        .map(({ product, ...entry }) => ({ ...entry, label: labels.get(nameOf(product)) ?? 0 })),
      width,
    );
  const [ipv4, ipv6] = [tableOf(1), tableOf(4)];
  const digest = new Digest().addText([...labels.keys()].join('\n'));
  for (const words of [...ipv4.words, ...ipv6.words]) digest.addText('\n').addWords(words);
  const products = sorted.map(([, { provider, category }]) => ({ provider, category }));
  return {
    size: ranges.length,
    sizeBytes: ipv4.sizeBytes + ipv6.sizeBytes,
    digest: digest.hex,
    files,
    products,
    find: (address) => {
      const words = parseAddress(address);
      if (!words) return undefined;
      const hit = (words.length === 1 ? ipv4 : ipv6).find(words);
      const product = hit && products[hit.label];
      return product && { ...product, prefix: prefixText(words, hit.length) };
    },
  };
}

function nameOf({ provider, category }: Product): string {
  return `${provider} ${category}`;
}

class Problems {
  readonly #kept: string[] = [];
  #count = 0;

  add(problem: string): void {
    this.#count += 1;
    if (this.#kept.length < MAX_PROBLEMS) this.#kept.push(problem);
  }

  throwAny(): void {
    if (this.#count > 0) throw new AddressRangeError(this.#kept, this.#count);
  }
}
