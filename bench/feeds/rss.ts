// A feed as blogs have them: items with a text of about two kilobytes and three links, as many as asked for.

const DAY_MS = 86_400_000;
const WORDS =
  'the provider of this domain moved its mail last week and the next scan of all names found the change '.repeat(18);

export function rssOf(name: string, items: number): string {
  const begin = Date.now() - DAY_MS;
  const written = Array.from({ length: items }, (_, i) => {
    const links = [0, 1, 2].map(
      (link) => `<a href="https://www.company-${numberOf(name, i * 3 + link)}.com/about">more</a>`,
    );
    return `<item><guid isPermaLink="false">${name}#${i}</guid><title>Item ${i} of ${name}</title><link>https://blog.example${name}/${i}</link><pubDate>${new Date(begin - i * DAY_MS).toUTCString()}</pubDate><description><![CDATA[<p>${WORDS}</p>${links.join(' ')}]]></description></item>`;
  });
  return `<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel><title>Feed ${name}</title><link>https://blog.example/</link>${written.join('')}</channel></rss>`;
}

/** One of 50,000 companies, the first ones far more often. */
function numberOf(name: string, salt: number): number {
  let hash = salt;
  for (const character of name) hash = (Math.imul(hash, 31) + character.charCodeAt(0)) >>> 0;
  return Math.floor(50_000 * ((Math.imul(hash, 0x9e37_79b1) >>> 0) / 2 ** 32) ** 3);
}
