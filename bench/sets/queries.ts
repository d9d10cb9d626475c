// Queries of ten terms on the index, against ten passes over bitmaps of all domains, and the counts of their domains.
import { countDomains, type DomainIndex, evaluateQuery, type QueryNames, readQuery } from '@strata/analytics';
import { loadedWorld } from '@strata/testnet';
import { type Figure, median, setting, thousands, timed } from '../measure.ts';
import { indexOf } from './sets-engines.ts';

const ENDS_AT = Date.parse('2026-11-21T12:00:00Z');
const GOAL_MS = 20;
const ROUNDS = 15;
/** All but the last have ten terms; the second and third have two that visit single domains. */
const QUERIES = {
  'ten terms': (i: number) =>
    `state:live spf:valid -dmarc:reject tld:(com OR de) dns:* score:>=${i} -sector:unknown (tls:trusted OR caa:yes) -provider:provider-000${1 + (i % 8)}`,
  'eight, a part of the name and a scan time': (i: number) =>
    `${PARTS[i % PARTS.length]} scanned:>${i + 1}h state:live spf:valid -dmarc:reject tld:(com OR de) dns:* score:>=${i} tls:trusted`,
  'eight, the first scan and the last change': (i: number) =>
    `first_seen:>${i + 1}h -changed_since:${i + 9}h state:live spf:valid -dmarc:reject tld:(com OR de) dns:* score:>=${i} tls:trusted`,
  'the first scan or the last change alone': (i: number) => `first_seen:${i + 1}h OR since:${i + 9}h`,
};
const PARTS = ['brea', 'stox', 'grum', 'clix', 'pran', 'slay'];

const names: QueryNames = {
  providerId: (text) => text,
  nearestProvider: () => undefined,
  providersOfKind: () => [],
  nearest: () => undefined,
  asciiPart: (text) => text,
  segment: () => ({ kind: 'and', of: [] }),
  momentOf: (text) => ENDS_AT - Number.parseInt(text, 10) * 3_600_000,
};

export async function benchQueries(): Promise<Figure[]> {
  const domains = setting('DOMAINS', 1_000_000);
  const index = indexOf(loadedWorld({ domains, endsAt: ENDS_AT }));
  // Every domain has changed once within 400 hours.
  index.names.each((domain) => index.touch(domain, { changedAt: ENDS_AT - (domain % 400) * 3_600_000 }));
  const size = thousands(domains);
  const limitMs = Math.min(...(await rounds(passesOver(domains))));
  const figures: Figure[] = [[`${size}: ten passes over bitmaps of all domains`, `${limitMs.toFixed(2)} ms`]];
  for (const [what, textOf] of Object.entries(QUERIES)) {
    const times = await rounds((i) => evaluateQuery(index, readQuery(textOf(i), names)).size);
    const [fastest, middle] = [Math.min(...times), median(times)];
    const against = `${(fastest / limitMs).toFixed(0)} × the fastest passes; goal < ${GOAL_MS} ms`;
    figures.push([`${size}: ${what}, fastest; median`, `${fastest.toFixed(2)}; ${middle.toFixed(2)} ms`, against]);
  }
  return [...figures, await benchCounts(index, size)];
}

/** The first rounds compile the code. */
async function rounds(work: (i: number) => unknown): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < ROUNDS * 2; i += 1) times.push((await timed(() => work(i % ROUNDS))).seconds * 1_000);
  return times.slice(ROUNDS);
}

function passesOver(domains: number): () => number {
  const words = Math.ceil(domains / 32);
  const bits = Array.from({ length: 10 }, () => new Uint32Array(words).fill(0x7777_7777));
  const result = new Uint32Array(words).fill(0xffff_ffff);
  return () => {
    for (const each of bits) for (let i = 0; i < words; i += 1) result[i] = (result[i] as number) & (each[i] as number);
    return result[0] as number;
  };
}

/** The longest slice is how long another request waits. */
async function benchCounts(index: DomainIndex, size: string): Promise<Figure> {
  const most = evaluateQuery(index, readQuery('-name:zzzz', names));
  const all = most.size === index.size ? evaluateQuery(index, readQuery('-sector:unknown', names)) : most;
  const counting = countDomains(index, all);
  const slices: number[] = [];
  for (let isDone: boolean | undefined = false; !isDone; ) {
    const startedAt = performance.now();
    isDone = counting.next().done;
    slices.push(performance.now() - startedAt);
  }
  const total = slices.reduce((sum, each) => sum + each, 0);
  return [
    `${size}: aggregates of ${thousands(all.size)} domains; longest slice`,
    `${(total / 1_000).toFixed(2)} s; ${Math.max(...slices).toFixed(1)} ms`,
    `${((total * 1_000) / all.size).toFixed(2)} µs a domain`,
  ];
}
