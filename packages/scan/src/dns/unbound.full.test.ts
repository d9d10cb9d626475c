// The resolver at Debian's Unbound with the configuration of deploy/unbound, which resolves names of a small tree of name servers.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { it } from 'node:test';
import dnsPacket, { type Answer } from 'dns-packet';
import { freePort } from '../../../../tests/support/free-port.ts';
import { a, cname, type DnsScript, ns, reply, soa, startDnsServer, txt } from '../test/dns-server.ts';
import { startUnbound, whyNotHere } from '../test/real-servers.ts';
import { Resolver } from './resolver.ts';

const CONFIGURATION = path.join(import.meta.dirname, '../../../../deploy/unbound/strata.conf');
const ROOT = '127.67.0.1';
const TOP = '127.67.0.2';
const ZONES = ['alpha', 'bogus'];
const { AUTHORITATIVE_ANSWER: AA, TRUNCATED_RESPONSE: TC } = dnsPacket;

const rootServer: DnsScript = (question) => {
  const zone = question.name.split('.').at(-1) ?? '';
  if (zone === '') {
    const parts = { answers: [ns('.', 'ns.root')], additionals: [a('ns.root', ROOT)] };
    return [reply(question, { ...parts, flags: AA })];
  }
  if (!ZONES.includes(zone)) return [reply(question, { authorities: [soa('.')], rcode: 3, flags: AA })];
  return [reply(question, { authorities: [ns(zone, `ns.${zone}`)], additionals: [a(`ns.${zone}`, TOP)] })];
};

const records: readonly Answer[] = [
  ...ZONES.flatMap((zone) => [ns(zone, `ns.${zone}`), a(zone, '192.0.2.1'), a(`ns.${zone}`, TOP)]),
  a('host.alpha', '192.0.2.2'),
  cname('www.alpha', 'host.alpha'),
  txt('big.alpha', ...Array.from({ length: 20 }, (_, i) => `${i} ${'x'.repeat(200)}`)),
];

const topServer: DnsScript = (question) => {
  const { name, type, transport } = question;
  const own = records.filter((record) => record.name === name);
  const alias = own.filter((record) => record.type === 'CNAME');
  const found = alias.length > 0 ? alias : own.filter((record) => record.type === type);
  const zone = name.split('.').at(-1) ?? '';
  if (found.length === 0)
    return [reply(question, { authorities: [soa(zone)], rcode: own.length > 0 ? 0 : 3, flags: AA })];
  if (name === 'big.alpha' && transport === 'udp') return [reply(question, { flags: AA | TC })];
  return [reply(question, { answers: found, flags: AA })];
};

it('Unbound with deploy/unbound/strata.conf resolves, validates signatures, and minimises query names', async (t) => {
  const missing = await whyNotHere(ROOT, ['unbound', 'unbound-checkconf']);
  if (missing !== undefined) return t.skip(missing);
  execFileSync('unbound-checkconf', [CONFIGURATION], { stdio: 'pipe' });
  await using root = await startDnsServer(rootServer, { address: ROOT, port: 53 });
  await using _top = await startDnsServer(topServer, { address: TOP, port: 53 });
  await using unbound = await startUnbound({
    include: CONFIGURATION,
    port: await freePort(),
    root: ROOT,
    // Nothing in this zone is signed.
    trustAnchors: [`bogus. DS 1 13 2 ${'ab'.repeat(32)}`],
  });
  await using resolver = new Resolver({ upstreams: [unbound], tryTimeoutMs: 15_000, totalTimeoutMs: 30_000 });

  const www = await resolver.ask('www.alpha', 'A');
  assert.deepEqual(www.lookup, { status: 'found', records: ['192.0.2.2'], aliases: ['host.alpha'] });
  assert.equal(www.isAuthentic, false);
  assert.equal((await resolver.query('missing.alpha', 'A')).status, 'nxdomain');
  assert.equal((await resolver.query('host.alpha', 'MX')).status, 'empty');

  const big = await resolver.query('big.alpha', 'TXT');
  assert.equal(String(big.records[0]).length, 20 * 202 + 10);
  assert.equal(resolver.stats().overTcp, 1);

  assert.equal((await resolver.query('bogus', 'A')).status, 'servfail');
  assert.deepEqual((await resolver.query('bogus', 'A', { isUnchecked: true })).records, ['192.0.2.1']);

  const askedAtRoot = root.asked.filter((question) => question.endsWith('alpha'));
  assert.deepEqual([...new Set(askedAtRoot)], ['A alpha'], 'the root server receives one label');
});
