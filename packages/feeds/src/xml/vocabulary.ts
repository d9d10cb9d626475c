// The elements and attributes of XML feeds and outlines that are read.

export interface Vocabulary {
  /** Local names of document elements. */
  readonly roots: ReadonlySet<string>;
  /** Elements with child elements. */
  readonly containers: ReadonlySet<string>;
  /** Elements with text; markup within becomes text. */
  readonly leaves: ReadonlySet<string>;
  /** Containers that are counted; the start of one closes an open one. */
  readonly items: ReadonlySet<string>;
  /** Reading ends at the next item. */
  readonly maxItems: number;
  /** A document with more is rejected. */
  readonly maxContainers: number;
  readonly attributes: ReadonlySet<string>;
}

/** Leaves without nested elements of these names: the start of one means that the previous end tag is missing. */
export const FLAT_LEAVES: ReadonlySet<string> = new Set([
  'title',
  'link',
  'guid',
  'id',
  'pubdate',
  'published',
  'updated',
  'ttl',
]);

const ATOM_LEAVES = [
  'id',
  'title',
  'link',
  'published',
  'updated',
  'issued',
  'modified',
  'created',
  'summary',
  'content',
];

export const FEED_VOCABULARY: Vocabulary = {
  roots: new Set(['rss', 'rdf', 'feed']),
  containers: new Set(['channel', 'item', 'entry', 'skiphours', 'skipdays']),
  leaves: new Set([
    ...ATOM_LEAVES,
    ...ATOM_LEAVES.map((name) => `atom:${name}`),
    'description',
    'guid',
    'pubdate',
    'enclosure',
    'source',
    'ttl',
    'hour',
    'day',
    'dc:date',
    'dc:title',
    'dc:source',
    'dcterms:created',
    'dcterms:issued',
    'dcterms:modified',
    'content:encoded',
    'sy:updateperiod',
    'sy:updatefrequency',
  ]),
  items: new Set(['item', 'entry']),
  maxItems: 1_000,
  maxContainers: 5_000,
  attributes: new Set(['about', 'href', 'ispermalink', 'rel', 'src', 'type', 'url', 'xml:base']),
};

export const OPML_VOCABULARY: Vocabulary = {
  roots: new Set(['opml']),
  containers: new Set(['body', 'outline']),
  leaves: new Set(),
  items: new Set(),
  maxItems: 0,
  // Feeds and folders: more than a list of the maximum length contains, unless outlines are empty.
  maxContainers: 200_000,
  attributes: new Set(['text', 'title', 'xmlurl', 'htmlurl']),
};

/** Canonical prefixes of the namespaces in the tables above, by namespace URI. */
export const CANONICAL_PREFIX: ReadonlyMap<string, string> = new Map([
  ['http://www.w3.org/2005/atom', 'atom'],
  ['http://purl.org/atom/ns#', 'atom'],
  ['http://purl.org/dc/elements/1.1/', 'dc'],
  ['http://purl.org/dc/elements/1.0/', 'dc'],
  ['http://purl.org/dc/terms/', 'dcterms'],
  ['http://purl.org/rss/1.0/modules/content/', 'content'],
  ['http://purl.org/rss/1.0/modules/syndication/', 'sy'],
  ['http://purl.org/rss/1.0/', ''],
  ['http://my.netscape.com/rdf/simple/0.9/', ''],
  ['http://channel.netscape.com/rdf/simple/0.9/', ''],
  ['http://www.w3.org/1999/02/22-rdf-syntax-ns#', ''],
]);
