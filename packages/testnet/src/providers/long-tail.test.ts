import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mintFor } from '../random.ts';
import { worldOf } from '../world.ts';
import { longTailOf } from './long-tail.ts';

const mint = mintFor('seed', 'company.example');

const dkim = { label: 'b1._domainkey', target: 'dkim.bulk.test' };
const header = [{ name: 'x-rack' }];
const asset = ['/press-files/', 'cdn.press.test'];
const pressPage = { generator: [{ start: 'Press ' }], asset, marker: ['press-root'] };
const rackRules = [
  { category: 'hosting', asn: [64500], header },
  { category: 'web_platform', header },
];
const catalog = [
  { id: 'nameco', rules: [{ category: 'dns', ns: ['nameco-dns.test'] }] },
  { id: 'starry', rules: [{ category: 'dns', ns: ['*.starry-*.test'] }] },
  { id: 'seller', rules: [{ category: 'dns', ns: ['seller.test'], parking: true }] },
  { id: 'postbox', rules: [{ category: 'email', mx: ['postbox.test'], spf: ['_spf.postbox.test'] }] },
  { id: 'guard', rules: [{ category: 'email_security', mx: ['guard.test'], dmarc: ['rua.guard.test'] }] },
  { id: 'bulk', rules: [{ category: 'email_sending', spf: ['spf.bulk.test'], named: [dkim] }] },
  { id: 'club', rules: [{ category: 'verified_service', txt: ['club-verification='] }] },
  { id: 'rack', rules: rackRules },
  { id: 'edge', rules: [{ category: 'cdn', cname: ['edge.test'], asn: [64501] }] },
  { id: 'press', rules: [{ category: 'web_platform', html: pressPage }] },
  { id: 'seal', rules: [{ category: 'certificate_authority', tls: ['Seal Trust'], caa: ['seal.test'] }] },
  { id: 'cloudflare', rules: [{ category: 'dns', ns: ['other.test'] }] },
];

describe('the long tail', () => {
  const { templates, networks } = worldOf('seed', catalog);
  it('publishes what the patterns ask for', () => {
    assert.deepEqual(templates.dns.of('nameco').ns(mint), ['ns1.nameco-dns.test', 'ns2.nameco-dns.test']);
    assert.deepEqual(templates.dns.of('starry').ns(mint), ['1.starry-1.test', '2.starry-2.test']);
    assert.deepEqual(templates.mailbox.of('postbox').mx(mint)[0], [10, 'mx1.postbox.test']);
    assert.equal(templates.mailbox.of('postbox').spf?.(mint), 'include:_spf.postbox.test');
    assert.match(templates.reports.of('guard').address(mint), /@rua\.guard\.test$/);
    const customer = [{ label: 'b1._domainkey', cname: 'company-example.dkim.bulk.test' }];
    assert.deepEqual(templates.sender.of('bulk').customer?.(mint), customer);
    assert.match(templates.token.of('club').txt(mint), /^club-verification=\w+$/);
    assert.equal(templates.authority.of('seal').organisation, 'Seal Trust');
    const hidden = { category: 'web_platform', provider: 'rack' };
    assert.deepEqual(templates.hosting.of('rack').also, [hidden]);
    assert.ok(templates.platform.of('press').body?.(mint).includes('id="press-root"'));
    assert.equal(templates.widget.of('press').asset(mint), 'https://cdn.press.test/loader.js');
  });
  it('has networks of its own for AS numbers that no template knows, and answers for their addresses', () => {
    const { network } = templates.cdn.of('edge');
    assert.ok(typeof network !== 'string' && network.asn === 64_501);
    assert.ok(networks.some(({ asn }) => asn === 64_501));
  });
  it('omits domain sellers, and providers with a template', () => {
    assert.equal(templates.dns.has('seller'), false);
    assert.notDeepEqual(templates.dns.of('cloudflare').zones, ['other.test']);
    assert.ok(templates.dns.tail.every(({ id }) => id !== 'cloudflare'));
  });
  it('takes of any JSON what fits', () => {
    const odd = [null, 1, 'x', [], {}, { id: 1 }, { id: 'a' }, { id: 'b', rules: 'none' }];
    const tail = longTailOf([...odd, { id: 'c', rules: [null, { category: 'dns', ns: [1, {}] }] }]);
    for (const rows of Object.values(tail)) assert.equal(rows.length, 0);
  });
});
