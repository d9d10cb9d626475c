// The sectors of the API.
import type { Sector } from '../security/standards.ts';

/** The type ensures completeness: a new sector in the API fails to compile here. */
const ALL: Readonly<Record<Sector, true>> = {
  agriculture_mining: true,
  community_nonprofit: true,
  computer_it: true,
  construction_real_estate: true,
  education_research: true,
  finance_insurance: true,
  freight_postal: true,
  government: true,
  health: true,
  manufacturing: true,
  media: true,
  museums_libraries_entertainment: true,
  retail_ecommerce: true,
  service: true,
  travel: true,
  utilities: true,
  other: true,
  unknown: true,
};

export const SECTORS = Object.keys(ALL) as Sector[];
