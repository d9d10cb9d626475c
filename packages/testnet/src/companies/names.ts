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

/** schema.org types of organisations by the last word of the name; the other words fit several sectors. */
const SCHEMA_TYPES: Readonly<Record<string, string>> = {
  EducationalOrganization: 'academy',
  School: 'schools',
  CollegeOrUniversity: 'college',
  ResearchOrganization: 'labs research',
  BankOrCreditUnion: 'bank',
  FinancialService: 'capital finance invest savings wealth',
  InvestmentFund: 'ventures holdings',
  InsuranceAgency: 'insurance',
  MedicalClinic: 'clinic',
  MedicalOrganization: 'care health medical surgery therapy',
  DiagnosticLab: 'diagnostics imaging biotech',
  Dentist: 'dental',
  Optician: 'optics vision',
  Pharmacy: 'pharma',
  VeterinaryCare: 'vet',
  ClothingStore: 'apparel fashion fabrics',
  BookStore: 'books papers',
  ShoeStore: 'shoes',
  JewelryStore: 'jewelry',
  FurnitureStore: 'furniture kitchens interiors lighting',
  ToyStore: 'toys games',
  SportingGoodsStore: 'cycles outdoor fitness',
  AutoDealer: 'auto motors trucks',
  GardenStore: 'gardens seeds',
  GroceryStore: 'bakery coffee foods dairy wines',
  OnlineStore: 'market supply equipment tools trading',
  Hotel: 'hotels',
  TravelAgency: 'travel yachts marine',
  MovingCompany: 'freight shipping transit rail logistics',
  RealEstateAgent: 'homes estates properties realty',
  GeneralContractor: 'builders architects works',
  LegalService: 'law',
  NewsMediaOrganization: 'media press publishing print films photo',
  NGO: 'foundation union',
  MusicGroup: 'music records events',
  SportsClub: 'sports',
  ArtGallery: 'gallery',
};
/** Sectors without a schema.org type, for the list of an operator. */
const LISTED_SECTORS: Readonly<Record<string, string>> = {
  computer_it: 'analytics data digital mobility networks robotics security software systems tech telecom',
  utilities: 'electric energy power water',
  agriculture_mining: 'farms mills',
  manufacturing:
    'brewing ceramics chemicals dynamics engineering glass machinery mechanics metals packaging plastics textiles',
  service: 'consulting design partners',
};

const byWord = (table: Readonly<Record<string, string>>): ReadonlyMap<string, string> =>
  new Map(Object.entries(table).flatMap(([value, words]) => words.split(' ').map((word) => [word, value] as const)));
const TYPE_OF_WORD = byWord(SCHEMA_TYPES);
const SECTOR_OF_WORD = byWord(LISTED_SECTORS);
/** `networks` before `works`. */
const LONGEST_FIRST = SECOND.toSorted((a, b) => b.length - a.length);

function lastWordOf(domain: string): string {
  const label = domain.slice(0, domain.indexOf('.')).replace(/\d+$/, '');
  return LONGEST_FIRST.find((word) => label.endsWith(word)) ?? '';
}

/** The first word of the name; undefined for a name that is not made here. */
export function firstWordOf(domain: string): string | undefined {
  const words = FIRST.filter((word) => domain.startsWith(word));
  return words.sort((a, b) => b.length - a.length)[0];
}

/** What the company's page says about its kind, `BankOrCreditUnion`; undefined if its name does not say. */
export const schemaTypeOf = (domain: string): string | undefined => TYPE_OF_WORD.get(lastWordOf(domain));

/** The company's sector in the list of an operator who knows it; undefined if it is not listed. */
export const listedSectorOf = (domain: string): string | undefined => SECTOR_OF_WORD.get(lastWordOf(domain));
