// Community sets beside the catalog's own rules: which technologies the catalog knows, what a set adds, and that it takes
// nothing from the catalog's own.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { detect } from '../detect.ts';
import { loadCatalog } from '../load-catalog.ts';
import { compileRulebook } from '../rulebook.ts';
import { rulebookWith, testCatalog } from '../test/community-set.ts';
import { aliasTo, type EvidenceParts, evidenceOf } from '../test/evidence-of.ts';
import { rows } from '../test/rows.ts';
import { testEntries } from '../test/rulebook-of.ts';
import { readFingerprints } from './read-set.ts';

const at = (host: string) => ({ website: `https://${host.includes('.') ? host : `${host}.example`}` });
const dns = (host: string) => [{ category: 'dns', ns: [host] }];
const catalog = loadCatalog([
  ...testEntries,
  {
    ...{ id: 'phoenix', name: 'Phoenix Framework', aliases: ['Firebird'], kinds: ['web-framework'] },
    ...{ website: 'https://phoenix-framework.example', cpe: ['phoenix:framework'] },
    rules: [{ category: 'web_platform', cookie: ['_phoenix'] }],
  },
  { ...{ id: 'quick', name: 'Quick', owner: 'Sprint', kinds: ['cdn'] }, ...at('quick'), rules: dns('quick.test') },
  { ...{ id: 'seal-dns', name: 'Seal Managed DNS', kinds: ['dns-host'] }, ...at('seal'), rules: dns('seal.test') },
]);
const HEADERS = { headers: { 'x-some': '' } };
const VERSIONED = { headers: { 'x-some': '([\\d.]+)\\;version:\\1' } };

const bookOf = (technologies: unknown) =>
  compileRulebook(catalog, { sets: readFingerprints([{ name: 't.json', content: technologies }]) });
/** `provider by`, or the id of the new provider. */
function takenFor(name: string, entry: object, others: object = {}): string {
  const { sets } = bookOf({ [name]: { cats: [5], ...HEADERS, ...entry }, ...others });
  const merge = sets?.merges.find(({ technology }) => technology === name);
  return merge ? `${merge.provider} ${merge.by}` : (sets?.technologies[0]?.provider.id ?? '');
}

describe('a technology of a set is a provider of the catalog', () => {
  const taken = (by: string, name: string, entry: object) => assert.equal(takenFor(name, entry), by);
  const framework = 'https://phoenix-framework.example/x';
  rows(taken, [
    ['by its CPE product', 'phoenix product', 'Anything', { ...at('a'), cpe: 'cpe:2.3:a:phoenix:framework:*' }],
    ['by name', 'phoenix name', 'Phoenix  framework', at('elsewhere')],
    ['by name and address, with versions', 'phoenix name', 'Firebird', { website: framework, ...VERSIONED }],
    ['by a name of one word and its domain', 'quick name', 'QUICK', { website: 'https://docs.quick.example/' }],
    ['by a name of one word and its kind', 'quick name', 'Quick', { ...at('other'), cats: [31] }],
    ['by its address and a like name', 'quick website', 'Sprint Quick.js', { website: 'https://www.quick.example/' }],
  ]);
});

describe('a technology of a set is a provider of its own', () => {
  const own = (id: string, name: string, entry: object) => assert.equal(takenFor(name, entry), id);
  const code = { website: 'https://code.example/phoenix', cats: [18] };
  rows(own, [
    ['whose name is no more than the id of another', 'phoenix-community', 'Phoenix', code],
    ['of another kind, with a name of one word', 'quick-community', 'Quick', at('quick.invalid')],
    ['with a namesake that has advisories', 'firebird', 'Firebird', { ...at('firebird'), cats: [18] }],
    ['with versions, and such a namesake', 'phoenix-framework', 'Phoenix Framework', { ...at('a'), ...VERSIONED }],
    ['of the same maker under another name', 'quick-consent', 'Quick Consent', at('quick')],
    ['that is the maker of what the catalog has', 'seal', 'Seal', at('seal')],
  ]);
  it('at an address that another technology has too', () => {
    const other = { 'Quick Chat': { cats: [52], website: 'https://quick.example', ...HEADERS } };
    assert.equal(takenFor('Sprint Quick', { website: 'https://quick.example' }, other), 'sprint-quick');
  });
  it('and brings the other neither its role nor its versions', () => {
    const book = bookOf({ Phoenix: { cats: [18], website: 'https://code.example/phoenix', ...VERSIONED } });
    const parts: EvidenceParts = { http: { headers: { 'x-some': '1.2.3' }, cookies: ['_phoenix'] } };
    const services = detect(evidenceOf(parts), book).services.map(({ provider, version }) => [provider, version]);
    assert.deepEqual(Object.fromEntries(services), { phoenix: null, 'phoenix-community': '1.2.3' });
    assert.equal(services.length, 2);
  });
});

const beside = rulebookWith({
  // Loaded by a page, an edge, and the cloud that both imply.
  Monitor: { cats: [10], headers: { 'Content-Security-Policy': 'js\\.monitor' }, implies: 'Cloud Nine' },
  Fastline: { cats: [31], headers: { 'x-fastline': '' }, implies: ['Cloud Nine', 'EDGY'] },
  'Cloud Nine': { cats: [63], headers: { 'x-nine': '' } },
  // Records that the catalog has under other names.
  'Other DNS': { cats: [88], dns: { NS: 'dnsco\\.test', SOA: 'dnsco\\.test' } },
  'Other Mail': { cats: [75], dns: { MX: 'aspmx\\.l\\.googly\\.test' } },
  'Other Edge': { cats: [62], dns: { CNAME: 'edgy\\.test' } },
  'Other Issuer': { cats: [70], certIssuer: 'Certy' },
  'Other Network': { cats: [31], headers: { Server: '^edgy$' } },
  'Edge Server': { cats: [22], headers: { Server: '^edgy$' } },
  'Other Sender': { cats: [75], dns: { TXT: 'other-sender' }, implies: 'Cloud Nine' },
  'Token Reader': { cats: [19], dns: { TXT: 'account=' } },
  DNSCO: { cats: [88], dns: { NS: 'ns\\d\\.dnsco\\.test' } },
});
const found = (parts: EvidenceParts, book = beside) =>
  detect(evidenceOf(parts), book).services.map(({ category, provider }) => `${category} ${provider}`);

describe('an implication', () => {
  const addresses = [{ asn: 64499 }];
  it('of what a header mentions leaves the host where it is', () => {
    const headers = { 'content-security-policy': 'script-src js.monitor.example' };
    const names = ['hosting cloudy', 'web_platform monitor', 'web_platform cloud-nine'];
    assert.deepEqual(found({ addresses, http: { headers } }), names);
  });
  it("of an edge makes its owner's cloud no host, nor the catalog's provider an edge", () => {
    const parts: EvidenceParts = { addresses, http: { headers: { 'x-fastline': '1' } } };
    const { roles } = detect(evidenceOf(parts), beside);
    assert.deepEqual(found(parts), ['cdn fastline', 'web_platform cloud-nine', 'web_platform edgy']);
    assert.equal(roles.origin, 'blocked');
  });
  it('of a sender shows nothing of the site', () => {
    const txt = ['v=spf1 include:spf.other-sender.example -all', 'other-sender=1'];
    assert.deepEqual(found({ txt }), ['email_sending other-sender', 'verified_service other-sender']);
  });
});

describe('a record that the catalog knows', () => {
  const parts: EvidenceParts = {
    ns: ['ns1.dnsco.test'],
    soa: [{ mname: 'ns1.dnsco.test', rname: 'hostmaster.dnsco.test', serial: 1 }],
    mx: ['10 aspmx.l.googly.test'],
    www: aliasTo('x.edgy.test'),
    txt: ['googly-account=1'],
    tls: { status: 'found', issuer: 'Certy', isTrusted: true },
  };

  it('names no other provider', () => {
    const own = found(parts, compileRulebook(testCatalog));
    assert.ok(own.length >= 4);
    assert.deepEqual(found(parts), own);
  });
  it('is evidence of a set for the same provider', () => {
    const [dns] = detect(evidenceOf(parts), beside).services;
    assert.ok(dns?.evidence.some(({ rule }) => rule.startsWith('dnsco/ns/set:')));
  });
  it('or a header, names no other edge, but what else is told of it', () => {
    const headers = { 'x-edgy-ray': '1', server: 'edgy' };
    assert.deepEqual(found({ http: { headers } }), ['cdn edgy', 'web_platform edge-server']);
  });
  it('leaves one that it does not know to the set', () => {
    const names = found({ ns: ['a.not-dnsco.test', 'ns1.dnsco.test'], mx: ['10 x-aspmx.l.googly.test'] });
    assert.deepEqual(names, ['dns dnsco', 'dns other-dns', 'email other-mail']);
  });
});
