// The API: every route, in the order of the reference.
import type { Route } from '@strata/http';
import type { StackApp } from '../app.ts';
import { getOpenApi, getProblem } from './description.ts';
import { getDomain, getDomainChanges } from './domains.ts';
import { createKey, getKeySet } from './keys.ts';
import { getCheckpoint, getLedgerProof, getLedgerReceipt, getTile } from './ledger.ts';
import { getHealth } from './status.ts';

export const routes: readonly Route<StackApp>[] = [
  getHealth,
  createKey,
  getKeySet,
  getDomain,
  getDomainChanges,
  getCheckpoint,
  getTile,
  getLedgerReceipt,
  getLedgerProof,
  getOpenApi,
  getProblem,
];
