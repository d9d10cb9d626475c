// Reads a rulebook's entries for the records that providers require of their customers. Accepts any JSON; unknown parts
// are ignored.

/** The patterns of one provider in one category, merged from all groups. */
export interface Patterns {
  readonly id: string;
  readonly category: string;
  readonly isParking: boolean;
  readonly ns: readonly string[];
  readonly mx: readonly string[];
  readonly spf: readonly string[];
  readonly txt: readonly string[];
  readonly dmarc: readonly string[];
  readonly caa: readonly string[];
  readonly cname: readonly string[];
  readonly named: readonly { readonly label: string; readonly target: string }[];
  readonly asn: readonly number[];
  readonly header: readonly { readonly name: string; readonly value?: string }[];
  readonly cookie: readonly string[];
  readonly generator: readonly string[];
  /** Hosts of assets, with or without a path; `fragments` are paths on the site itself. */
  readonly assets: readonly string[];
  readonly fragments: readonly string[];
  readonly markers: readonly string[];
  readonly tls: readonly string[];
}

type Json = Readonly<Record<string, unknown>>;

export function readPatterns(catalog: readonly unknown[]): Patterns[] {
  return catalog.flatMap((entry) => {
    if (!isJson(entry) || typeof entry.id !== 'string') return [];
    const groups = list(entry.rules).filter(isJson);
    const categories = new Set(groups.map(({ category }) => String(category)));
    const { id } = entry;
    return [...categories].map((category) =>
      merged(
        id,
        category,
        groups.filter((group) => group.category === category),
      ),
    );
  });
}

function merged(id: string, category: string, groups: readonly Json[]): Patterns {
  const texts = (key: string) => groups.flatMap((group) => list(group[key]).filter(isText));
  const rows = (key: string) => groups.flatMap((group) => list(group[key]).filter(isJson));
  const pages = groups.map((group) => group.html).filter(isJson);
  const ofPages = (key: string) => pages.flatMap((page) => list(page[key]));
  const assets = ofPages('asset').filter(isText);
  return {
    id,
    category,
    isParking: groups.some((group) => group.parking === true),
    ns: texts('ns'),
    mx: texts('mx'),
    spf: texts('spf'),
    txt: texts('txt'),
    dmarc: texts('dmarc'),
    caa: texts('caa'),
    cname: texts('cname'),
    named: rows('named').map(({ label, target }) => ({ label: String(label), target: String(target) })),
    asn: groups.flatMap((group) => list(group.asn).filter((each) => typeof each === 'number')),
    header: rows('header').map(({ name, value }) => ({
      name: String(name),
      ...(isText(value) ? { value } : {}),
    })),
    cookie: texts('cookie'),
    generator: ofPages('generator').map((each) => (isJson(each) ? String(each.start) : String(each))),
    assets: assets.filter((asset) => !asset.startsWith('/')),
    fragments: assets.filter((asset) => asset.startsWith('/')),
    markers: ofPages('marker').filter(isText),
    tls: texts('tls'),
  };
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** A host that matches the pattern: below a short suffix, the suffix itself if it is long enough, wildcards filled. */
export function plausibleHost(pattern: string, label: string, filling: string): string {
  if (pattern.includes('*')) return pattern.replaceAll('*', filling);
  return pattern.split('.').length > 3 ? pattern : `${label}.${pattern}`;
}

/** The common suffix of the provider's hosts. */
export function zoneOfHost(pattern: string, host: string): string {
  return pattern.includes('*') ? host : pattern;
}
