// The categories of the API, as pages offer them.
import type { Market } from '@strata/client';

export type Category = Market['category'];

/** In the order of the API. */
export const CATEGORIES: readonly Category[] = [
  'dns',
  'email',
  'email_security',
  'email_sending',
  'hosting',
  'cdn',
  'security',
  'verified_service',
  'certificate_authority',
  'web_platform',
];

/** The categories in which there is one holder at a time, so that a domain can move from one to another. */
export const EXCLUSIVE: readonly Category[] = ['dns', 'email', 'email_security', 'hosting', 'cdn', 'security'];

/** A word of an address as a category; undefined for every other word. */
export function categoryOf(word: string | undefined): Category | undefined {
  return CATEGORIES.find((category) => category === word);
}
