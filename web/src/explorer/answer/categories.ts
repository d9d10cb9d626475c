// The categories of the API.
import type { Market } from '@strata/client';

export type Category = Market['category'];

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

/** The category with this name; undefined for other values. */
export function categoryOf(name: string | undefined): Category | undefined {
  return CATEGORIES.find((category) => category === name);
}
