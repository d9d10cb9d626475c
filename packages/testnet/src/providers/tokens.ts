// Apex TXT records that prove the ownership of a domain to a service.
import type { Mint } from '../random.ts';
import { readTemplates } from './template.ts';

export interface TokenTemplate {
  readonly id: string;
  readonly weight: number;
  readonly txt: (mint: Mint) => string;
}

export const tokens: readonly TokenTemplate[] = readTemplates('tokens', ['txt']);
