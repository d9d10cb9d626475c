// Answers of sites and what they show, as the catalog's tests write them.
import assert from 'node:assert/strict';
import { compileRulebook, explainRecord, loadCatalog } from '@strata/detect';
import { entries } from '../index.ts';

export const providers = loadCatalog(entries);
const rulebook = compileRulebook(providers);

/** A record of example.com, and the ids that it shows, each with the version where one is shown. */
type Shape = readonly [record: object, shown: readonly string[]];

/** What a record of example.com proves, in the order of certainty. */
export function servicesOf(record: object) {
  return explainRecord({ domain: 'example.com', ...record }, rulebook).services;
}

/** Asserts that each record shows its providers and no other. */
export function assertShown(...shapes: readonly Shape[]): void {
  for (const [record, shown] of shapes) {
    const ids = servicesOf(record).map(({ provider_id, version }) =>
      version === undefined ? provider_id : `${provider_id} ${version}`,
    );
    // One that runs the site and makes it is two services.
    assert.deepEqual([...new Set(ids)].toSorted(), shown.toSorted(), JSON.stringify(record));
  }
}

/** A page with this meta generator. */
export function generator(content: string): object {
  return { html: `<meta name="generator" content="${content}">` };
}

/** A page that loads these scripts. */
export function scripts(...urls: readonly string[]): object {
  return { html: urls.map((url) => `<script src="${url}"></script>`).join('') };
}

/** A label of example.com that is an alias of `target`. */
export function alias(label: string, target: string): object {
  return { cname: { [`${label}.example.com`]: target } };
}

export const page = (html: string): object => ({ html });
export const server = (value: string): object => ({ headers: { server: value } });
export const poweredBy = (value: string): object => ({ headers: { 'x-powered-by': value } });
export const cookies = (...names: readonly string[]): object => ({ cookies: names });
