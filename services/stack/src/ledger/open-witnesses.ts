// The witnesses that cosign the ledger's checkpoints, with the prober's resolvers and address rules.
import type { LogWitnesses } from '@strata/log';
import { createNamedFetcher } from '@strata/scan';
import type { Config } from '../config.ts';
import type { World } from '../context.ts';
import { outboundOptions } from '../scan/open-fetcher.ts';

/** Undefined without configured witnesses. Disposing ends their requests. */
export function openWitnesses(config: Config, world: World): (LogWitnesses & AsyncDisposable) | undefined {
  if (!config.witnesses) return undefined;
  const urls = config.witnesses.addresses.map(({ url }) => url);
  const fetcher = createNamedFetcher(urls, outboundOptions(config, world));
  const { fetch } = fetcher;
  return { ...config.witnesses, fetch, [Symbol.asyncDispose]: () => fetcher[Symbol.asyncDispose]() };
}
