// The recursive front as a resolver that checks signatures: what it vouches for, and what it refuses.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import packet, { type RecordType } from 'dns-packet';
import type { Question, Reply } from './dns-server.ts';
import type { Plan } from './plan.ts';
import { sendRaw } from './test/dig.ts';
import { inState, useInternet } from './test/use.ts';
import { validating } from './validation.ts';

const internet = useInternet({ domains: 200, hasFaults: false });

const ask = (name: string, type: RecordType, flags: number) => {
  const questions = [{ name, type, class: 'IN' as const }];
  return sendRaw(
    internet.resolver,
    packet.encode({ type: 'query', id: 7, flags: packet.RECURSION_DESIRED | flags, questions }),
  );
};
const someone = (isSigned: boolean) =>
  inState(internet, 'active').find((domain) => internet.truth(domain).security.isSigned === isSigned) ?? '';

it('vouches for signed zones, to those who ask', async () => {
  for (const [name, type, flags, isVouchedFor] of [
    ['com', 'NS', packet.AUTHENTIC_DATA, true],
    [someone(true), 'SOA', packet.AUTHENTIC_DATA, true],
    [someone(true), 'DS', packet.AUTHENTIC_DATA, true],
    [`no-such-name.${someone(true)}`, 'SOA', packet.AUTHENTIC_DATA, true],
    [someone(true), 'SOA', 0, false],
    [someone(true), 'SOA', packet.AUTHENTIC_DATA | packet.CHECKING_DISABLED, false],
    [someone(false), 'SOA', packet.AUTHENTIC_DATA, false],
    [someone(false), 'DS', packet.AUTHENTIC_DATA, false],
    ['_spf.google.com', 'TXT', packet.AUTHENTIC_DATA, false],
  ] as const) {
    const answer = await ask(name, type, flags);
    assert.equal(answer?.flag_ad, isVouchedFor, `${type} ${name} with ${flags}`);
    assert.equal(answer?.flag_cd, (flags & packet.CHECKING_DISABLED) !== 0);
  }
});

const SIGNED = { state: 'active', isSigned: true, isBogus: false } as Plan;
const plans: Readonly<Record<string, Plan>> = { 'good.test': SIGNED, 'bogus.test': { ...SIGNED, isBogus: true } };
const answer: Reply = { rcode: 'NOERROR', answers: [] };
const respond = (question: Partial<Question>, reply: Reply = answer) =>
  validating(() => reply, { companyOf: (name) => plans[name] })({
    name: 'bogus.test',
    type: 'A',
    isChecked: true,
    ...question,
  });

it('refuses what does not verify, unless told not to check', () => {
  assert.equal(respond({})?.rcode, 'SERVFAIL');
  assert.deepEqual(respond({ isChecked: false }), { ...answer, isAuthentic: false });
  assert.deepEqual(respond({ type: 'DS' }), { ...answer, isAuthentic: true });
});

it('vouches for no alias that leads where nobody signs, and refuses one that leads to broken signatures', () => {
  const alias = (target: string): Reply => ({
    rcode: 'NOERROR',
    answers: [
      { name: 'good.test', type: 'CNAME', ttl: 1, data: target },
      { name: target, type: 'A', ttl: 1, data: '192.0.2.1' },
    ],
  });
  assert.equal(respond({ name: 'good.test' }, alias('host.test'))?.isAuthentic, false);
  assert.equal(respond({ name: 'good.test' }, alias('bogus.test'))?.rcode, 'SERVFAIL');
});

it('passes failures on as they are', () => {
  assert.deepEqual(respond({}, { rcode: 'REFUSED' }), { rcode: 'REFUSED' });
  const silent = validating(() => null, { companyOf: () => undefined });
  assert.equal(silent({ name: 'a', type: 'A', isChecked: true }), null);
});
