// Types of the domain profile.
import type { Service, StackAnswer, StackPaths } from '@strata/client';

export type Profile = StackPaths['/stack/v1/domains/{domain}']['body'];
export type ProfileAnswer = StackAnswer<Profile>;
export type Factor = Profile['security']['factors'][number];

/** In display order: the fundamental categories first. */
export const CATEGORIES = [
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
] as const satisfies readonly Service['category'][];
