// The sectors that a domain may be of, as the service names them.
import type { Sector } from './standards.ts';

/** Each of them, which the type checks: one more in the service fails here. */
const ALL: Readonly<Record<Sector, true>> = {
  computer_it: true,
  media: true,
  finance_insurance: true,
  education_research: true,
  service: true,
  agriculture_mining: true,
  community_nonprofit: true,
  construction_real_estate: true,
  museums_libraries_entertainment: true,
  utilities: true,
  health: true,
  travel: true,
  freight_postal: true,
  government: true,
  retail_ecommerce: true,
  manufacturing: true,
  other: true,
  unknown: true,
};

export const SECTORS = Object.keys(ALL) as Sector[];
