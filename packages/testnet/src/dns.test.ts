import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { describe, it } from 'node:test';
import packet from 'dns-packet';
import type { Plan } from './companies/plan-type.ts';
import type { Question, Reply } from './dns/dns-server.ts';
import { validating } from './dns/validation.ts';
import { UNRELATED, vantageOf } from './dns/vantage.ts';
import { createInternet } from './internet.ts';
import { templates } from './providers/index.ts';
import { dkimKey } from './providers/template.ts';
import { mintFor } from './random.ts';
import { type Answer, dataOf, dig, digOverTcp, sendRaw, textsOf } from './test/dig.ts';
import { hasService, inState, useInternet } from './test/use.ts';

const { AUTHENTIC_DATA: AD, CHECKING_DISABLED: CD } = packet;

describe('the DNS of the simulated internet', () => {
  const internet = useInternet({ domains: 400, vantage: { lossShare: 0, poisonShare: 0 } });

  const active = () => inState(internet, 'active')[0] ?? '';
  const someone = (isSigned: boolean) =>
    inState(internet, 'active').find((domain) => internet.truth(domain).security.isSigned === isSigned) ?? '';
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
    const { answers } = await digOverTcp(internet.resolver, active(), 'NS');
    assert.ok((answers?.length ?? 0) >= 2);
    assert.partialDeepStrictEqual(overUdp, { answers, flag_ra: true });
  });
  it('can be followed by referrals from the root to the company', async () => {
    let domain = '';
    for (const name of inState(internet, 'active').filter((each) => each.split('.').length === 2)) {
      domain = name;
      const servers = await dataOf(internet.resolver, name, 'NS');
      if (servers.some((host) => host.endsWith(name.slice(name.indexOf('.'))))) break;
    }
    const topLevel = glueOf(await dig(internet.root, domain, 'SOA'));
    const answer = await dig(glueOf(await dig(topLevel, domain, 'SOA')), domain, 'SOA');
    assert.deepEqual([answer?.flag_aa, typesOf(answer?.answers)], [true, ['SOA']]);
    assert.equal((await dig({ address: '127.53.1.1', port: internet.root.port }, 'com', 'NS'))?.rcode, 'NOERROR');
  });
  it('answers NXDOMAIN with the SOA that bounds it, and an empty answer with a SOA too', async () => {
    for (const [server, name, type, rcode] of [
      [internet.resolver, inState(internet, 'nonexistent')[0] ?? '', 'A', 'NXDOMAIN'],
      [internet.resolver, active(), 'LOC', 'NOERROR'],
      [internet.root, 'absent.invalid', 'A', 'NXDOMAIN'],
    ] as const) {
      const answer = await dig(server, name, type);
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
  it('has zones with each kind of failure', async () => {
    const broken = inState(internet, 'broken');
    assert.ok(broken.length >= 4);
    const answers = await Promise.all(broken.map((name) => dig(internet.resolver, name, 'A', { timeoutMs: 400 })));
    const outcomes = new Set(answers.map((answer) => answer?.rcode ?? 'silence'));
    assert.ok(outcomes.has('SERVFAIL') && outcomes.has('silence'), [...outcomes].join(' '));
  });
  it("gives networks in Team Cymru's format", async () => {
    const [address] = await dataOf(internet.resolver, active(), 'A');
    const turned = address?.split('.').reverse().join('.');
    const [origin = ''] = await textsOf(internet.resolver, `${turned}.origin.asn.cymru.com`);
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
  it('has the DS of a signed company at its parent and not at itself', async () => {
    const atParent = await dig(glueOf(await dig(internet.root, someone(true), 'DS')), someone(true), 'DS');
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
    const hasPolicy = (name: string) => internet.truth(name).security.spfAll && hasService(internet, name, 'email');
    const long = inState(internet, 'active').find(hasPolicy) ?? '';
    for (const { id } of templates.sender.rows.slice(0, 12))
      internet.migrate(long, { category: 'email_sending', from: null, to: id });
    const spf = (await textsOf(internet.resolver, long)).find((text) => text.startsWith('v=spf1'));
    assert.ok(spf && spf.length > 255 && /all$/.test(spf), spf);
  });
  it('publishes well-formed RSA keys for DKIM', () => {
    const bits = Array.from({ length: 40 }, (_, i) => {
      const key = Buffer.from(dkimKey(mintFor('seed', `own-${i}.com`), 'mail').split('p=')[1] ?? '', 'base64');
      return createPublicKey({ key, format: 'der', type: 'spki' }).asymmetricKeyDetails?.modulusLength;
    });
    assert.deepEqual([...new Set(bits)].toSorted(), [1_024, 2_048]);
  });
  it('vouches for signed zones, to those who ask', async () => {
    for (const [name, type, flags, isVouchedFor] of [
      ['com', 'NS', AD, true],
      [someone(true), 'SOA', AD, true],
      [someone(true), 'DS', AD, true],
      [`no-such-name.${someone(true)}`, 'SOA', AD, true],
      [someone(true), 'SOA', 0, false],
      [someone(true), 'SOA', AD | CD, false],
      [someone(false), 'SOA', AD, false],
      [someone(false), 'DS', AD, false],
      ['_spf.google.com', 'TXT', AD, false],
    ] as const) {
      const answer = await dig(internet.resolver, name, type, { flags });
      const isUnchecked = (flags & CD) !== 0;
      const expected = { flag_ad: isVouchedFor, flag_cd: isUnchecked };
      assert.partialDeepStrictEqual(answer, expected, `${type} ${name} ${flags}`);
    }
  });
  it('survives what is not a question', async () => {
    const hostile = ['', '01', '00'.repeat(12), 'ff'.repeat(600), '000001000001000000000000c00c00010001'];
    for (const message of hostile) await sendRaw(internet.resolver, Buffer.from(message, 'hex'), 50);
    for (const [message, rcode] of Object.entries({ '123401': 'FORMERR', '123429': 'NOTIMP' }))
      assert.equal((await sendRaw(internet.resolver, Buffer.from(message.padEnd(24, '0'), 'hex')))?.rcode, rcode);
    assert.equal(await rcodeOf(active(), 'AXFR'), 'REFUSED');
    assert.equal(await rcodeOf(active(), 'NS'), 'NOERROR');
  });
});

it('the path between the resolver and its clients loses its share of questions over UDP, and none over TCP', async () => {
  await using internet = await createInternet({ domains: 20, hasFaults: false, vantage: { lossShare: 0.3 } });
  const [domain = ''] = inState(internet, 'active');
  const ask = () => dig(internet.resolver, domain, 'NS', { timeoutMs: 700 });
  const overUdp = await Promise.all(Array.from({ length: 300 }, ask));
  const lost = overUdp.filter((answer) => answer === undefined).length;
  assert.ok(lost > 60 && lost < 120, `${lost} of 300 lost`);
  for (let i = 0; i < 20; i += 1) assert.ok((await digOverTcp(internet.resolver, domain, 'NS')).answers?.length);
});
it('the path between the resolver and its clients delivers spoofed answers first, or adds unrequested records', async () => {
  await using internet = await createInternet({ domains: 20, hasFaults: false, vantage: { poisonShare: 1 } });
  const [domain = ''] = inState(internet, 'active');
  const kinds = new Set<string>();
  for (let i = 0; i < 40; i += 1) {
    const { questions, answers } = (await dig(internet.resolver, domain, 'MX')) ?? {};
    if (questions?.[0]?.name === UNRELATED) kinds.add('twin');
    else if (answers?.some(({ name }) => name === UNRELATED)) kinds.add('unrelated');
  }
  assert.deepEqual([...kinds].sort(), ['twin', 'unrelated']);
});
it('the path between the resolver and its clients is faultless where no share is given', () => {
  const vantage = vantageOf('seed', {});
  for (let i = 0; i < 1_000; i += 1) assert.deepEqual([vantage.isLost(), vantage.poison()], [false, null]);
});

describe('a resolver that checks signatures', () => {
  const SIGNED = { state: 'active', isSigned: true, isBogus: false } as Plan;
  const plans: Readonly<Record<string, Plan>> = { 'good.test': SIGNED, 'bogus.test': { ...SIGNED, isBogus: true } };
  const answer: Reply = { rcode: 'NOERROR', answers: [] };
  const bogus = { name: 'bogus.test', type: 'A', isChecked: true };
  const respond = (question: Partial<Question>, reply: Reply | null = answer) =>
    validating(() => reply, { companyOf: (name) => plans[name] })({ ...bogus, ...question });
  it('refuses invalid signatures, unless the client disables checking', () => {
    assert.equal(respond({})?.rcode, 'SERVFAIL');
    assert.deepEqual(respond({ isChecked: false }), { ...answer, isAuthentic: false });
    assert.deepEqual(respond({ type: 'DS' }), { ...answer, isAuthentic: true });
  });
  it('does not authenticate an alias into an unsigned zone, and refuses one into a zone with broken signatures', () => {
    const aliasTo = (data: string) => {
      const alias = { name: 'good.test', type: 'CNAME', ttl: 1, data } as const;
      const answers = [alias, { name: data, type: 'A', ttl: 1, data: '192.0.2.1' } as const];
      return respond({ name: 'good.test' }, { rcode: 'NOERROR', answers });
    };
    assert.equal(aliasTo('host.test')?.isAuthentic, false);
    assert.equal(aliasTo('bogus.test')?.rcode, 'SERVFAIL');
  });
  it('passes failures and silence on as they are', () => {
    assert.deepEqual(respond({}, { rcode: 'REFUSED' }), { rcode: 'REFUSED' });
    assert.equal(respond({}, null), null);
  });
});
