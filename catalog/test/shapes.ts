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
