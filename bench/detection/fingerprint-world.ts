// A community set in the shape of the public ones, and pages that use some of it; invented, and the same in every run.
import { type Evidence, evidenceFromRecord } from '@strata/detect';

/** Shares of technologies that have patterns for a field, as in the public sets of 2026. */
const SHARES = {
  scriptSrc: 0.51,
  headers: 0.09,
  meta: 0.1,
  cookies: 0.05,
  html: 0.045,
  text: 0.008,
  url: 0.011,
  dns: 0.018,
};
const SYLLABLES =
  'ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo yu za bri cla dre flo gri ple sta tru'.split(' ');
const ASSETS_PER_PAGE = 40;
const PARAGRAPHS = 700;

/** The entry of one technology by its number, and its name. */
export function technologyAt(number: number): readonly [name: string, entry: object] {
  const word = wordOf(number);
  const name = `${word[0]?.toUpperCase()}${word.slice(1)}`;
  const has = (field: keyof typeof SHARES) => chance(number, field) < SHARES[field];
  const scripts = [
    `cdn\\.${word}\\.(?:com|io)/`,
    `${word}(?:\\.min)?\\.js(?:\\?ver=([\\d.]+))?\\;version:\\1`,
    `/wp-content/plugins/${word}/.+\\.js(?:\\?ver=(\\d+(?:\\.\\d+)+))?\\;version:\\1`,
    `^https?://[^/]+\\.${word}\\.net/`,
  ];
  return [
    name,
    {
      cats: [1 + (number % 36)],
      website: `https://${word}.example`,
      ...(has('scriptSrc')
        ? { scriptSrc: scripts.slice(number % 3, (number % 3) + 1 + (number % 2)) }
        : { js: { [name]: '' } }),
      ...(has('headers') ? { headers: headersOf(number, word) } : {}),
      ...(has('meta') ? { meta: { generator: `^${word}(?: ([\\d.]+))?\\;version:\\1` } } : {}),
      ...(has('cookies') ? { cookies: { [`${word}_id`]: '' } } : {}),
      ...(has('html') ? { html: [`<link[^>]+href=["'][^"']+${word}\\.css`, `<div[^>]+class="${word}-[a-z]+`] } : {}),
      ...(has('text') ? { text: [`\\bPowered by ${word}\\b`] } : {}),
      ...(has('url') ? { url: [`^https?://[^/]+\\.${word}\\.com`] } : {}),
      ...(has('dns') ? { dns: { TXT: [`${word}-verification=`] } } : {}),
      ...(number % 8 === 0 ? { implies: [wordOf(number + 8)] } : {}),
    },
  ];
}

function headersOf(number: number, word: string): object {
  if (number % 3 === 0) return { Server: `${word}(?:/([\\d.]+))?\\;version:\\1` };
  return number % 3 === 1 ? { 'X-Powered-By': `^${word}/?([\\d.]+)?\\;version:\\1` } : { [`X-${word}`]: '' };
}

/** One file of so many technologies. */
export function syntheticSet(count: number): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Array.from({ length: count }, (_, number) => technologyAt(number)));
}

/** A page of some 50 KB with forty scripts and styles, half a dozen of them the set's; `keepSource` as the probe would. */
export function pageAt(number: number, technologies: number): Evidence {
  const used = Array.from({ length: 6 }, (_, i) => wordOf(Math.floor(chance(number, `used ${i}`) * technologies)));
  const scripts = Array.from({ length: ASSETS_PER_PAGE }, (_, i) => {
    const word = used[i] ?? `own-${wordOf(1_000_000 + number * 50 + i)}`;
    return `<script src="https://assets.page-${number}.example/js/${word}.min.js?ver=${i}.${number % 10}.1"></script>`;
  });
  const words = Array.from({ length: PARAGRAPHS }, (_, i) => wordOf(2_000_000 + number * PARAGRAPHS + i));
  const html = `<html><head><meta name="generator" content="${used[0]} 3.${number % 10}">${scripts.join('\n')}</head><body>${words.map((word) => `<div class="a ${word}"><p>Some ${word} text</p></div>`).join('\n')}</body></html>`;
  const record = {
    domain: `page-${number}.example.com`,
    headers: {
      server: `${used[1]}/1.2.${number % 10}`,
      'x-powered-by': `${used[2]}/8.1`,
      'cache-control': 'no-store',
      'content-type': 'text/html',
    },
    cookies: [`${used[3]}_id`, 'session', 'lang'],
    txt: [`${used[4]}-verification=${number}`, 'v=spf1 -all'],
    html,
  };
  return evidenceFromRecord(record, { keepSource: true });
}

function wordOf(number: number): string {
  let rest = (Math.imul(number + 1, 0x9e37_79b1) >>> 0) + 1;
  let word = '';
  for (let i = 0; i < 4; i += 1) {
    word += SYLLABLES[rest % SYLLABLES.length];
    rest = Math.floor(rest / SYLLABLES.length);
  }
  return `${word}${number % 7}`;
}

/** 0–1, from the number and what it decides. */
function chance(number: number, what: string): number {
  let hash = Math.imul(number + 1, 0x85eb_ca6b);
  for (const character of what) hash = Math.imul(hash ^ character.charCodeAt(0), 0x0100_0193);
  hash ^= hash >>> 15;
  return (Math.imul(hash, 0x9e37_79b1) >>> 0) / 2 ** 32;
}
