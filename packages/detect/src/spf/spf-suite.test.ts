// check_host() and the analysis of records, by vectors/spf.json and by the published test suite of RFC 7208 (openspf).
// The suite is not part of this project: docs/posture.md says where it is found. STRATA_SPF_SUITE is the path of its file.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseAllDocuments } from 'yaml';
import { codePoint, holds } from '../../../../tests/support/property.ts';
import type { Lookup } from '../evidence/evidence.ts';
import { checkHost, type SpfLookups } from './check-host.ts';
import { readSpf } from './policy.ts';
import type { SpfPolicy } from './types.ts';

type Value = string | readonly (string | number)[];

/** By name: one record by type each, or `TIMEOUT` for every type that has none. A TXT record may come in several strings. */
type Zone = Readonly<Record<string, readonly (string | Readonly<Record<string, Value>>)[]>>;

type RecordType = 'TXT' | 'A' | 'AAAA' | 'MX' | 'PTR';

/** Look-ups that answer from a zone as vectors/spf.json and the suite write it. */
function zoneLookups(zone: Zone): SpfLookups {
  const normal = Object.entries(zone).map(
    ([name, records]) => [name.toLowerCase().replace(/\.$/, ''), records] as const,
  );
  const names = new Map(normal);
  const ask = (name: string, type: RecordType, aliases: readonly string[] = []): Lookup<Value> => {
    const records = names.get(name);
    if (!records) return { status: 'nxdomain', records: [], aliases };
    const found = valuesOf(records, type);
    if (found.includes('TIMEOUT')) return { status: 'timeout', records: [], aliases };
    const [alias] = valuesOf(records, 'CNAME');
    if (typeof alias === 'string' && aliases.length < 8) return ask(alias.toLowerCase(), type, [...aliases, alias]);
    if (found.length > 0) return { status: 'found', records: found, aliases };
    return { status: records.includes('TIMEOUT') ? 'timeout' : 'empty', records: [], aliases };
  };
  const texts = (name: string, type: RecordType): Lookup<string> => {
    const answer = ask(name, type);
    return { ...answer, records: answer.records.map((value) => [value].flat().join('')) };
  };
  return {
    txt: (name) => texts(name, 'TXT'),
    a: (name) => texts(name, 'A'),
    aaaa: (name) => texts(name, 'AAAA'),
    ptr: (name) => texts(name, 'PTR'),
    mx: (name) => {
      const { records, ...answer } = ask(name, 'MX');
      return {
        ...answer,
        records: records.map(([first, other]) => ({ preference: Number(first), exchange: `${other}` })),
      };
    },
  };
}

/** In the suite a policy is written under SPF, the type of old, and stands for TXT unless there is a TXT record. */
function valuesOf(records: Zone[string], type: RecordType | 'CNAME'): Value[] {
  const given = (of: string) =>
    records.flatMap((record) => (typeof record !== 'string' && of in record ? [record[of] as Value] : []));
  const found = given(type);
  if (type !== 'TXT' || found.length > 0) return found.filter((value) => value !== 'NONE');
  return given('SPF');
}

function policyAt(domain: string, lookups: SpfLookups): SpfPolicy {
  const addresses = [lookups.a(domain), lookups.aaaa(domain)];
  return readSpf(domain, lookups.txt(domain), { lookup: lookups.txt, addresses, exchanges: lookups.mx(domain) });
}

type Check = Readonly<Record<'why' | 'ip' | 'domain' | 'result', string> & Partial<Record<'sender' | 'helo', string>>>;

interface Group {
  readonly section: string;
  readonly zone: Zone;
  readonly checks: readonly (Check & { readonly explanation?: string | null })[];
  readonly policies: readonly (Readonly<Record<string, unknown>> & {
    readonly why: string;
    readonly domain: string;
    readonly problems?: readonly string[];
    /** Senders that the domain itself names. */
    readonly targets?: readonly string[];
  })[];
}

const vectors = readFileSync(new URL('../../../../vectors/spf.json', import.meta.url), 'utf8');
const { groups } = JSON.parse(vectors) as { readonly groups: readonly Group[] };

for (const { section, zone, checks, policies } of groups) {
  describe(`SPF, ${section}`, () => {
    const lookups = zoneLookups(zone);
    for (const { why, ip, domain, result, explanation, ...given } of checks) {
      it(`${why}: ${ip} for ${domain.slice(0, 40)} is ${result}`, () => {
        const envelope = { sender: `postmaster@${domain}`, helo: 'mail.test', ...given };
        const verdict = checkHost({ ip, domain, ...envelope }, lookups);
        assert.equal(verdict.result, result);
        if (explanation !== undefined) assert.equal(verdict.explanation, explanation);
      });
    }
    for (const { why, domain, problems, targets, ...expected } of policies) {
      it(`the policy of ${domain}: ${why}`, () => {
        const policy = policyAt(domain, lookups);
        const named = policy.senders.flatMap(({ depth, host }) => (depth === 0 ? host : []));
        if (targets) assert.deepEqual(named, targets);
        for (const [key, value] of Object.entries(expected))
          assert.deepEqual(policy[key as keyof SpfPolicy], value, key);
        const codes = [...new Set(policy.problems.map(({ code }) => code))].sort();
        if (problems) assert.deepEqual(codes, problems);
      });
    }
  });
}

describe('check_host()', () => {
  const mail = { domain: 'a.test', sender: 'b@a.test' };
  it('refuses what is no address', () =>
    assert.throws(() => checkHost({ ip: '192.0.2', ...mail }, zoneLookups({})), RangeError));
  it('finds no policy at a name of one label', () => {
    const lookups = zoneLookups({ localhost: [{ TXT: 'v=spf1 +all' }] });
    assert.equal(checkHost({ ip: '192.0.2.1', ...mail, domain: 'localhost' }, lookups).result, 'none');
  });
  it('ends on any record without throwing', () => {
    const start = fc.constantFrom('', 'include:', 'a:', 'exists:%{', 'exp=');
    holds(100, [fc.string({ unit: codePoint, maxLength: 200 }), start], (text, term) => {
      const lookups = zoneLookups({ 'a.test': [{ TXT: `v=spf1 ${term}${text}` }] });
      assert.ok(checkHost({ ip: '192.0.2.1', ...mail }, lookups).result);
    });
  });
});

interface SuiteCase extends Readonly<Record<'helo' | 'host' | 'mailfrom', string>> {
  readonly result: string | readonly string[];
  readonly explanation?: string;
}
type Scenario = { readonly description: string; readonly tests: Record<string, SuiteCase>; readonly zonedata: Zone };

/** What a record alone cannot tell; docs/posture.md has the same list. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'include-at-limit': 'the sender matches before the eleventh look-up, which another sender would meet',
  'void-over-limit': 'the void look-ups are of hosts of others, which are not looked up',
};

const file = process.env.STRATA_SPF_SUITE;
const skip = file ? false : 'STRATA_SPF_SUITE is not set: docs/posture.md says how to get the suite';

describe('the published SPF test suite', { skip }, () => {
  const documents = file ? parseAllDocuments(readFileSync(file, 'utf8')) : [];
  for (const { description, tests, zonedata } of documents.map((each) => each.toJS() as Scenario)) {
    describe(description, () => {
      const lookups = zoneLookups(zonedata);
      for (const [name, { helo, host, mailfrom, result, explanation }] of Object.entries(tests)) {
        const sender = mailfrom === '' ? `postmaster@${helo}` : mailfrom;
        const domain = sender.slice(sender.lastIndexOf('@') + 1).toLowerCase();
        const allowed = [result].flat();
        it(`${name}: ${allowed.join(' or ')}`, () => {
          const verdict = checkHost({ ip: host, domain, sender, helo }, lookups);
          assert.ok(allowed.includes(verdict.result), `is ${verdict.result}`);
          if (explanation !== undefined) assert.equal(verdict.explanation ?? 'DEFAULT', explanation);
        });
        it(`${name}: the policy without a sender`, { skip: LEFT_OUT[name] ?? false }, () => {
          const { result, problems } = policyAt(domain, lookups);
          const isValid = allowed.some((each) => each !== 'permerror' && each !== 'none');
          if (result === 'permerror') assert.ok(allowed.includes('permerror'), JSON.stringify(problems));
          else if (result === 'none') assert.ok(allowed.includes('none') || allowed.includes('temperror'));
          else assert.ok(isValid, 'is valid');
        });
      }
    });
  }
});
