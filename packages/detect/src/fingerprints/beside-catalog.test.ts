// A community set beside the catalog's own rules: it adds what they do not know, and takes nothing from what they do.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { detect } from '../detect.ts';
import { compileRulebook } from '../rulebook.ts';
import { rulebookWith, testCatalog } from '../test/community-set.ts';
import { aliasTo, type EvidenceParts, evidenceOf } from '../test/evidence-of.ts';

const rulebook = rulebookWith({
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
const found = (parts: EvidenceParts, book = rulebook) =>
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
    const { roles } = detect(evidenceOf(parts), rulebook);
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
    const [dns] = detect(evidenceOf(parts), rulebook).services;
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
