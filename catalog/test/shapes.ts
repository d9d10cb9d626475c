// Answers of sites and records of domains as the catalog's tests write them, and what they show.
import assert from 'node:assert/strict';
import { compileRulebook, detect, evidenceFromRecord, explainRecord, loadCatalog } from '@strata/detect';
import { entries } from '../index.ts';

export const providers = loadCatalog(entries);
export const rulebook = compileRulebook(providers);

type Expected = readonly [record: object, shown: readonly string[]];

export function servicesOf(record: object) {
  return explainRecord({ domain: 'example.com', ...record }, rulebook).services;
}

export const profileOf = (record: object) => detect(evidenceFromRecord({ domain: 'example.com', ...record }), rulebook);

/** Asserts that each record shows these services and no other: `category provider`. */
export function assertServices(...expected: readonly Expected[]): void {
  for (const [record, services] of expected) {
    const found = servicesOf(record).map(({ category, provider_id }) => `${category} ${provider_id}`);
    assert.deepEqual(found.toSorted(), services.toSorted(), JSON.stringify(record));
  }
}

/** Asserts that each record shows these providers and no other, each with the version where one is shown. */
export function assertShown(...expected: readonly Expected[]): void {
  for (const [record, shown] of expected) {
    const ids = servicesOf(record).map(({ provider_id, version }) =>
      version === undefined ? provider_id : `${provider_id} ${version}`,
    );
    // One that runs the site and makes it is two services.
    assert.deepEqual([...new Set(ids)].toSorted(), shown.toSorted(), JSON.stringify(record));
  }
}

export const generator = (content: string) => ({ html: `<meta name="generator" content="${content}">` });
export const scripts = (...urls: readonly string[]) => ({
  html: urls.map((url) => `<script src="${url}"></script>`).join(''),
});
export const alias = (label: string, target: string) => ({ cname: { [`${label}.example.com`]: target } });
/** Mail exchanges, the most preferred first. */
export const mx = (...exchanges: readonly string[]) => ({
  mx: exchanges.map((exchange, i) => ({ preference: 10 * (i + 1), exchange })),
});
export const page = (html: string): object => ({ html });
export const server = (value: string): object => ({ headers: { server: value } });
export const poweredBy = (value: string): object => ({ headers: { 'x-powered-by': value } });
export const cookies = (...names: readonly string[]): object => ({ cookies: names });
export const spf = (policy: string) => ({ txt: [`v=spf1 ${policy}`] });
export const rua = (...addresses: readonly string[]) => ({
  dmarc: `v=DMARC1; p=quarantine; rua=${addresses.map((address) => `mailto:${address}`).join(',')}`,
});
