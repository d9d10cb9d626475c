// The analysis of SPF policies, by vectors/spf.json and by the published test suite of RFC 7208 (openspf).
// The suite is not part of this project: docs/posture.md says where to get it. STRATA_SPF_SUITE is the path of its file.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { casesOf, vectorsIn } from '../../../../tests/support/vectors.ts';
import type { Lookup } from '../evidence/evidence.ts';
import { readSpf } from './policy.ts';
import type { SpfPolicy } from './types.ts';

type Value = string | readonly (string | number)[];

/** By name: one record by type each, or `TIMEOUT` for every type that has none. A TXT record may consist of several strings. */
type Zone = Readonly<Record<string, readonly (string | Readonly<Record<string, Value>>)[]>>;

type RecordType = 'TXT' | 'A' | 'AAAA' | 'MX';

/** Reads the policy of a domain with answers from a zone in the format of vectors/spf.json and of the suite. */
function policyAt(domain: string, zone: Zone): SpfPolicy {
  const names = new Map(
    Object.entries(zone).map(([name, records]) => [name.toLowerCase().replace(/\.$/, ''), records] as const),
  );
  const query = (name: string, type: RecordType, aliases: readonly string[] = []): Lookup<Value> => {
    const records = names.get(name);
    if (!records) return { status: 'nxdomain', records: [], aliases };
    const found = valuesOf(records, type);
    if (found.includes('TIMEOUT')) return { status: 'timeout', records: [], aliases };
    const [alias] = valuesOf(records, 'CNAME');
    if (typeof alias === 'string' && aliases.length < 8) return query(alias.toLowerCase(), type, [...aliases, alias]);
    if (found.length > 0) return { status: 'found', records: found, aliases };
    return { status: records.includes('TIMEOUT') ? 'timeout' : 'empty', records: [], aliases };
  };
  const texts = (name: string, type: RecordType): Lookup<string> => {
    const answer = query(name, type);
    return { ...answer, records: answer.records.map((value) => [value].flat().join('')) };
  };
  const mx = query(domain, 'MX');
  const exchanges = mx.records.map(([first, second]) => ({ preference: Number(first), exchange: `${second}` }));
  const lookup = (name: string) => texts(name, 'TXT');
  const deps = {
    lookup,
    addresses: [texts(domain, 'A'), texts(domain, 'AAAA')],
    exchanges: { ...mx, records: exchanges },
  };
  return readSpf(domain, lookup(domain), deps);
}

/** The suite publishes policies under the obsolete type SPF; they are read as TXT unless there is a TXT record. */
function valuesOf(records: Zone[string], type: RecordType | 'CNAME'): Value[] {
  const given = (of: string) =>
    records.flatMap((record) => (typeof record !== 'string' && of in record ? [record[of] as Value] : []));
  const found = given(type);
  if (type !== 'TXT' || found.length > 0) return found.filter((value) => value !== 'NONE');
  return given('SPF');
}

/** Results that depend on the sender: by name of the suite's case, or by domain of vectors/spf.json. */
const LEFT_OUT: Readonly<Record<string, string>> = casesOf('detect', 'left out of the SPF suite');

/** The analysis and the results that check_host() may have for one sender agree. */
function agrees({ result, problems }: SpfPolicy, allowed: readonly string[]): void {
  if (result === 'permerror') assert.ok(allowed.includes('permerror'), JSON.stringify(problems));
  else if (result === 'none') assert.ok(allowed.includes('none') || allowed.includes('temperror'));
  else assert.ok(allowed.some((each) => each !== 'permerror' && each !== 'none'));
}

interface Group {
  readonly section: string;
  readonly zone: Zone;
  readonly checks: readonly Readonly<Record<'why' | 'ip' | 'domain' | 'result', string>>[];
  readonly policies: readonly (Readonly<Record<string, unknown>> & {
    readonly why: string;
    readonly domain: string;
    readonly problems?: readonly string[];
    /** Senders that the domain itself names. */
    readonly targets?: readonly string[];
  })[];
}

const { groups } = vectorsIn<{ readonly groups: readonly Group[] }>('spf.json');

for (const { section, zone, checks, policies } of groups) {
  describe(`SPF, ${section}`, () => {
    for (const { why, ip, domain, result } of checks)
      it(`${why}: ${ip} for ${domain.slice(0, 40)} is ${result}`, { skip: LEFT_OUT[domain] ?? false }, () =>
        agrees(policyAt(domain, zone), [result]),
      );
    for (const { why, domain, problems, targets, ...expected } of policies) {
      it(`the policy of ${domain}: ${why}`, () => {
        const policy = policyAt(domain, zone);
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

interface SuiteCase extends Readonly<Record<'helo' | 'host' | 'mailfrom', string>> {
  readonly result: string | readonly string[];
}
type Scenario = { readonly description: string; readonly tests: Record<string, SuiteCase>; readonly zonedata: Zone };

const file = process.env.STRATA_SPF_SUITE;
const skip = file ? false : 'STRATA_SPF_SUITE is not set: docs/posture.md says how to get the suite';

describe('the published SPF test suite', { skip }, () => {
  const documents = file ? parseAllDocuments(readFileSync(file, 'utf8')) : [];
  for (const { description, tests, zonedata } of documents.map((each) => each.toJS() as Scenario)) {
    describe(description, () => {
      for (const [name, { helo, mailfrom, result }] of Object.entries(tests)) {
        const sender = mailfrom === '' ? `postmaster@${helo}` : mailfrom;
        const domain = sender.slice(sender.lastIndexOf('@') + 1).toLowerCase();
        const allowed = [result].flat();
        it(`${name}: ${allowed.join(' or ')}`, { skip: LEFT_OUT[name] ?? false }, () =>
          agrees(policyAt(domain, zonedata), allowed),
        );
      }
    });
  }
});
