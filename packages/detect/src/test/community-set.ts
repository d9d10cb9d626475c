// A community set for tests: invented technologies that use every part of the format, over the test catalog's providers.

import { readFingerprints } from '../fingerprints/read/read-set.ts';
import { loadCatalog } from '../rulebook/load-catalog.ts';
import { compileRulebook, type Rulebook } from '../rulebook/rulebook.ts';
import { testEntries } from './rulebook-of.ts';

type Entries = Readonly<Record<string, object>>;

/** Entries as a set has them: each with a website of its own unless it names one. */
export function withWebsites(entries: Entries): Record<string, object> {
  const hostOf = (name: string) => `${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}.example`;
  const complete = ([name, entry]: [string, object]) => [name, { website: `https://${hostOf(name)}`, ...entry }];
  return Object.fromEntries(Object.entries(entries).map(complete));
}

export const testCatalog = loadCatalog(testEntries);

/** The test catalog with a set of such entries beside it. */
export function rulebookWith(entries: Entries): Rulebook {
  const content = withWebsites(entries);
  return compileRulebook(testCatalog, { sets: readFingerprints([{ name: 'technologies/t.json', content }]) });
}

const TALLY = 'cdn\\.tally\\.example/v([\\d.]+)/tally(?:\\.min)?\\.js\\;version:\\1';
/** As a file of `technologies/` has it. */
export const communityTechnologies: Readonly<Record<string, unknown>> = withWebsites({
  // One for each field.
  'Lumen CMS': {
    cats: [1, 11],
    cpe: 'cpe:2.3:a:lumen:lumen_cms:*:*:*:*:*:*:*:*',
    description: 'Every descriptive member is passed over.',
    ...{ icon: 'Lumen.svg', saas: false, oss: true, pricing: ['freemium'] },
    meta: { generator: '^Lumen(?: ([\\d.]+))?\\;version:\\1', 'lumen-page': '' },
    headers: { 'X-Lumen-Page': '' },
    implies: ['Quill\\;confidence:50', 'Ember DB'],
  },
  Brisk: { cats: [22], headers: { Server: 'Brisk(?:/([\\d.]+))?\\;version:\\1' } },
  'Tally Analytics': {
    cats: [10],
    cookies: { tally_id: '', tally_mode: '.*', tally_plan: '^gold$' },
    scriptSrc: [TALLY, 'tally-legacy\\.js\\;version:\\1?1.0:'],
  },
  'Session Keeper': { cats: [69], cookies: { 'KEEP[a-f0-9]{8}': '', 'keep_*': '\\;confidence:50' } },
  Prose: { cats: [24], html: ['<div[^>]+class="prose-editor'] },
  Signpost: { cats: [19], text: ['Powered by Signpost ([\\d.]+)\\;version:\\1'] },
  Hostling: { cats: [62], url: ['^https?://[^/]+\\.hostling\\.example'], headers: { 'x-hostling-id': '' } },
  Nameworks: { cats: [88], dns: { NS: ['\\.nameworks\\.example$'], SOA: 'hostmaster\\.nameworks\\.example' } },
  Postbox: { cats: [75], dns: { MX: ['mx\\d*\\.postbox\\.example'], TXT: ['postbox-verification='] } },
  Mailwall: { cats: [16, 75], dns: { MX: '\\.mailwall\\.example' } },
  Bulkpost: { cats: [75], dns: { TXT: ['spf\\.bulkpost\\.example'] } },
  Fastlane: {
    cats: [31],
    dns: { CNAME: ['\\.fastlane\\.example'] },
    headers: { Via: 'fastlane', 'Content-Security-Policy': '\\.fastlane\\.example' },
  },
  'Honest Certificates': { cats: [70], certIssuer: 'Honest (Root) Ltd.' },
  // Confidence adds up within a family.
  Halfway: {
    cats: [59],
    scriptSrc: ['core 50', 'extra 30', 'more 60'].map((one) => `halfway-${one.replace(' ', '\\.js\\;confidence:')}`),
    headers: { 'x-halfway': '\\;confidence:50' },
  },
  // Relations.
  Quill: { cats: [27], implies: 'Inkwell' },
  Inkwell: { cats: [27], implies: ['Paper'] },
  Paper: { cats: [27], implies: ['Wood'] },
  Wood: { cats: [27], implies: ['Quill'] },
  'Ember DB': { cats: [34] },
  'Lumen Forms': { cats: [110], scriptSrc: ['/lumen-forms/'], requires: 'Lumen CMS' },
  'Any Shop Badge': { cats: [5], scriptSrc: ['shop-badge\\.js'], requiresCategory: [6] },
  Basketry: { cats: ['6'], cookies: { basketry: '' } },
  'Edgy Boost': { cats: [92], scriptSrc: ['edgy-boost\\.js'], requires: ['EDGY'] },
  Chicken: { cats: [5], scriptSrc: ['chicken\\.js'], requires: ['Egg'] },
  Egg: { cats: [5], scriptSrc: ['egg-shell\\.js'], requires: ['Chicken'] },
  Lonely: { cats: [5], scriptSrc: ['lonely\\.js'], requires: ['Unknown Product'] },
  'Brisk Fork': { cats: [22], headers: { Server: 'Brisk-Fork' }, excludes: ['Brisk'] },
  // Known to the catalog: by name, by the host of its website, and not by an address below it.
  GOOGLY: {
    ...{ cats: [75], website: 'https://mail.googly.example' },
    ...{ dns: { MX: ['aspmx\\.l\\.googly\\.test'] }, scriptSrc: ['apis\\.googly\\.test/'] },
  },
  'Waffle.js': { cats: [16], website: 'https://www.waffle.example/', cookies: { waffle_extra: '' } },
  'Waffle Recipes': { cats: [5], website: 'https://waffle.example/recipes', scriptSrc: ['waffle-recipes\\.js'] },
  // Nothing that a passive scan sees.
  Backstage: { cats: [12], js: { 'Backstage.version': '' }, dom: ['#back'], css: 'x', xhr: ['y'], probe: { '/z': '' } },
});
