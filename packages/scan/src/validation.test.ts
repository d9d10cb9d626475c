// The verdict on a domain's signatures, from honest upstreams, careless ones, and ones that say what is not so.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { PolicyEvidence } from '@strata/detect';
import dnsPacket from 'dns-packet';
import { type DnsQuestion, type DnsScript, ds, ns, reply, soa } from './test/dns-server.ts';
import { scriptedResolver } from './test/scripted-resolver.ts';
import { askApex, validationOf } from './validation.ts';

const { AUTHENTIC_DATA, CHECKING_DISABLED } = dnsPacket;
const isUnchecked = ({ bytes }: DnsQuestion) => (bytes.readUInt16BE(2) & CHECKING_DISABLED) !== 0;
const none = (q: DnsQuestion) => reply(q, { authorities: [soa('test')] });
const servfail = (q: DnsQuestion) => reply(q, { rcode: 2 });

interface World {
  /** Of answers about `com`, about the domain, and whether there is a DS record. */
  readonly checksCom?: boolean;
  readonly checksDomain?: boolean;
  readonly hasDs?: boolean;
  /** The question for the DS record ends in SERVFAIL. */
  readonly failsDs?: boolean;
  /** Checked questions about the domain end in SERVFAIL: always, or only the first. */
  readonly fails?: 'always' | 'once' | 'unchecked-too';
}

function world({ checksCom, checksDomain, hasDs, failsDs, fails }: World): DnsScript {
  let refusals = 0;
  return (q) => {
    if (q.name === 'com') return [reply(q, { answers: [ns('com', 'ns1.com')], flags: checksCom ? AUTHENTIC_DATA : 0 })];
    if (q.type === 'DS' && failsDs) return [servfail(q)];
    if (q.type === 'DS') return [hasDs ? reply(q, { answers: [ds(q.name)] }) : none(q)];
    const isRefused =
      fails === 'unchecked-too' || (fails !== undefined && !isUnchecked(q) && (fails === 'always' || refusals++ === 0));
    if (isRefused) return [servfail(q)];
    const flags = checksDomain && !isUnchecked(q) ? AUTHENTIC_DATA : 0;
    return [reply(q, { answers: [q.type === 'SOA' ? soa(q.name) : ns(q.name, 'ns1.test')], flags })];
  };
}

const cases: readonly [what: string, world: World, verdict: PolicyEvidence['validation'], questions: number][] = [
  ['signed, and the upstream vouches for it', { checksCom: true, checksDomain: true, hasDs: true }, 'secure', 2],
  ['unsigned, and the upstream checks', { checksCom: true }, 'insecure', 3],
  ['unsigned, and the upstream does not check', {}, 'unknown', 3],
  ['signed, and nobody checks', { hasDs: true }, 'unknown', 2],
  ['vouched for without a DS record, which is a lie', { checksCom: true, checksDomain: true }, 'unknown', 2],
  ['vouched for, the DS record not to be had', { checksCom: true, checksDomain: true, failsDs: true }, 'unknown', 2],
  ['refused unless unchecked, and signed', { checksCom: true, hasDs: true, fails: 'always' }, 'bogus', 4],
  ['refused unless unchecked, and not signed', { checksCom: true, fails: 'always' }, 'unknown', 3],
  ['refused once by a server that stumbles', { checksCom: true, hasDs: true, fails: 'once' }, 'unknown', 4],
  ['failing, checked or not', { checksCom: true, hasDs: true, fails: 'unchecked-too' }, 'unknown', 3],
];
for (const [what, given, verdict, questions] of cases) {
  it(`a domain that is ${what} is ${verdict}, for ${questions} questions`, async () => {
    await using scripted = await scriptedResolver([world(given)]);
    const { resolver, asked } = scripted;
    const { signal } = new AbortController();
    const apex = await askApex(resolver, 'example.com', { signal });
    const lookup = await resolver.query('example.com', 'DS', { signal });
    assert.equal(await validationOf(resolver, 'example.com', { apex, ds: lookup, signal }), verdict);
    assert.equal(apex.isUnchecked, given.fails === 'always' || given.fails === 'once');
    assert.equal(asked.length, questions, asked.join());
  });
}

it('a denial that only an unchecked question gets does not make a domain nonexistent', async () => {
  await using scripted = await scriptedResolver([
    (q) => [isUnchecked(q) ? reply(q, { rcode: 3, authorities: [soa('com')] }) : servfail(q)],
  ]);
  const apex = await askApex(scripted.resolver, 'example.com', { signal: new AbortController().signal });
  assert.deepEqual([apex.ns.status, apex.isUnchecked], ['servfail', false]);
});
