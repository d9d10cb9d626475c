// Company domain names: word pairs that look like companies and collide with no provider's zone.
import { randomFor } from '../random.ts';

const FIRST =
  'alder amber anchor apex aspen atlas aurora azure badger basalt beacon birch blue boulder bright bronze cedar cobalt copper coral crescent crimson crystal delta eagle echo elm ember emerald falcon fern flint fox garnet glacier golden granite green grey harbor hazel heron hollow indigo iron ivory ivy jade juniper keystone lake larch laurel linden lunar magnolia maple marble meadow mesa mint misty moss north oak ocean olive onyx opal orchid osprey otter pearl pebble pine polar poplar prairie quartz quiet rapid raven red ridge river robin rowan ruby saffron sage sand sapphire scarlet sequoia shore sierra silver sky slate solar spruce star steel stone storm summit sun swift teal terra thistle thunder tidal timber topaz tulip valley velvet violet walnut west wild willow winter wren yellow zephyr'.split(
    ' ',
  );
const SECOND =
  'academy analytics apparel architects auto bakery bank biotech books brewing builders capital care ceramics chemicals clinic coffee college consulting cycles dairy data dental design diagnostics digital dynamics electric energy engineering equipment estates events fabrics farms fashion films finance fitness foods foundation freight furniture games gardens gallery glass grid group health holdings homes hotels imaging industries insurance interiors invest jewelry kitchens labs law lighting logistics machinery marine market mechanics media medical metals mills mobility motors music networks optics outdoor packaging papers partners pharma photo plastics power press print properties publishing rail realty records research robotics savings schools security seeds shipping shoes software sports studio supply surgery systems tech telecom textiles therapy tools toys trading transit travel trucks union ventures vet vision water wealth wines works yachts'.split(
    ' ',
  );

/** Top-level zones, weighted by how common they are among companies; `co.uk` is served by the servers of `uk`. */
export const SUFFIXES = [
  { suffix: 'com', weight: 52 },
  { suffix: 'org', weight: 8 },
  { suffix: 'net', weight: 7 },
  { suffix: 'de', weight: 8 },
  { suffix: 'co.uk', weight: 6 },
  { suffix: 'io', weight: 5 },
  { suffix: 'fr', weight: 4 },
  { suffix: 'nl', weight: 3 },
  { suffix: 'eu', weight: 2 },
  { suffix: 'ch', weight: 2 },
  { suffix: 'gov', weight: 1 },
  { suffix: 'edu', weight: 1 },
  { suffix: 'co', weight: 1 },
] as const;

/** The given number of distinct names; a shorter list is a prefix of a longer one. */
export function companyNames(seed: string, count: number, isTaken: (domain: string) => boolean): string[] {
  const random = randomFor(seed, 'names');
  const names = new Set<string>();
  while (names.size < count) {
    const joint = random.chance(0.12) ? '-' : '';
    const number = random.chance(0.04) ? String(random.between(1, 99)) : '';
    const name = `${random.pick(FIRST)}${joint}${random.pick(SECOND)}${number}.${random.weighted(SUFFIXES).suffix}`;
    if (!isTaken(name)) names.add(name);
  }
  return [...names];
}

/** `networks` before `works`. */
const LONGEST_FIRST = SECOND.toSorted((a, b) => b.length - a.length);

/** The last word of the name; empty for a name that is not made here. */
export function lastWordOf(domain: string): string {
  const label = domain.slice(0, domain.indexOf('.')).replace(/\d+$/, '');
  return LONGEST_FIRST.find((word) => label.endsWith(word)) ?? '';
}

/** The first word of the name; undefined for a name that is not made here. */
export function firstWordOf(domain: string): string | undefined {
  const words = FIRST.filter((word) => domain.startsWith(word));
  return words.sort((a, b) => b.length - a.length)[0];
}
