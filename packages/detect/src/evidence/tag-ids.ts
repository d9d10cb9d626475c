// Ids of accounts in the source of a page, inline scripts included: sites with the same id have the same operator.

const MAX_TAGS = 32;
/** Google Tag Manager, Analytics (4 and Universal), Ads, Floodlight and AdSense, quoted or as part of a URL. */
const GOOGLE =
  /(?<=["'=(,/])(?:GTM-[A-Z0-9]{4,10}|G-[A-Z0-9]{10}|UA-\d{4,10}-\d{1,4}|AW-\d{8,12}|DC-\d{6,10}|ca-pub-\d{16})(?![A-Za-z0-9-])/g;
/** `fbq('init', '…')`, or the image for browsers without scripts. */
const META_PIXEL = /(?:\bfbq\(\s{0,2}["']init["'],\s{0,2}["']|facebook\.com\/tr\?id=)(\d{10,20})(?!\d)/g;

/** The distinct ids in the order of the page; those of Meta as `meta-pixel-…`. */
export function tagIds(html: string): readonly string[] {
  const ids = new Set<string>();
  for (const [id] of html.matchAll(GOOGLE)) if (ids.size < MAX_TAGS) ids.add(id);
  for (const [, id] of html.matchAll(META_PIXEL)) if (ids.size < MAX_TAGS) ids.add(`meta-pixel-${id}`);
  return [...ids];
}
