// Evidence that somebody else could have left or forged: what keeps it from being believed.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { detect } from './detect.ts';
import { type EvidenceParts, evidenceOf } from './test/evidence-of.ts';
import { linesOf, testRulebook } from './test/rulebook-of.ts';

const profileOf = (parts: EvidenceParts) => detect(evidenceOf(parts), testRulebook);
const servicesOf = (parts: EvidenceParts) => linesOf(profileOf(parts).services);

describe('a policy that is split', () => {
  it('into names of the domain’s own is one policy', () => {
    const spf = {
      '_spf.example.com': ['v=spf1 include:_more.example.com ~all'],
      '_more.example.com': ['v=spf1 include:sendy.test ~all'],
    };
    for (const txt of ['v=spf1 include:_spf.example.com -all', 'v=spf1 redirect=_spf.example.com'])
      assert.deepEqual(servicesOf({ txt: [txt], spf }), ['email_sending sendy high'], txt);
  });

  it('into names of another is that one’s', () => {
    const spf = {
      '_spf.notexample.com': ['v=spf1 include:_more.example.com ~all'],
      '_more.example.com': ['v=spf1 include:sendy.test ~all'],
    };
    assert.deepEqual(servicesOf({ txt: ['v=spf1 include:_spf.notexample.com -all'], spf }), [
      'email_sending sendy medium',
    ]);
  });
});

describe('a less preferred exchange', () => {
  it('is a mailbox behind a gateway, and a queue behind an exchange that nobody is known by', () => {
    assert.deepEqual(servicesOf({ mx: ['10 mxa.guard.test', '50 a.mail.micro.test'] }), [
      'email micro low',
      'email_security guard high',
    ]);
    assert.deepEqual(servicesOf({ mx: ['10 mail.example.com', '50 a.mail.micro.test'] }), []);
  });
});

describe('a Server header', () => {
  const server = { headers: { server: 'edgy' } };
  const at = (asn: number | null) => [{ asn, use: 'web' as const }];

  it('is low where the site is in a network that is not its provider’s, and hides no host', () => {
    assert.deepEqual(servicesOf({ http: server, addresses: at(64499) }), ['hosting cloudy medium', 'cdn edgy low']);
  });

  it('is believed in its provider’s network, behind another front, with another sign, and where no network is known', () => {
    assert.ok(servicesOf({ http: server, addresses: at(64496) }).includes('cdn edgy high'));
    assert.deepEqual(servicesOf({ http: server, addresses: at(null) }), ['cdn edgy medium']);
    assert.deepEqual(servicesOf({ http: server }), ['cdn edgy medium']);
    const signed = { headers: { server: 'edgy', 'x-edgy-ray': '1' } };
    assert.deepEqual(servicesOf({ http: signed, addresses: at(64499) }), ['cdn edgy high']);
    const walled = { headers: { server: 'edgy', 'x-waffle': '1' } };
    assert.deepEqual(servicesOf({ http: walled, addresses: at(64499) }), ['cdn edgy medium', 'security waffle high']);
  });

  it('of a provider whose networks nobody knows is believed', () => {
    assert.deepEqual(servicesOf({ http: { headers: { server: 'Deploy' } }, addresses: at(64511) }), [
      'hosting deploy medium',
    ]);
  });
});

describe('a path that shows a platform', () => {
  const with_ = (...assets: readonly string[]) => servicesOf({ http: { page: { assets } } });
  const blogger = ['web_platform blogger medium'];

  it('counts on the domain’s own hosts, and on others for scripts and styles alone', () => {
    assert.deepEqual(with_('https://example.com/blog-content/a.png'), blogger);
    assert.deepEqual(with_('https://static.example.com/blog-content/a.png'), blogger);
    assert.deepEqual(with_('https://cdn.assets.test/blog-content/theme.css?v=1'), blogger);
    assert.deepEqual(with_('https://cdn.assets.test/blog-content/app.js'), blogger);
    assert.deepEqual(with_('https://partner.test/blog-content/a.png', 'https://notexample.com/blog-content/b.jpg'), []);
  });
});

describe('a page that offers the name', () => {
  const titled = (title: string, more: EvidenceParts = {}) => profileOf({ http: { page: { title } }, ...more }).state;

  it('is a parked one’s, unless a known provider receives the mail', () => {
    for (const title of ['example.com is for sale', 'Example.com - Domain for sale!', 'example.com may be for sale'])
      assert.equal(titled(title), 'parked', title);
    assert.equal(titled('example.com is for sale', { mx: ['1 aspmx.l.googly.test'] }), 'active');
  });

  it('is not one that offers other things', () => {
    for (const title of [
      'Houses for sale',
      'The boat is for sale',
      'Domain for sale? How to sell your domain name',
      '',
    ])
      assert.equal(titled(title), 'active', title);
  });
});
