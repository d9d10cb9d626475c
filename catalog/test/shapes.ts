// Records of domains and answers of sites as the catalog's tests write them, and what they show.
import { compileRulebook, detect, evidenceFromRecord, explainRecord, loadCatalog } from '@strata/detect';
import { entries } from '../index.ts';

export const providers = loadCatalog(entries);
export const rulebook = compileRulebook(providers);

export function servicesOf(record: object) {
  return explainRecord({ domain: 'example.com', ...record }, rulebook).services;
}

export const profileOf = (record: object) => detect(evidenceFromRecord({ domain: 'example.com', ...record }), rulebook);

export const generator = (content: string) => ({ html: `<meta name="generator" content="${content}">` });
export const scripts = (...urls: readonly string[]) => ({
  html: urls.map((url) => `<script src="${url}"></script>`).join(''),
});
export const alias = (label: string, target: string) => ({ cname: { [`${label}.example.com`]: target } });
/** Mail exchanges, the most preferred first. */
export const mx = (...exchanges: readonly string[]) => ({
  mx: exchanges.map((exchange, i) => ({ preference: 10 * (i + 1), exchange })),
});
export const cookies = (...names: readonly string[]): object => ({ cookies: names });
export const spf = (policy: string) => ({ txt: [`v=spf1 ${policy}`] });
export const rua = (...addresses: readonly string[]) => ({
  dmarc: `v=DMARC1; p=quarantine; rua=${addresses.map((address) => `mailto:${address}`).join(',')}`,
});
