// The plan of each feed: publisher, address, format, frequency. Drawn from the seed.
import { hashOf, type Random, randomFor } from '../random.ts';
import { behaviourOf, type FeedBehaviour } from './behaviours.ts';

export type FeedFormat = 'rss-2.0' | 'rss-0.91' | 'rss-1.0' | 'atom' | 'json';
export type FeedCharset = 'utf-8' | 'windows-1252' | 'utf-16le' | 'utf-16be';

/** The UTC offset of its dates. */
export type FeedZone = 'utc' | 'east';

export interface FeedPlan {
  readonly url: string;
  /** Its second address, if it moved. */
  readonly movedTo: string | null;
  readonly host: string;
  /** Domain of its site. */
  readonly publisher: string;
  readonly title: string;
  readonly behaviour: FeedBehaviour;
  readonly format: FeedFormat;
  readonly charset: FeedCharset;
  /** The charset is in the content type too, not only in the document. */
  readonly isCharsetInHeader: boolean;
  readonly isCompressed: boolean;
  readonly guid: 'permalink' | 'opaque' | 'missing';
  readonly dates: 'usual' | 'iso' | 'missing';
  readonly zone: FeedZone;
  readonly text: 'cdata' | 'escaped' | 'summary-and-cdata' | 'xhtml';
  /** Items link to other sites. */
  readonly isLinkBlog: boolean;
  /** Items per day; below 1, the probability of one. */
  readonly rate: { readonly min: number; readonly max: number } | { readonly chance: number };
  /** Number of newest items shown. */
  readonly shown: number;
}

interface FeedPosition {
  readonly index: number;
  readonly publisher: string;
  /** Index among the feeds of the same publisher. */
  readonly nth: number;
}

/** Used in rotation, from an offset by publisher; later ones are numbered. */
const PATHS = ['/feed.xml', '/blog/atom.xml', '/news/rss', '/feed/', '/index.xml', '/rss.php?type=all', '/press/feed'];
const FORMATS = [
  { format: 'rss-2.0', weight: 62 },
  { format: 'atom', weight: 18 },
  { format: 'json', weight: 8 },
  { format: 'rss-1.0', weight: 7 },
  { format: 'rss-0.91', weight: 5 },
] as const;
const CHARSETS = [
  { charset: 'utf-8', weight: 90 },
  { charset: 'windows-1252', weight: 6 },
  { charset: 'utf-16le', weight: 2 },
  { charset: 'utf-16be', weight: 2 },
] as const;

export function feedPlanOf(seed: string, { index, publisher, nth }: FeedPosition): FeedPlan {
  const r = randomFor(seed, 'feed', index);
  const host = r.chance(0.5) ? publisher : `www.${publisher}`;
  const scheme = r.chance(0.1) ? 'http' : 'https';
  const turn = hashOf(seed, 'feed-path', publisher) % PATHS.length;
  const path = (nth < PATHS.length && PATHS[(turn + nth) % PATHS.length]) || `/feeds/${nth}.xml`;
  const behaviour = behaviourOf(seed, index);
  const format = drawFormat(r, behaviour);
  const isMoved = behaviour === 'moved-permanently' || behaviour === 'moved-temporarily';
  const charset = r.weighted(CHARSETS).charset;
  return {
    url: `${scheme}://${host}${path}`,
    movedTo: isMoved ? `https://${host}/moved/${nth}.xml` : null,
    host,
    publisher,
    title: `${publisher.slice(0, publisher.indexOf('.'))} ${r.pick(['blog', 'news & views', 'journal', 'notes – all'])}`,
    behaviour,
    format,
    charset: behaviour === 'wrong-charset' ? 'windows-1252' : format === 'json' ? 'utf-8' : charset,
    isCharsetInHeader: r.chance(0.5),
    isCompressed: hashOf(seed, 'feed-gzip', index) % 8 === 0,
    guid: format === 'rss-2.0' ? r.pick(['permalink', 'permalink', 'opaque', 'missing']) : drawGuid(r, format),
    dates: format === 'rss-0.91' ? 'missing' : r.pick([...USUAL, 'iso', 'missing']),
    zone: r.chance(0.25) ? 'east' : 'utc',
    text: drawText(r, format),
    isLinkBlog: r.chance(0.3),
    rate: r.chance(0.2) ? { min: 3, max: 5 } : { chance: 1 / r.between(2, 6) },
    shown: r.between(15, 30),
  };
}

const USUAL = Array.from({ length: 8 }, () => 'usual' as const);

function drawFormat(r: Random, behaviour: FeedBehaviour): FeedFormat {
  const { format } = r.weighted(FORMATS);
  if (behaviour === 'ttl' || behaviour === 'skip-hours') return 'rss-2.0';
  // These behaviours need XML.
  const isXml = behaviour === 'malformed' || behaviour === 'wrong-charset';
  return isXml && format === 'json' ? 'rss-2.0' : format;
}

/** Atom and JSON Feed always have an id, the older formats never. */
function drawGuid(r: Random, format: FeedFormat): FeedPlan['guid'] {
  return format === 'atom' || format === 'json' ? r.pick(['permalink', 'opaque']) : 'missing';
}

function drawText(r: Random, format: FeedFormat): FeedPlan['text'] {
  if (format === 'rss-0.91') return 'escaped';
  return r.pick(['cdata', 'escaped', format === 'atom' ? 'xhtml' : 'summary-and-cdata']);
}
