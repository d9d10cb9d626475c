// One `affected` entry of a CVE record: all names of the product, and its versions.
import { z } from 'zod';
import type { ProductClaim, ProductKey } from '../../advisory.ts';
import { cpeProductKey } from '../cpe-key.ts';
import { collectionKey, packageUrlKey } from '../package-key.ts';
import { bounded, Name } from '../reading.ts';
import { oneLine } from '../text.ts';
import { DefaultStatus, VersionEntry, versionsOf } from './cna-versions.ts';

export const Affected = z.object({
  vendor: Name.optional(),
  product: Name.optional(),
  collectionURL: Name.optional(),
  packageName: Name.optional(),
  packageURL: Name.optional(),
  cpes: bounded(Name).optional(),
  platforms: bounded(Name).optional(),
  defaultStatus: DefaultStatus.optional(),
  versions: bounded(VersionEntry).optional(),
});
type Affected = z.infer<typeof Affected>;

const MAX_WORDS = 200;
/** More CPE names than this, of one product in many versions, add no new product. */
const MAX_CPES = 1_000;
const MAX_PLATFORMS = 100;
/** OpenSSL numbered its patches by letters until 1.1.1. */
const OPENSSL = new Set(['cna:openssl/openssl', 'cpe:openssl:openssl']);

/** Undefined if no product is named. */
export function affectedClaim(entry: Affected): ProductClaim | undefined {
  const products = keysOf(entry);
  if (products.length === 0) return undefined;
  const known = products.some((key) => OPENSSL.has(key)) ? 'openssl' : undefined;
  const platforms = (entry.platforms ?? []).slice(0, MAX_PLATFORMS).map((name) => textOf(name) ?? '');
  return {
    kind: 'product',
    products,
    ...versionsOf(entry.versions ?? [], entry.defaultStatus, known),
    platforms: platforms.filter((name) => name !== '' && !/^all(?: platforms)?$/.test(name)),
  };
}

function keysOf({ vendor, product, collectionURL, packageName, packageURL, cpes = [] }: Affected): ProductKey[] {
  const [by, called] = [textOf(vendor), textOf(product)];
  const keys = [
    by && called && `cna:${by}/${called}`,
    packageURL && packageUrlKey(packageURL),
    collectionURL && packageName && collectionKey(collectionURL, packageName),
    ...cpes.slice(0, MAX_CPES).map(cpeProductKey),
  ];
  return [...new Set(keys.flatMap((key) => key || []))];
}

/** Lower case; undefined for a placeholder. */
function textOf(text: string | undefined): string | undefined {
  const words = oneLine(text ?? '', MAX_WORDS).toLowerCase();
  return words === '' || words === 'n/a' || words === 'unspecified' ? undefined : words;
}
