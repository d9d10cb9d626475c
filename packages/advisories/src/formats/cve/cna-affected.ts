// One `affected` entry of a CVE record: which product is meant, by all its names, and which of its versions.
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
/** CPE names beyond these, of one product in many versions, name nothing new. */
const MAX_CPES = 1_000;
const MAX_PLATFORMS = 100;
/** OpenSSL counted its mends in letters until 1.1.1. */
const OPENSSL = new Set(['cna:openssl/openssl', 'cpe:openssl:openssl']);

/** Undefined where no product is named. */
export function affectedClaim(entry: Affected): ProductClaim | undefined {
  const products = keysOf(entry);
  if (products.length === 0) return undefined;
  const known = products.some((key) => OPENSSL.has(key)) ? 'openssl' : undefined;
  const platforms = (entry.platforms ?? []).slice(0, MAX_PLATFORMS).map((name) => wordsOf(name) ?? '');
  return {
    kind: 'product',
    products,
    ...versionsOf(entry.versions ?? [], entry.defaultStatus, known),
    platforms: platforms.filter((name) => name !== '' && !/^all(?: platforms)?$/.test(name)),
  };
}

function keysOf({ vendor, product, collectionURL, packageName, packageURL, cpes = [] }: Affected): ProductKey[] {
  const [by, called] = [wordsOf(vendor), wordsOf(product)];
  const keys = [
    by && called && `cna:${by}/${called}`,
    packageURL && packageUrlKey(packageURL),
    collectionURL && packageName && collectionKey(collectionURL, packageName),
    ...cpes.slice(0, MAX_CPES).map(cpeProductKey),
  ];
  return [...new Set(keys.flatMap((key) => key || []))];
}

/** Lower case; undefined where the CNA had nothing to say. */
function wordsOf(text: string | undefined): string | undefined {
  const words = oneLine(text ?? '', MAX_WORDS).toLowerCase();
  return words === '' || words === 'n/a' || words === 'unspecified' ? undefined : words;
}
