import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { createInternet } from '../internet.ts';
import { dataOf, records, textsOf } from '../test/dig.ts';
import { hasService, useInternet } from '../test/use.ts';

describe('the situations of companies', () => {
  const internet = useInternet({ domains: 6_000, hasFaults: false, feeds: 0 });
  const bySituation = new Map<string, string[]>();
  before(() => {
    for (const domain of internet.domains())
      for (const each of internet.truth(domain).situations)
        bySituation.set(each, [...(bySituation.get(each) ?? []), domain]);
  });

  const withSituation = (name: string): readonly string[] => bySituation.get(name) ?? [];
  const some = (name: string, fits: (domain: string) => boolean = () => true): string =>
    withSituation(name).find(fits) ?? assert.fail(`no company with ${name}`);
  const answers = (name: string, type: string) => records(internet.resolver, name, type);
  const data = (name: string, type: string) => dataOf(internet.resolver, name, type);
  const texts = (name: string) => textsOf(internet.resolver, name);
  type Mx = { preference: number; exchange: string };
  const exchanges = (domain: string) => dataOf<Mx>(internet.resolver, domain, 'MX');
  const inSituation = <T>(name: string, read: (domain: string) => Promise<T>): Promise<T[]> =>
    Promise.all(withSituation(name).slice(0, 200).map(read));
  const has = (category: string) => (domain: string) => hasService(internet, domain, category);
  const isDnsShownBy = (evidence: string) => (domain: string) =>
    internet.truth(domain).services.some(({ category, shownBy }) => category === 'dns' && shownBy === evidence);
  const policies = async (domain: string) => (await texts(domain)).filter((text) => text.startsWith('v=spf1'));
  it('come at the rates that they have in the wild', () => {
    const share = (name: string) => withSituation(name).length / internet.domains().length;
    for (const [name, min, max] of casesOf<[string, number, number][]>('testnet', 'rates of situations'))
      assert.ok(share(name) >= min && share(name) <= max, `${name}: ${(share(name) * 100).toFixed(2)} %`);
  });
  it('leave a company the same when there are more of them', async () => {
    await using few = await createInternet({ domains: 50, hasFaults: false, feeds: 0 });
    // Only the targets of redirects depend on which companies exist.
    for (const domain of few.domains())
      assert.deepEqual({ ...few.truth(domain), redirectsTo: null }, { ...internet.truth(domain), redirectsTo: null });
  });
  it('have no mail product where a rented server receives mail under its own name', () =>
    assert.ok(!has('email')(some('rented server'))));
  it('do not let a wildcard answer below a name that exists (RFC 4592 section 3.3.1)', async () => {
    const hasDmarc = (domain: string) => internet.truth(domain).security.dmarc !== null;
    const domains = withSituation('wildcard text').filter((domain) => hasDmarc(domain) && has('email')(domain));
    assert.ok(domains.length > 0);
    for (const domain of domains) {
      assert.match((await texts(`_dmarc.${domain}`)).join(), /^v=DMARC1/, domain);
      assert.equal((await answers(`below._dmarc.${domain}`, 'TXT')).rcode, 'NXDOMAIN', domain);
    }
  });
  it('have vanity name servers, which only their addresses identify', async () => {
    const domain = some('name servers silent', isDnsShownBy('asn'));
    const servers = await data(domain, 'NS');
    assert.ok(servers.every((host) => host.endsWith(domain)));
    const [address] = await data(servers[0] ?? '', 'A');
    const [origin] = await texts(`${address?.split('.').reverse().join('.')}.origin.asn.cymru.com`);
    assert.match(origin ?? '', /^(?:13335|62597|12008|33517|20940) \|/);
  });

  const count = async (domain: string, type: string) => (await data(domain, type)).length;
  const textsAt = async (domain: string) => (await texts(domain)).join('\n');
  const hosts = async (domain: string) => (await exchanges(domain)).map(({ exchange }) => exchange).join();
  const split = async (domain: string) => {
    const preferences = (await exchanges(domain)).map(({ preference }) => preference);
    const mail = internet.truth(domain).services.filter(({ category }) => category === 'email');
    return `${preferences.join(' ')} of ${mail.length}`;
  };
  const firstOf = async (name: string) => {
    const { rcode, records: links } = await answers(name, 'A');
    return `${rcode} ${links[0]?.type}`;
  };
  // Each is a form of some companies in the situation.
  for (const [situation, read, form] of [
    ['verification record in MX', hosts, /\.msv1\.invalid(?:,|$)/],
    ['rented server', hosts, /secureserver\.net|your-server\.de|vps\.ovh\.net/],
    ['vanity exchange', hosts, /^mx1\.[^,]*$/],
    ['split delivery', split, /^(\d+) \1 of 2$/],
    ['policy nested', async (domain) => (await texts(`_spf.${domain}`)).join(), /^v=spf1 .*include:/],
    ['policy nested', async (domain) => (await textsAt(domain)).replaceAll(domain, '*'), /^v=spf1 include:_spf\.\* /m],
    ['policy flattened', async (domain) => (await policies(domain)).join(), /^v=spf1 (?!.*include:)/],
    ['policy several', async (domain) => String((await policies(domain)).length), /^2$/],
    ['policy hosted', textsAt, /%\{i\}\._ip\.%\{h\}\._ehlo\.%\{d\}\._spf\.vali\.email/],
    // Only TCP carries them.
    ['huge TXT', textsAt, /^(?=[\s\S]{4160})(?:.*\n){59}/],
    ['spare CAA', async (domain) => String(await count(domain, 'CAA')), /^2$/],
    ['IPv6 only', async (domain) => `${await count(domain, 'A')} ${await count(domain, 'AAAA')}`, /^0 [1-9]/],
    ['wildcard address', (domain) => firstOf(`never-set.${domain}`), /^NOERROR A$/],
    ['wildcard alias', (domain) => firstOf(`never-set.${domain}`), /^\w+ CNAME$/],
    ['wildcard text', (domain) => textsAt(`never-set.${domain}`), /^v=spf1 -all/],
    ['wildcard exchange', (domain) => hosts(`never-set.${domain}`), /^[^,]+$/],
    ['wildcard selector', (domain) => textsAt(`never-set._domainkey.${domain}`), /^v=DKIM1; p=$/],
    ['wildcard selector', async (domain) => (await answers(`never-set.${domain}`, 'TXT')).rcode, /^NXDOMAIN$/],
    ['dangling www', (domain) => firstOf(`www.${domain}`), /^NXDOMAIN CNAME$/],
  ] as const satisfies readonly (readonly [string, (domain: string) => Promise<string>, RegExp])[])
    it(`have the form of '${situation}'`, async () => {
      const forms = await inSituation(situation, read);
      const isThere = forms.some((text) => form.test(text));
      assert.ok(isThere, forms.join('\n').slice(0, 1_000));
    });
  it('lead _dmarc to the record that a processor keeps for all of its customers', async () => {
    const kept = await inSituation('DMARC alias', (domain) => answers(`_dmarc.${domain}`, 'TXT'));
    const aliases = kept.filter(({ records: [first] }) => first?.type === 'CNAME');
    assert.ok(aliases.length > 0);
    for (const { records: links } of aliases) assert.match(String(links[1]?.data), /^v=DMARC1; p=quarantine/);
  });
});
