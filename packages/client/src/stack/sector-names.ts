// The sectors of the API, as they are written in text.
import type { Sector } from './stack-types.ts';

/** The type ensures completeness: a new sector in the API fails to compile here. */
export const SECTOR_NAMES: Readonly<Record<Sector, string>> = {
  agriculture_mining: 'agriculture and mining',
  community_nonprofit: 'community and nonprofit',
  computer_it: 'computers and IT',
  construction_real_estate: 'construction and real estate',
  education_research: 'education and research',
  finance_insurance: 'finance and insurance',
  freight_postal: 'freight and postal services',
  government: 'government',
  health: 'health',
  manufacturing: 'manufacturing',
  media: 'media',
  museums_libraries_entertainment: 'museums, libraries and entertainment',
  retail_ecommerce: 'retail and e-commerce',
  service: 'services',
  travel: 'travel',
  utilities: 'utilities',
  other: 'other',
  unknown: 'unknown',
};
