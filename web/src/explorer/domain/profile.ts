// Short names for what the service answers about a domain.
import type { Service, StackAnswer, StackPaths } from '@strata/client';

export type Profile = StackPaths['/stack/v1/domains/{domain}']['body'];
export type ProfileAnswer = StackAnswer<Profile>;
export type Factor = Profile['security']['factors'][number];

/** In the order in which a stack is told: what everything rests on first. */
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
