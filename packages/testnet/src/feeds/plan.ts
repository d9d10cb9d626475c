// What each feed is: whose, where, in which form, how often. Drawn from the seed.
import { hashOf, type Random, randomFor } from '../random.ts';
import { behaviourOf, type FeedBehaviour } from './behaviours.ts';

export type FeedFormat = 'rss-2.0' | 'rss-0.91' | 'rss-1.0' | 'atom' | 'json';
export type FeedCharset = 'utf-8' | 'windows-1252' | 'utf-16le' | 'utf-16be';

/** What offset dates are written with. */
export type FeedZone = 'utc' | 'east';

export interface FeedPlan {
  readonly url: string;
  /** Where it answers besides `url`, if it moved. */
  readonly movedTo: string | null;
  readonly host: string;
  /** The domain whose site it is on. */
  readonly publisher: string;
  readonly title: string;
  readonly behaviour: FeedBehaviour;
  readonly format: FeedFormat;
  readonly charset: FeedCharset;
  /** The charset stands in the content type too, not in the document alone. */
  readonly isCharsetInHeader: boolean;
  readonly isCompressed: boolean;
  readonly guid: 'permalink' | 'opaque' | 'missing';
  readonly dates: 'usual' | 'iso' | 'missing';
  readonly zone: FeedZone;
  readonly text: 'cdata' | 'escaped' | 'summary-and-cdata' | 'xhtml';
  /** Items lead elsewhere. */
  readonly isLinkBlog: boolean;
  /** Items a day; below 1, the chance of one. */
  readonly pace: { readonly min: number; readonly max: number } | { readonly chance: number };
  /** How many of the newest items it shows. */
  readonly shown: number;
}

export interface FeedPlace {
  readonly index: number;
  readonly publisher: string;
  /** How many feeds of the same publisher come before. */
  readonly nth: number;
}

/** By turns, from one that differs by publisher; later ones are numbered. */
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

export function feedPlanOf(seed: string, { index, publisher, nth }: FeedPlace): FeedPlan {
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
    pace: r.chance(0.2) ? { min: 3, max: 5 } : { chance: 1 / r.between(2, 6) },
    shown: r.between(15, 30),
  };
}

const USUAL = Array.from({ length: 8 }, () => 'usual' as const);

function drawFormat(r: Random, behaviour: FeedBehaviour): FeedFormat {
  const { format } = r.weighted(FORMATS);
  if (behaviour === 'ttl' || behaviour === 'skip-hours') return 'rss-2.0';
  // What is wrong with these is wrong with XML.
  const isXml = behaviour === 'malformed' || behaviour === 'wrong-charset';
  return isXml && format === 'json' ? 'rss-2.0' : format;
}

/** Atom and JSON Feed have an id always, the older formats never. */
function drawGuid(r: Random, format: FeedFormat): FeedPlan['guid'] {
  return format === 'atom' || format === 'json' ? r.pick(['permalink', 'opaque']) : 'missing';
}

function drawText(r: Random, format: FeedFormat): FeedPlan['text'] {
  if (format === 'rss-0.91') return 'escaped';
  return r.pick(['cdata', 'escaped', format === 'atom' ? 'xhtml' : 'summary-and-cdata']);
}
