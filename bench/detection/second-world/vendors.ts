// Which providers of the catalog are which vendors: by name and website, and by `aliases.json` where names differ.
import { readFileSync } from 'node:fs';
import type { Rulebook } from '@strata/detect';
import { z } from 'zod';
import type { Service } from './service.ts';

/** Vendor to provider ids. Written after the first results, for differences of names alone. */
const Aliases = z.record(z.string(), z.array(z.string()));

export interface VendorMap {
  /** Provider ids of a vendor; empty for one that the catalog does not know. */
  idsOf(vendor: string): ReadonlySet<string>;
}

/** @throws RangeError for an alias of an unknown vendor or provider. */
export function mapVendors(rulebook: Rulebook, services: readonly Pick<Service, 'vendor' | 'website'>[]): VendorMap {
  const aliases = Aliases.parse(JSON.parse(readFileSync(new URL('aliases.json', import.meta.url), 'utf8')));
  const byWebsite = Map.groupBy(rulebook.providers.values(), ({ website }) => websiteKey(website));
  const byName = Map.groupBy(rulebook.providers.values(), ({ name }) => nameKey(name));
  const byVendor = new Map<string, Set<string>>();
  const idsOf = (vendor: string): Set<string> => {
    const known = byVendor.get(vendor);
    if (known) return known;
    const found = rulebook.findProvider(vendor);
    const ids = new Set([...(found ? [found] : []), ...(byName.get(nameKey(vendor)) ?? [])].map(({ id }) => id));
    byVendor.set(vendor, ids);
    return ids;
  };
  for (const { vendor, website } of services)
    for (const { id } of byWebsite.get(websiteKey(website)) ?? []) idsOf(vendor).add(id);
  for (const [vendor, ids] of Object.entries(aliases)) {
    if (!services.some((service) => service.vendor === vendor)) throw new RangeError(`no vendor '${vendor}'`);
    for (const id of ids) {
      if (!rulebook.providers.has(id)) throw new RangeError(`no provider '${id}'`);
      idsOf(vendor).add(id);
    }
  }
  return { idsOf };
}

const nameKey = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** Host and path, without `www.` and a slash at the end. */
const websiteKey = (website: string): string =>
  website
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/^www\./, '')
    .replace(/\/+$/, '');
