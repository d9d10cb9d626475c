import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { templates } from './providers/index.ts';
import { dig, digOverTcp, sendRaw } from './test/dig.ts';
import { useInternet } from './test/use.ts';

describe('the DNS of the simulated internet', () => {
  const internet = useInternet({ domains: 400, vantage: { lossShare: 0, poisonShare: 0 } });

  const inState = (state: string) => internet.domains().filter((domain) => internet.truth(domain).state === state);
  const active = () => inState('active')[0] ?? '';
  const answersOf = (answer: { answers?: unknown[] | undefined } | undefined) =>
    (answer?.answers ?? []) as { type: string; data: unknown; name: string }[];

  it('answers a stub over UDP and over TCP alike', async () => {
    const overUdp = await dig(internet.resolver, active(), 'NS');
    const overTcp = await digOverTcp(internet.resolver, active(), 'NS');
    assert.ok(answersOf(overUdp).length >= 2);
    assert.deepEqual(
      answersOf(overUdp).map((r) => r.data),
      answersOf(overTcp).map((r) => r.data),
    );
    assert.equal(overUdp?.flag_ra, true);
  });

  it('can be followed by referrals from the root to the company', async () => {
    const isGlued = async (name: string) => {
      const servers = answersOf(await dig(internet.resolver, name, 'NS')).map(({ data }) => String(data));
      return servers.some((host) => host.endsWith(name.slice(name.indexOf('.'))));
    };
    let domain = '';
    for (const name of inState('active')) {
      domain = name;
      if (name.split('.').length === 2 && (await isGlued(name))) break;
    }
    let server = internet.root;
    for (let i = 0; i < 5; i += 1) {
      const answer = await dig(server, domain, 'SOA');
      if (answer?.flag_aa) {
        assert.equal(answersOf(answer)[0]?.type, 'SOA');
        assert.equal(i, 2, 'root, top-level domain, company');
        return;
      }
      const glue = (answer?.additionals ?? []).find((record) => record.type === 'A');
      assert.ok(glue?.type === 'A', `a referral with glue from ${server.address}`);
      server = { address: glue.data, port: internet.root.port };
    }
    assert.fail('the referrals do not end');
  });

  it('says NXDOMAIN with the SOA that bounds it, and nothing found with a SOA too', async () => {
    const missing = await dig(internet.resolver, inState('nonexistent')[0] ?? '', 'A');
    assert.equal(missing?.rcode, 'NXDOMAIN');
    assert.ok(missing?.authorities?.some((record) => record.type === 'SOA'));
    const empty = await dig(internet.resolver, active(), 'LOC');
    assert.equal(empty?.rcode, 'NOERROR');
    assert.deepEqual(answersOf(empty), []);
    assert.ok(empty?.authorities?.some((record) => record.type === 'SOA'));
  });

  it('truncates what does not fit the client, and tells all over TCP', async () => {
    const usual = inState('active').filter((domain) => !internet.truth(domain).situations.includes('huge TXT'));
    const sized = await Promise.all(
      // A huge one fits no datagram: it has a test of its own.
      usual.map(async (domain) => ({
        domain,
        bytes: JSON.stringify((await digOverTcp(internet.resolver, domain, 'TXT')).answers).length,
      })),
    );
    const { domain } = sized.reduce((a, b) => (b.bytes > a.bytes ? b : a));
    const plain = await dig(internet.resolver, domain, 'TXT');
    assert.equal(plain?.flag_tc, true, `${domain} has more TXT than 512 bytes hold`);
    assert.deepEqual(answersOf(plain), []);
    const extended = await dig(internet.resolver, domain, 'TXT', { payload: 4_096 });
    assert.equal(extended?.flag_tc, false);
    assert.ok(answersOf(extended).length > 0);
    assert.ok(extended?.additionals?.some((record) => record.type === 'OPT'));
  });

  it('has zones that fail in each way', async () => {
    const broken = inState('broken');
    assert.ok(broken.length >= 4);
    const outcomes = new Set(
      await Promise.all(
        broken.map(
          async (domain) => (await dig(internet.resolver, domain, 'A', { timeoutMs: 400 }))?.rcode ?? 'silence',
        ),
      ),
    );
    assert.ok(outcomes.has('SERVFAIL') && outcomes.has('silence'), [...outcomes].join(' '));
  });

  it("gives networks in Team Cymru's format", async () => {
    const [address] = answersOf(await dig(internet.resolver, active(), 'A')).map((record) => String(record.data));
    const name = `${address?.split('.').reverse().join('.')}.origin.asn.cymru.com`;
    const [origin] = answersOf(await dig(internet.resolver, name, 'TXT'));
    const text = Buffer.concat(origin?.data as Buffer[]).toString();
    assert.match(text, /^\d+ \| [\d.]+\/\d+ \| [A-Z]{2} \| \w+ \| \d{4}-\d\d-\d\d$/);
    const [named] = answersOf(await dig(internet.resolver, `AS${text.split(' ')[0]}.asn.cymru.com`, 'TXT'));
    assert.match(
      Buffer.concat(named?.data as Buffer[]).toString(),
      /^\d+ \| [A-Z]{2} \| \w+ \| \d{4}-\d\d-\d\d \| .+, [A-Z]{2}$/,
    );
  });

  it('breaks and heals one record type of one domain on demand', async () => {
    const domain = active();
    internet.fail(domain, { type: 'MX', status: 'servfail' });
    assert.equal((await dig(internet.resolver, domain, 'MX'))?.rcode, 'SERVFAIL');
    assert.equal((await dig(internet.resolver, domain, 'NS'))?.rcode, 'NOERROR');
    internet.heal(domain);
    assert.equal((await dig(internet.resolver, domain, 'MX'))?.rcode, 'NOERROR');
  });

  it('denies at the root in words that can be read', async () => {
    const answer = await dig(internet.root, 'nobody.invalid', 'A');
    assert.equal(answer?.rcode, 'NXDOMAIN');
    assert.equal(answer?.authorities?.[0]?.type, 'SOA');
    assert.equal((await dig({ address: '127.53.1.1', port: internet.root.port }, 'com', 'NS'))?.rcode, 'NOERROR');
  });

  it('has the DS of a signed company at its parent and not at itself', async () => {
    const signed = inState('active').find((domain) => internet.truth(domain).security.isSigned) ?? '';
    const atRoot = await dig(internet.root, signed, 'DS');
    const tld = atRoot?.additionals?.find((record) => record.type === 'A');
    assert.ok(tld?.type === 'A');
    const atParent = await dig({ address: tld.data, port: internet.root.port }, signed, 'DS');
    assert.deepEqual([atParent?.flag_aa, answersOf(atParent)[0]?.type], [true, 'DS']);
  });

  it('names only loopback addresses as name servers, in glue and in answers', async () => {
    for (const domain of inState('active').slice(0, 150)) {
      for (const { data } of answersOf(await dig(internet.resolver, domain, 'NS', { payload: 4_096 }))) {
        const addresses = answersOf(await dig(internet.resolver, String(data), 'A'));
        assert.ok(addresses.length > 0 && addresses.every((r) => /^127\./.test(String(r.data))), `${domain}: ${data}`);
      }
    }
  });

  it('splits a long TXT record into character strings', async () => {
    const long = inState('active').find(
      (name) =>
        internet.truth(name).security.spfAll &&
        internet.truth(name).services.some((each) => each.category === 'email' && each.isVisible),
    );
    for (const { id } of templates.sender.rows.slice(0, 12))
      internet.migrate(long ?? '', { category: 'email_sending', from: null, to: id });
    const texts = answersOf(await digOverTcp(internet.resolver, long ?? '', 'TXT')).map((r) => r.data as Buffer[]);
    const spf = texts.map((parts) => Buffer.concat(parts).toString()).find((text) => text.startsWith('v=spf1'));
    assert.ok(spf && spf.length > 255 && /all$/.test(spf), spf);
  });

  it('survives what is no question', async () => {
    const hostile = [
      Buffer.alloc(0),
      Buffer.from([1]),
      Buffer.alloc(12),
      Buffer.alloc(600, 0xff),
      Buffer.from('000001000001000000000000c00c00010001', 'hex'),
    ];
    for (const message of hostile) await sendRaw(internet.resolver, message, 50);
    assert.equal((await sendRaw(internet.resolver, Buffer.from('123401000000000000000000', 'hex')))?.rcode, 'FORMERR');
    assert.equal((await sendRaw(internet.resolver, Buffer.from('123429000000000000000000', 'hex')))?.rcode, 'NOTIMP');
    assert.equal((await dig(internet.resolver, active(), 'AXFR'))?.rcode, 'REFUSED');
    assert.equal((await dig(internet.resolver, active(), 'NS'))?.rcode, 'NOERROR');
  });
});
