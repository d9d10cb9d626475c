// Suggestions for the explorer's search box: names of domains and providers only. It is called at each pause in typing, so it needs
// no key, does not count towards the quota and has no receipt: like /site.json it belongs to the page and not to the API, whose JSON
// answers are all signed.
import { isUnavailable } from '@strata/analytics-clickhouse';
import { countedNetworks, type HttpServer, parseInput, Refusal } from '@strata/http';
import { RateLimiter } from '@strata/limits';
import { z } from 'zod';
import type { StackApp } from '../context.ts';
import { sleep } from '../sleep.ts';
import { NameWords } from './parameters.ts';

const MAX_DOMAINS = 8;
const MAX_PROVIDERS = 5;
/** Maximum length of a domain name (RFC 1035, 2.3.4). */
const MAX_LENGTH = 253;
/** Shorter text is in nearly every name: then only names that begin with it are suggested, without aliases. */
const ANYWHERE_FROM = 3;
/** ClickHouse reads all names, while the user types another letter. */
const ANYWHERE_MS = 300;
/** For one address (its networks have more, see counted-address.ts): several users behind it, each typing fast. */
const RATE = { limit: 100, period: 10_000, refill: 'window' } as const;

const query = z.object({ q: z.string().max(MAX_LENGTH).default('') });

export interface Suggestions {
  readonly domains: readonly string[];
  readonly providers: readonly { readonly id: string; readonly name: string }[];
}

type Known = Pick<StackApp, 'analytics' | 'known' | 'rulebook' | 'store' | 'now'>;

/** Serves `GET /suggest?q=`. */
export function serveSuggestions(fastify: HttpServer['fastify'], known: Known): void {
  const suggest = suggester(known);
  const rate = new RateLimiter({ ...RATE, now: () => known.now().getTime() });
  fastify.get('/suggest', async (request, reply) => {
    const waitMs = rate.take(countedNetworks(request.ip));
    if (waitMs > 0) {
      const headers = { 'retry-after': String(Math.ceil(waitMs / 1_000)) };
      throw new Refusal('quota_exceeded', undefined, { headers });
    }
    const { q } = parseInput({ query }, request) as z.output<typeof query>;
    return reply.header('cache-control', 'private, max-age=30').send(await suggest(q));
  });
}

/** Exact names first, then names that begin with the text, then names that contain it. */
export function suggester(deps: Omit<Known, 'now'>): (text: string) => Promise<Suggestions> {
  const { known, rulebook } = deps;
  const providers = [...rulebook.providers.values()].map(({ id, name, aliases }) => ({
    id,
    name,
    word: comparable(name),
    otherNames: [...new Set([id, ...aliases].map(comparable))],
  }));
  return async (text) => {
    const wanted = comparable(text);
    if (wanted === '') return { domains: [], providers: [] };
    const isShort = wanted.length < ANYWHERE_FROM;
    const ranked = providers
      .map(({ id, name, word, otherNames }) => {
        const candidates = isShort ? [word] : [word, ...otherNames];
        return { id, name, rank: Math.min(...candidates.map((each) => rankOf(each, wanted))) };
      })
      .filter(({ rank }) => rank <= (isShort ? 1 : 2))
      .map((provider) => ({ ...provider, domains: known.usersOf(provider.id) ?? 0 }))
      .toSorted((a, b) => a.rank - b.rank || b.domains - a.domains || (a.id < b.id ? -1 : 1));
    return {
      domains: await domainsLike(deps, wanted),
      providers: ranked.slice(0, MAX_PROVIDERS).map(({ id, name }) => ({ id, name })),
    };
  };
}

/** Names that contain the part are searched only if too few begin with it, and left out where ClickHouse does not respond soon. */
async function domainsLike({ analytics, store }: Omit<Known, 'now'>, text: string): Promise<readonly string[]> {
  const part = NameWords.safeParse(text).data;
  if (part === undefined) return [];
  const begun = await store.domains.namesFrom(part, MAX_DOMAINS);
  if (begun.length === MAX_DOMAINS || part.length < ANYWHERE_FROM) return begun;
  const page = { limit: MAX_DOMAINS, offset: 0, timeoutMs: ANYWHERE_MS };
  const anywhere = analytics.search({ filter: { part }, ...page }).then(
    ({ domains }) => domains.map(({ name }) => name),
    (error: unknown) => (isUnavailable(error) ? begun : Promise.reject(error)),
  );
  const waiting = new AbortController();
  const late = sleep(2 * ANYWHERE_MS, waiting.signal).then(() => begun);
  // A failure after that is not reported.
  anywhere.catch(() => {}).finally(() => waiting.abort());
  return Promise.race([anywhere, late]);
}

function comparable(text: string): string {
  return text.normalize('NFC').trim().toLowerCase();
}

/** 0: equal, 1: begins with it, 2: contains it or each of its words, 3: no match. */
function rankOf(name: string, wanted: string): number {
  const at = name.indexOf(wanted);
  if (at === 0) return name.length === wanted.length ? 0 : 1;
  return at > 0 || wanted.split(' ').every((word) => name.includes(word)) ? 2 : 3;
}
