// The HTML of an item: links that are mentions, and every kind of link that is not.
import type { Random } from '../random.ts';

interface TextOptions {
  readonly random: Random;
  /** The feed's own host and domain. */
  readonly host: string;
  readonly publisher: string;
  /** The item's address on the publisher's site. */
  readonly ownUrl: string;
  /** Draws the domain to mention. */
  readonly mention: () => string | null;
  /** The text must also be well-formed XML. */
  readonly isXhtml: boolean;
}

interface ItemText {
  readonly html: string;
  /** Every mentioned domain once, in the order of the text. */
  readonly named: readonly string[];
  /** Those of `named` that appear only in a redirector's address. */
  readonly wrapped: readonly string[];
}

export function writeText(options: TextOptions): ItemText {
  const { random, publisher, mention, isXhtml } = options;
  const direct = new Set<string>();
  const behind = new Set<string>();
  const named = new Set<string>();
  const links: string[] = [];
  const link = (url: string) => links.push(anchor(random, url, isXhtml));
  for (let i = random.between(0, 4); i > 0; i -= 1) {
    const domain = mention();
    if (domain === null) continue;
    const isWrapped = random.chance(0.08);
    link(isWrapped ? redirector(random, urlAt(random, domain)) : disguised(random, urlAt(random, domain)));
    if (domain === publisher) continue;
    (isWrapped ? behind : direct).add(domain);
    named.add(domain);
  }
  for (let i = random.between(0, 3); i > 0; i -= 1) {
    const at = random.between(0, links.length);
    links.splice(at, 0, anchor(random, irrelevantLink(options), isXhtml));
  }
  const paragraphs = links.map((each) => `<p>${random.pick(SENTENCES)} ${each}.</p>`);
  const picture = random.chance(0.2) ? '<p><img src="/media/picture.png" alt="" /></p>' : '';
  return {
    html: `<p>${random.pick(SENTENCES)}</p>${picture}${paragraphs.join('\n')}`,
    named: [...named],
    wrapped: [...behind].filter((domain) => !direct.has(domain)),
  };
}

/** A page of a domain. */
export function urlAt(random: Random, domain: string): string {
  const page = `${random.pick(['news', 'products', 'blog/2026', 'about-us'])}/${random.between(1, 99_999)}`;
  return random.pick([
    `https://${domain}/`,
    `https://www.${domain}/${page}`,
    `http://${domain}/${page}?utm_source=rss&utm_medium=feed`,
    `https://blog.${domain}/${page}#top`,
    `https://${domain}:8443/${page}`,
  ]);
}

/** The same address in another form that browsers accept. */
function disguised(random: Random, url: string): string {
  if (random.chance(0.1)) return url.slice(url.indexOf('//'));
  if (random.chance(0.05)) return url.replace(/^[a-z]+:\/\/[^/]+/, (head) => head.toUpperCase());
  return random.chance(0.05) ? ` ${url} ` : url;
}

function redirector(random: Random, url: string): string {
  const to = encodeURIComponent(url);
  return random.pick([
    `https://www.google.com/url?q=${to}&sa=D&source=editors`,
    `https://l.facebook.com/l.php?u=${to}&h=AT0${random.between(1_000, 9_999)}`,
  ]);
}

function irrelevantLink({ random, host, publisher, ownUrl }: TextOptions): string {
  const own = encodeURIComponent(ownUrl);
  const code = random.between(100_000, 999_999).toString(36);
  const kinds = [
    ['/about', '../archive/', '#comments', '?page=2', `https://${host}/tags/all`, `https://shop.${publisher}/`],
    [
      `https://twitter.com/intent/tweet?url=${own}&text=Read`,
      `https://www.facebook.com/sharer/sharer.php?u=${own}`,
      `https://www.linkedin.com/shareArticle?mini=true&url=${own}`,
    ],
    [`https://bit.ly/${code}`, `https://t.co/${code}`, `https://tinyurl.com/${code}`],
    ['http://192.0.2.7/status', 'http://203.0.113.9:8080/', 'http://[2001:db8::7]/', 'http://3221225985/'],
    ['http://localhost:3000/', 'http://localhost/admin', 'mailto:press@example.com', 'tel:+4930123456', 'http://'],
    ['javascript:void(0)', 'https://', 'http://intranet/wiki'],
  ];
  return random.pick(random.pick(kinds));
}

function anchor(random: Random, url: string, isXhtml: boolean): string {
  const href = escapeHtml(url);
  const forms = isXhtml
    ? [`<a href="${href}">`, `<a class="external" href='${href}'>`]
    : [
        `<a href="${href}">`,
        `<a rel='nofollow' href='${href}'>`,
        `<A HREF="${href}" TARGET=_blank>`,
        ...(href.includes(' ') ? [] : [`<a href=${href} class=more>`]),
      ];
  return `${random.pick(forms)}${random.pick(['here', 'read more', 'their site', 'this &amp; that'])}</a>`;
}

const escapeHtml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

const SENTENCES = [
  'What we saw this week.',
  'Mail moved again, without an outage.',
  'A café in Zürich runs its own name servers – it’s true.',
  'The “quiet” provider is 5 &lt; 6 &amp; growing.',
  'Costs fell to €3 a month.',
  'We checked the records…',
];
