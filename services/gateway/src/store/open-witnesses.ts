// The witnesses that cosign the ledger's checkpoints. Private addresses are only contacted if the operator named or
// allowed them.
import type { LogWitnesses } from '@strata/log';
import { createNamedFetcher } from '@strata/scan';
import type { GatewayConfig } from '../config.ts';
import { VERSION } from '../version.ts';

/** Undefined if no witness is configured. Disposing it cancels pending requests. */
export function openWitnesses({
  witnesses,
  allowAddresses,
}: Pick<GatewayConfig, 'witnesses' | 'allowAddresses'>): (LogWitnesses & AsyncDisposable) | undefined {
  if (!witnesses) return undefined;
  const urls = witnesses.addresses.map(({ url }) => url);
  const fetcher = createNamedFetcher(urls, { allowAddresses, userAgent: `StrataGateway/${VERSION}` });
  return { ...witnesses, fetch: fetcher.fetch, [Symbol.asyncDispose]: () => fetcher[Symbol.asyncDispose]() };
}
