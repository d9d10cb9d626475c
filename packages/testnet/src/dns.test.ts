import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { templates } from './providers/index.ts';
import { type Answer, dataOf, dig, digOverTcp, sendRaw, textsOf } from './test/dig.ts';
import { hasService, inState, useInternet } from './test/use.ts';

describe('the DNS of the simulated internet', () => {
  const internet = useInternet({ domains: 400, vantage: { lossShare: 0, poisonShare: 0 } });

  const active = () => inState(internet, 'active')[0] ?? '';
  /** The address of a name server of the next zone down. */
  const glueOf = (answer: Answer | undefined) => {
    const glue = (answer?.additionals ?? []).find((record) => record.type === 'A');
    assert.ok(glue?.type === 'A', 'a referral with glue');
    return { address: glue.data, port: internet.root.port };
  };
  const typesOf = (records: Answer['answers']) => records?.map(({ type }) => type) ?? [];
  const rcodeOf = async (name: string, type: string) => (await dig(internet.resolver, name, type))?.rcode;

  it('answers a stub over UDP and over TCP alike', async () => {
    const overUdp = await dig(internet.resolver, active(), 'NS');
    const overTcp = await digOverTcp(internet.resolver, active(), 'NS');
    assert.ok((overUdp?.answers?.length ?? 0) >= 2);
    assert.deepEqual(overUdp?.answers, overTcp.answers);
    assert.equal(overUdp?.flag_ra, true);
  });

  it('can be followed by referrals from the root to the company', async () => {
    let domain = '';
    for (const name of inState(internet, 'active')) {
      domain = name;
      const isGlued = async () =>
        (await dataOf(internet.resolver, name, 'NS')).some((host) => host.endsWith(name.slice(name.indexOf('.'))));
      if (name.split('.').length === 2 && (await isGlued())) break;
    }
    const topLevel = glueOf(await dig(internet.root, domain, 'SOA'));
    const answer = await dig(glueOf(await dig(topLevel, domain, 'SOA')), domain, 'SOA');
    assert.deepEqual([answer?.flag_aa, typesOf(answer?.answers)], [true, ['SOA']]);
  });

  it('answers NXDOMAIN with the SOA that bounds it, and an empty answer with a SOA too', async () => {
    for (const [name, type, rcode] of [
      [inState(internet, 'nonexistent')[0] ?? '', 'A', 'NXDOMAIN'],
      [active(), 'LOC', 'NOERROR'],
    ] as const) {
      const answer = await dig(internet.resolver, name, type);
      assert.deepEqual([answer?.rcode, answer?.answers], [rcode, []]);
      assert.ok(typesOf(answer?.authorities).includes('SOA'));
    }
  });

  it('truncates what does not fit the client, and sends all over TCP', async () => {
    // A huge one fits no datagram: it has a test of its own.
    const usual = inState(internet, 'active').filter((name) => !internet.truth(name).situations.includes('huge TXT'));
    const sizes = await Promise.all(usual.map(async (name) => (await textsOf(internet.resolver, name)).join().length));
    const domain = usual[sizes.indexOf(Math.max(...sizes))] ?? '';
    const plain = await dig(internet.resolver, domain, 'TXT');
    assert.deepEqual([plain?.flag_tc, plain?.answers], [true, []], `${domain} has more TXT than 512 bytes hold`);
    const extended = await dig(internet.resolver, domain, 'TXT', { payload: 4_096 });
    assert.ok(!extended?.flag_tc && extended?.answers?.length);
    assert.ok(typesOf(extended.additionals).includes('OPT'));
  });

  it('has zones that fail in each way', async () => {
    const broken = inState(internet, 'broken');
    assert.ok(broken.length >= 4);
    const answers = await Promise.all(broken.map((name) => dig(internet.resolver, name, 'A', { timeoutMs: 400 })));
    const outcomes = new Set(answers.map((answer) => answer?.rcode ?? 'silence'));
    assert.ok(outcomes.has('SERVFAIL') && outcomes.has('silence'), [...outcomes].join(' '));
  });

  it("gives networks in Team Cymru's format", async () => {
    const [address] = await dataOf(internet.resolver, active(), 'A');
    const [origin = ''] = await textsOf(
      internet.resolver,
      `${address?.split('.').reverse().join('.')}.origin.asn.cymru.com`,
    );
    assert.match(origin, /^\d+ \| [\d.]+\/\d+ \| [A-Z]{2} \| \w+ \| \d{4}-\d\d-\d\d$/);
    const [named = ''] = await textsOf(internet.resolver, `AS${origin.split(' ')[0]}.asn.cymru.com`);
    assert.match(named, /^\d+ \| [A-Z]{2} \| \w+ \| \d{4}-\d\d-\d\d \| .+, [A-Z]{2}$/);
  });

  it('breaks and heals one record type of one domain on demand', async () => {
    internet.fail(active(), { type: 'MX', status: 'servfail' });
    assert.deepEqual([await rcodeOf(active(), 'MX'), await rcodeOf(active(), 'NS')], ['SERVFAIL', 'NOERROR']);
    internet.heal(active());
    assert.equal(await rcodeOf(active(), 'MX'), 'NOERROR');
  });

  it('denies at the root with a SOA', async () => {
    const answer = await dig(internet.root, 'nobody.invalid', 'A');
    assert.deepEqual([answer?.rcode, typesOf(answer?.authorities)[0]], ['NXDOMAIN', 'SOA']);
    assert.equal((await dig({ address: '127.53.1.1', port: internet.root.port }, 'com', 'NS'))?.rcode, 'NOERROR');
  });

  it('has the DS of a signed company at its parent and not at itself', async () => {
    const signed = inState(internet, 'active').find((domain) => internet.truth(domain).security.isSigned) ?? '';
    const atParent = await dig(glueOf(await dig(internet.root, signed, 'DS')), signed, 'DS');
    assert.deepEqual([atParent?.flag_aa, typesOf(atParent?.answers)[0]], [true, 'DS']);
  });

  it('names only loopback addresses as name servers, in glue and in answers', async () => {
    for (const domain of inState(internet, 'active').slice(0, 150))
      for (const host of await dataOf(internet.resolver, domain, 'NS')) {
        const addresses = await dataOf(internet.resolver, host, 'A');
        assert.ok(addresses.length > 0, `${domain}: ${host}`);
        for (const address of addresses) assert.match(address, /^127\./, `${domain}: ${host}`);
      }
  });

  it('splits a long TXT record into character strings', async () => {
    const long = inState(internet, 'active').find(
      (name) => internet.truth(name).security.spfAll && hasService(internet, name, 'email'),
    );
    for (const { id } of templates.sender.rows.slice(0, 12))
      internet.migrate(long ?? '', { category: 'email_sending', from: null, to: id });
    const spf = (await textsOf(internet.resolver, long ?? '')).find((text) => text.startsWith('v=spf1'));
    assert.ok(spf && spf.length > 255 && /all$/.test(spf), spf);
  });

  it('survives what is not a question', async () => {
    const hostile = ['', '01', '00'.repeat(12), 'ff'.repeat(600), '000001000001000000000000c00c00010001'];
    for (const message of hostile) await sendRaw(internet.resolver, Buffer.from(message, 'hex'), 50);
    for (const [message, rcode] of [
      ['123401000000000000000000', 'FORMERR'],
      ['123429000000000000000000', 'NOTIMP'],
    ] as const)
      assert.equal((await sendRaw(internet.resolver, Buffer.from(message, 'hex')))?.rcode, rcode);
    assert.equal(await rcodeOf(active(), 'AXFR'), 'REFUSED');
    assert.equal(await rcodeOf(active(), 'NS'), 'NOERROR');
  });
});
