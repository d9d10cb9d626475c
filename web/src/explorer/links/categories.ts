// The categories and sectors of the API.
import { type Category, SECTOR_NAMES, type Sector } from '@strata/client';
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
export const EXCLUSIVE: readonly Category[] = ['dns', 'email', 'email_security', 'hosting', 'cdn'];

export const SECTORS = Object.keys(SECTOR_NAMES) as Sector[];

/** The values with their names, for a select. */
export const labelled = (values: readonly string[]): readonly Option[] =>
  values.map((value) => [value, formatName(value)]);
