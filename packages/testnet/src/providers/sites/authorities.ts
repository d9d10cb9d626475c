// Certificate authorities: the issuer's organisation, its intermediate's name, and the CAA value that permits it.

import { readRows } from '../../data.ts';

export interface AuthorityTemplate {
  readonly id: string;
  readonly weight: number;
  readonly organisation: string;
  readonly commonName: string;
  readonly country: string;
  readonly caa: string | null;
}

export const authorities = readRows<AuthorityTemplate>('authorities');
