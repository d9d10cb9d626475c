// What a reader may mean while still typing: names of domains and providers, and nothing else. The explorer's search box
// asks this at each pause in the typing, so it needs no key, costs none of the key's day and leaves no receipt: it is the
// page's own, like /site.json, and no part of the API, whose JSON answers are all signed.
import { type DomainIndex, searchDomains } from '@strata/analytics';
import { countedNetworks, type HttpServer, RateWindow, Refusal } from '@strata/http';
import { asciiPart } from './parameters.ts';

const MAX_DOMAINS = 8;
const MAX_PROVIDERS = 5;
/** A domain name has no more (RFC 1035, 2.3.4). */
const LONGEST = 253;
/** What is shorter is in nearly every name: then only names that begin with it are told, and no aliases. */
const ANYWHERE_FROM = 3;
/** Of one address (its networks have more, see counted-address.ts): several readers behind it, each typing fast. */
const RATE = { limit: 100, windowMs: 10_000 } as const;

export interface Suggestions {
  readonly domains: readonly string[];
  readonly providers: readonly { readonly id: string; readonly name: string }[];
}

interface Known {
  readonly index: DomainIndex;
  readonly rulebook: {
    readonly providers: ReadonlyMap<
      string,
      { readonly id: string; readonly name: string; readonly aliases: readonly string[] }
    >;
  };
  readonly now: () => Date;
}

/** Serves `GET /suggest?q=`. */
export function serveSuggestions(fastify: HttpServer['fastify'], known: Known): void {
  const suggest = suggester(known);
  const rate = new RateWindow({ ...RATE, now: known.now });
  fastify.get<{ Querystring: { readonly q?: unknown } }>('/suggest', (request, reply) => {
    const seconds = rate.take(countedNetworks(request.ip));
    if (seconds > 0) {
      const headers = { 'retry-after': String(seconds) };
      throw new Refusal('quota_exceeded', undefined, { headers });
    }
    const { q = '' } = request.query;
    // Too long, or given more than once.
    if (typeof q !== 'string' || q.length > LONGEST) throw new Refusal('invalid_parameter');
    return reply.header('cache-control', 'private, max-age=30').send(suggest(q));
  });
}

/** Exact names come first, then names that begin with the text, then names that hold it. */
export function suggester({ index, rulebook }: Omit<Known, 'now'>): (text: string) => Suggestions {
  const providers = [...rulebook.providers.values()].map(({ id, name, aliases }) => ({
    id,
    name,
    word: comparable(name),
    others: [...new Set([id, ...aliases].map(comparable))],
  }));
  const domainsOf = (id: string) => {
    const number = index.vocabulary.providers.find(id);
    return number === undefined ? 0 : index.sets.provider(number).size;
  };
  return (text) => {
    const wanted = comparable(text);
    if (wanted === '') return { domains: [], providers: [] };
    const isShort = wanted.length < ANYWHERE_FROM;
    const ranked = providers
      .map(({ id, name, word, others }) => {
        const words = isShort ? [word] : [word, ...others];
        return { id, name, rank: Math.min(...words.map((each) => rankOf(each, wanted))) };
      })
      .filter(({ rank }) => rank <= (isShort ? 1 : 2))
      .map((provider) => ({ ...provider, domains: domainsOf(provider.id) }))
      .toSorted((a, b) => a.rank - b.rank || b.domains - a.domains || (a.id < b.id ? -1 : 1));
    return {
      domains: domainsLike(index, asciiPart(wanted)),
      providers: ranked.slice(0, MAX_PROVIDERS).map(({ id, name }) => ({ id, name })),
    };
  };
}

/** Where names that begin with the part are enough, a search is not needed for those that only hold it. */
function domainsLike(index: DomainIndex, part: string): string[] {
  const { names } = index;
  const [from, to] = names.prefixRange(part);
  const begun = names.order().subarray(from, Math.min(to, from + MAX_DOMAINS));
  const found =
    begun.length === MAX_DOMAINS || part.length < ANYWHERE_FROM
      ? [...begun]
      : searchDomains(index, { part }, { limit: MAX_DOMAINS, offset: 0 }).domains;
  return found.map((domain) => names.name(domain));
}

function comparable(text: string): string {
  return text.normalize('NFC').trim().toLowerCase();
}

/** 0 the same, 1 begins so, 2 holds it, 3 does not. */
function rankOf(word: string, wanted: string): number {
  const at = word.indexOf(wanted);
  if (at <= 0) return at < 0 ? 3 : word.length === wanted.length ? 0 : 1;
  return 2;
}
