// The witnesses that cosign the ledger's checkpoints; nothing private is dialled for them that the operator has not written or allowed.
import type { LogWitnesses } from '@strata/log';
import { createNamedFetcher } from '@strata/scan';
import type { GatewayConfig } from '../config.ts';
import { VERSION } from '../version.ts';

/** Undefined where none is named. Disposing ends the requests to them. */
export function openWitnesses({
  witnesses,
  allowAddresses,
}: Pick<GatewayConfig, 'witnesses' | 'allowAddresses'>): (LogWitnesses & AsyncDisposable) | undefined {
  if (!witnesses) return undefined;
  const urls = witnesses.addresses.map(({ url }) => url);
  const fetcher = createNamedFetcher(urls, { allowAddresses, userAgent: `StrataGateway/${VERSION}` });
  return { ...witnesses, fetch: fetcher.fetch, [Symbol.asyncDispose]: () => fetcher[Symbol.asyncDispose]() };
}
