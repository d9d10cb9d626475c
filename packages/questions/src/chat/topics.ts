// The words by which a sentence names a topic and a category.
import { type Category, KINDS } from '@strata/detect';

/** In the order in which they win if a sentence names several. `*`: and every longer word. */
const TOPIC_WORDS = {
  vulnerabilities: 'vulnerab* cve* advisory advisories exploit exploits exploited',
  news: 'mention mentions mentioned news',
  anomalies: 'anomal*',
  alerts: 'alert alerts unusual happens happened happening',
  lost: 'left leave leaves leaving lost lose loses losing away abandon* stopped',
  gained: 'gain gains gained gaining won win wins winning started joined attracts attracted',
  moves: 'move moves moved moving migrat* switch switches switched switching change changes changed history since',
  risk: 'risk risks risky depend* outage outages',
  security: 'dmarc spf dnssec caa bimi mta-sts tls-rpt scorecard posture grade grades score scores scored secure',
  adoption: 'adopt* spread spreads grow grows growing grown growth trend trends together else alongside',
  share:
    'share shares percent percentage proportion fraction market markets divided lead leads leading leader leaders domina* biggest bigger largest larger top popular concentrat* hhi rank ranks ranking ranked compete competes competition competitors',
  count: 'many number count counts',
} as const;

/** `overview`: the sentence names no other topic. */
export type Topic = keyof typeof TOPIC_WORDS | 'overview';

/** About moves between providers. */
export const CHANGES: ReadonlySet<Topic> = new Set(['lost', 'gained', 'moves']);

export const TOPICS = Object.keys(TOPIC_WORDS) as readonly (keyof typeof TOPIC_WORDS)[];

/** Longer names first: `email security` is not `email`. */
const CATEGORY_WORDS: readonly (readonly [string, Category])[] = [
  ['email security', 'email_security'],
  ['mail security', 'email_security'],
  ['email gateway', 'email_security'],
  ['mail gateway', 'email_security'],
  ['email sending', 'email_sending'],
  ['mail sending', 'email_sending'],
  ['email senders', 'email_sending'],
  ['newsletter', 'email_sending'],
  ['email', 'email'],
  ['e-mail', 'email'],
  ['mail', 'email'],
  ['mailbox', 'email'],
  ['mailboxes', 'email'],
  ['mx', 'email'],
  ['dns', 'dns'],
  ['name servers', 'dns'],
  ['nameserver', 'dns'],
  ['nameservers', 'dns'],
  ['hosting', 'hosting'],
  ['hosted', 'hosting'],
  ['hosts', 'hosting'],
  ['host', 'hosting'],
  ['cdn', 'cdn'],
  ['cdns', 'cdn'],
  ['waf', 'security'],
  ['security', 'security'],
  ['certificate', 'certificate_authority'],
  ['certificates', 'certificate_authority'],
  ['ca', 'certificate_authority'],
  ['tls', 'certificate_authority'],
  ['verified', 'verified_service'],
  ['platform', 'web_platform'],
  ['platforms', 'web_platform'],
  ['website', 'web_platform'],
];

/** Words that are never part of a name that is asked about. */
const OTHER_WORDS = new Set(
  (
    'a about actually affect affected affects after all also am among an and another any anyone anything april are as at august ' +
    'authorities authority average bad be been best better between both business but by can companies company compare compared ' +
    'comparison could current currently customer customers data day days december did difference distributed do does domain ' +
    'domains each enforce every everyone explain fast faster fastest february find first for friday from give good had has have ' +
    'hello help hi highest how http https i if in industry into is it its january july june know known last latest list ' +
    'lowest look march may me monday month more most much my name new newest no not november now october of on one only or ' +
    'ordered organisation organization other our over owned owner owners owns per please pm policies policy provide provided ' +
    'provider providers provides publish published publishes q1 q2 q3 q4 quickly really recent recently record records run ' +
    'running runs same saturday say scoring sector security sentence september serious server servers service services severe ' +
    'should show signed signs site sites so software some someone sorted stack sunday technology tell than that the their them ' +
    'there these they thing think this those thursday time to today tool tools total track tuesday use used user users uses ' +
    'using vendor vendors versus via vs was we wednesday week well were what when where which who whom whose why will with ' +
    'without worst would year yes yesterday you your'
  ).split(' '),
);

const topics = new Map<string, (typeof TOPICS)[number]>(
  TOPICS.flatMap((topic) => TOPIC_WORDS[topic].split(' ').map((word) => [word, topic] as const)),
);
const stems = [...topics]
  .filter(([word]) => word.endsWith('*'))
  .map(([word, topic]) => [word.slice(0, -1), topic] as const);

export function topicOf(word: string): (typeof TOPICS)[number] | undefined {
  return topics.get(word) ?? stems.find(([stem]) => word.startsWith(stem))?.[1];
}

/** The category that words from this position name, and how many words do. */
export function categoryAt(
  words: readonly string[],
  at: number,
): { readonly category: Category; readonly length: number } | undefined {
  // `security score`
  if (words[at] === 'security' && topicOf(words[at + 1] ?? '') === 'security') return undefined;
  for (const [name, category] of CATEGORY_WORDS) {
    const length = name.includes(' ') ? 2 : 1;
    if (words.slice(at, at + length).join(' ') === name) return { category, length };
  }
  return undefined;
}

export const isOtherWord = (word: string): boolean => OTHER_WORDS.has(word);

/** `tag manager`, `CMS`: a kind of provider. */
export function kindOfName(name: string): string | undefined {
  const slug = name.toLowerCase().replaceAll(' ', '-');
  return KINDS.find((kind) => kind === slug);
}
