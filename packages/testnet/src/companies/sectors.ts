// The sector of a company, by the last word of its name, and what shows it: the suffix, or a schema.org type of its page.
import { lastWordOf } from './names.ts';

/** Words by sector and type; without a type where schema.org has none for the sector, so that no page names it. */
const WORDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  computer_it: {
    '': 'analytics data digital mobility networks robotics security software systems tech telecom',
  },
  utilities: { '': 'electric energy grid power water' },
  agriculture_mining: { '': 'farms mills' },
  manufacturing: {
    '': 'brewing ceramics chemicals dynamics engineering glass industries machinery mechanics metals packaging plastics textiles',
  },
  education_research: {
    EducationalOrganization: 'academy',
    School: 'schools',
    CollegeOrUniversity: 'college',
    ResearchOrganization: 'labs research',
  },
  finance_insurance: {
    BankOrCreditUnion: 'bank',
    FinancialService: 'capital finance invest savings wealth',
    InvestmentFund: 'group ventures holdings',
    InsuranceAgency: 'insurance',
  },
  health: {
    MedicalClinic: 'clinic',
    MedicalOrganization: 'care health medical surgery therapy',
    DiagnosticLab: 'diagnostics imaging biotech',
    Dentist: 'dental',
    Optician: 'optics vision',
    Pharmacy: 'pharma',
    VeterinaryCare: 'vet',
  },
  retail_ecommerce: {
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
  },
  travel: { Hotel: 'hotels', TravelAgency: 'travel yachts marine' },
  freight_postal: { MovingCompany: 'freight shipping transit rail logistics' },
  construction_real_estate: {
    RealEstateAgent: 'homes estates properties realty',
    GeneralContractor: 'builders architects works',
  },
  service: { '': 'consulting design partners', LegalService: 'law' },
  media: { NewsMediaOrganization: 'media press publishing print films photo' },
  community_nonprofit: { NGO: 'foundation union' },
  museums_libraries_entertainment: {
    MusicGroup: 'music records events',
    SportsClub: 'sports',
    ArtGallery: 'gallery studio',
  },
};

interface Trade {
  readonly sector: string;
  /** `BankOrCreditUnion`. */
  readonly schemaType: string | undefined;
}

const TRADE_OF_WORD: ReadonlyMap<string, Trade> = new Map(
  Object.entries(WORDS).flatMap(([sector, types]) =>
    Object.entries(types).flatMap(([type, words]) =>
      words.split(' ').map((word) => [word, { sector, schemaType: type || undefined }] as const),
    ),
  ),
);

/** Registered by one sector only. */
const OF_SUFFIX: Readonly<Record<string, string>> = { gov: 'government', edu: 'education_research' };

/** The company's own type, as its page says it; undefined if schema.org has none, or the name is not made here. */
export const schemaTypeOf = (domain: string): string | undefined => TRADE_OF_WORD.get(lastWordOf(domain))?.schemaType;

export interface TrueSector {
  readonly id: string;
  readonly shownBy: 'suffix' | 'page' | null;
}

/** `isRead`: whether a visitor reaches the company's page. Null for a name that is not made here. */
export function sectorOf(domain: string, { isRead }: { readonly isRead: boolean }): TrueSector | null {
  const suffix = OF_SUFFIX[domain.slice(domain.lastIndexOf('.') + 1)];
  if (suffix) return { id: suffix, shownBy: 'suffix' };
  const trade = TRADE_OF_WORD.get(lastWordOf(domain));
  return trade ? { id: trade.sector, shownBy: trade.schemaType && isRead ? 'page' : null } : null;
}
