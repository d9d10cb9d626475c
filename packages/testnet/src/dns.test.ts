import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createInternet, type Internet } from './internet.ts';
import { dig, digOverTcp, sendRaw } from './test/dig.ts';

describe('the DNS of the simulated internet', () => {
  let internet: Internet;
  before(async () => {
    internet = await createInternet({ domains: 400 });
  });
  after(() => internet[Symbol.asyncDispose]());

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
    const domain =
      internet.domains().find((name) => internet.truth(name).state === 'active' && name.split('.').length === 2) ?? '';
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
    const sized = await Promise.all(
      inState('active').map(async (domain) => ({
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

  it('survives what is no question', async () => {
    const hostile = [
      Buffer.alloc(0),
      Buffer.from([1]),
      Buffer.alloc(12),
      Buffer.alloc(600, 0xff),
      Buffer.from('000001000001000000000000c00c00010001', 'hex'),
    ];
    for (const message of hostile) await sendRaw(internet.resolver, message, 50);
    assert.equal((await dig(internet.resolver, active(), 'AXFR'))?.rcode, 'REFUSED');
    assert.equal((await dig(internet.resolver, active(), 'NS'))?.rcode, 'NOERROR');
  });
});
