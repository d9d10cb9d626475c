// The categories and sectors of the API.
import type { Category, Sector } from '@strata/client';
import type { Option } from '../../ui/controls/select.tsx';
import { formatName } from '../../ui/formats.ts';

/** In display order: the fundamental categories first. */
export const CATEGORIES: readonly Category[] = [
  'dns',
  'email',
  'email_security',
  'email_sending',
  'hosting',
  'cdn',
  'security',
  'certificate_authority',
  'web_platform',
  'verified_service',
];

/** Categories with one provider at a time, so that a domain can migrate from one provider to another. */
export const EXCLUSIVE: readonly Category[] = ['dns', 'email', 'email_security', 'hosting', 'cdn', 'security'];

/** The type ensures completeness: a new sector in the API fails to compile here. */
const ALL_SECTORS: Readonly<Record<Sector, true>> = {
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

export const SECTORS = Object.keys(ALL_SECTORS) as Sector[];

/** The values with their names, for a select. */
export const labelled = (values: readonly string[]): readonly Option[] =>
  values.map((value) => [value, formatName(value)]);
