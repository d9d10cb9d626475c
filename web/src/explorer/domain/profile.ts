// Types of the domain profile.
import type { StackAnswer, StackPaths } from '@strata/client';

export type Profile = StackPaths['/stack/v1/domains/{domain}']['body'];
export type ProfileAnswer = StackAnswer<Profile>;
export type Factor = Profile['security']['factors'][number];
