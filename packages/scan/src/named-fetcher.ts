// A fetcher for servers of others that the operator named: at the port that the address says, and no redirect or name leads to where
// only this machine may go.
import { isIP } from 'node:net';
import { createFetcher, type Fetcher, type FetcherOptions } from './fetcher.ts';
import { hostOf } from './web-request.ts';

/**
 * `urls` are what is visited. Literal addresses and `localhost` are dialled as they stand, since the operator wrote them; a name
 * belongs to another party, and is dialled only if its address is public or allowed.
 */
export function createNamedFetcher(
  urls: readonly string[],
  options: Omit<FetcherOptions, 'trustedOrigins' | 'namedOrigins'>,
): Fetcher {
  const named = urls.map((url) => new URL(url));
  const literal = named.filter((url) => hostOf(url) === 'localhost' || isIP(hostOf(url)) !== 0);
  const originsOf = (of: readonly URL[]) => of.map(({ origin }) => origin);
  return createFetcher({ ...options, trustedOrigins: originsOf(literal), namedOrigins: originsOf(named) });
}
