// A community set for tests: invented technologies that use every part of the format, over the test catalog's providers.

/** As a file of `technologies/` has it. */
export const communityTechnologies: Readonly<Record<string, unknown>> = {
  // One for each field.
  'Lumen CMS': {
    cats: [1, 11],
    website: 'https://lumen-cms.example',
    cpe: 'cpe:2.3:a:lumen:lumen_cms:*:*:*:*:*:*:*:*',
    description: 'Every descriptive member is passed over.',
    icon: 'Lumen.svg',
    saas: false,
    oss: true,
    pricing: ['freemium'],
    meta: { generator: '^Lumen(?: ([\\d.]+))?\\;version:\\1', 'lumen-page': '' },
    headers: { 'X-Lumen-Page': '' },
    implies: ['Quill\\;confidence:50', 'Ember DB'],
  },
  Brisk: { cats: [22], website: 'https://brisk.example', headers: { Server: 'Brisk(?:/([\\d.]+))?\\;version:\\1' } },
  'Tally Analytics': {
    cats: [10],
    website: 'https://tally.example',
    cookies: { tally_id: '', tally_mode: '.*', tally_plan: '^gold$' },
    scriptSrc: [
      'cdn\\.tally\\.example/v([\\d.]+)/tally(?:\\.min)?\\.js\\;version:\\1',
      'tally-legacy\\.js\\;version:\\1?1.0:',
    ],
  },
  'Session Keeper': {
    cats: [69],
    website: 'https://keeper.example',
    cookies: { 'KEEP[a-f0-9]{8}': '', 'keep_*': '\\;confidence:50' },
  },
  Prose: { cats: [24], website: 'https://prose.example', html: ['<div[^>]+class="prose-editor'] },
  Signpost: { cats: [19], website: 'https://signpost.example', text: ['Powered by Signpost ([\\d.]+)\\;version:\\1'] },
  Hostling: {
    cats: [62],
    website: 'https://hostling.example',
    url: ['^https?://[^/]+\\.hostling\\.example'],
    headers: { 'x-hostling-id': '' },
  },
  Nameworks: {
    cats: [88],
    website: 'https://nameworks.example',
    dns: { NS: ['\\.nameworks\\.example$'], SOA: 'hostmaster\\.nameworks\\.example' },
  },
  Postbox: {
    cats: [75],
    website: 'https://postbox.example',
    dns: { MX: ['mx\\d*\\.postbox\\.example'], TXT: ['postbox-verification='] },
  },
  Mailwall: { cats: [16, 75], website: 'https://mailwall.example', dns: { MX: '\\.mailwall\\.example' } },
  Bulkpost: { cats: [75], website: 'https://bulkpost.example', dns: { TXT: ['spf\\.bulkpost\\.example'] } },
  Fastlane: {
    cats: [31],
    website: 'https://fastlane.example',
    dns: { CNAME: ['\\.fastlane\\.example'] },
    headers: { Via: 'fastlane', 'Content-Security-Policy': '\\.fastlane\\.example' },
  },
  'Honest Certificates': { cats: [70], website: 'https://honest.example', certIssuer: 'Honest (Root) Ltd.' },
  // Confidence adds up within a family.
  Halfway: {
    cats: [59],
    website: 'https://halfway.example',
    scriptSrc: [
      'halfway-core\\.js\\;confidence:50',
      'halfway-extra\\.js\\;confidence:30',
      'halfway-more\\.js\\;confidence:60',
    ],
    headers: { 'x-halfway': '\\;confidence:50' },
  },
  // Relations.
  Quill: { cats: [27], website: 'https://quill.example', implies: 'Inkwell' },
  Inkwell: { cats: [27], website: 'https://inkwell.example', implies: ['Paper'] },
  Paper: { cats: [27], website: 'https://paper.example', implies: ['Wood'] },
  Wood: { cats: [27], website: 'https://wood.example', implies: ['Quill'] },
  'Ember DB': { cats: [34], website: 'https://ember-db.example' },
  'Lumen Forms': {
    cats: [110],
    website: 'https://lumen-forms.example',
    scriptSrc: ['/lumen-forms/'],
    requires: 'Lumen CMS',
  },
  'Any Shop Badge': {
    cats: [5],
    website: 'https://badge.example',
    scriptSrc: ['shop-badge\\.js'],
    requiresCategory: [6],
  },
  Basketry: { cats: ['6'], website: 'https://basketry.example', cookies: { basketry: '' } },
  'Edgy Boost': { cats: [92], website: 'https://boost.example', scriptSrc: ['edgy-boost\\.js'], requires: ['EDGY'] },
  Chicken: { cats: [5], website: 'https://chicken.example', scriptSrc: ['chicken\\.js'], requires: ['Egg'] },
  Egg: { cats: [5], website: 'https://egg.example', scriptSrc: ['egg-shell\\.js'], requires: ['Chicken'] },
  Lonely: { cats: [5], website: 'https://lonely.example', scriptSrc: ['lonely\\.js'], requires: ['Nobody Knows'] },
  'Brisk Fork': {
    cats: [22],
    website: 'https://brisk-fork.example',
    headers: { Server: 'Brisk-Fork' },
    excludes: ['Brisk'],
  },
  // Known to the catalog: by name, by the host of its website, and not by an address below it.
  GOOGLY: {
    cats: [75],
    website: 'https://mail.googly.example',
    dns: { MX: ['aspmx\\.l\\.googly\\.test'] },
    scriptSrc: ['apis\\.googly\\.test/'],
  },
  'Waffle.js': {
    cats: [16],
    website: 'https://www.waffle.example/',
    cookies: { waffle_extra: '' },
    headers: { 'x-waffle-two': '' },
  },
  'Waffle Recipes': { cats: [5], website: 'https://waffle.example/recipes', scriptSrc: ['waffle-recipes\\.js'] },
  // Nothing that a passive scan sees.
  Backstage: {
    cats: [12],
    website: 'https://backstage.example',
    js: { 'Backstage.version': '' },
    dom: ['#backstage'],
    css: 'x',
    xhr: ['y'],
    probe: { '/z': '' },
  },
};
