// vectors/spf.json, and what it cannot say: hostile records and answers.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../../tests/support/property.ts';
import { type Zone, zoneLookups } from '../test/spf-zone.ts';
import { checkHost } from './check-host.ts';
import { readSpf, type SpfPolicy } from './policy.ts';

interface Group {
  readonly section: string;
  readonly zone: Zone;
  readonly checks: readonly {
    readonly why: string;
    readonly ip: string;
    readonly domain: string;
    readonly result: string;
    readonly sender?: string;
    readonly helo?: string;
    readonly explanation?: string | null;
  }[];
  readonly policies: readonly ({
    readonly why: string;
    readonly domain: string;
    readonly problems?: readonly string[];
    /** Senders that the domain itself names. */
    readonly targets?: readonly string[];
  } & Readonly<Record<string, unknown>>)[];
}

const file = path.join(import.meta.dirname, '../../../../vectors/spf.json');
const { groups } = JSON.parse(readFileSync(file, 'utf8')) as { readonly groups: readonly Group[] };

for (const { section, zone, checks, policies } of groups) {
  describe(`SPF, ${section}`, () => {
    const lookups = zoneLookups(zone);
    for (const {
      why,
      ip,
      domain,
      result,
      explanation,
      sender = `postmaster@${domain}`,
      helo = 'mail.test',
    } of checks) {
      it(`${why}: ${ip} for ${domain.slice(0, 40)} is ${result}`, () => {
        const verdict = checkHost({ ip, domain, sender, helo }, lookups);
        assert.equal(verdict.result, result);
        if (explanation !== undefined) assert.equal(verdict.explanation, explanation);
      });
    }
    for (const { why, domain, problems, targets, ...expected } of policies) {
      it(`the policy of ${domain}: ${why}`, () => {
        const policy = readSpf(domain, lookups.txt(domain), {
          lookup: lookups.txt,
          addresses: [lookups.a(domain), lookups.aaaa(domain)],
          exchanges: lookups.mx(domain),
        });
        if (targets) assert.deepEqual(hostsOf(policy), targets);
        for (const [key, value] of Object.entries(expected))
          assert.deepEqual(policy[key as keyof SpfPolicy], value, key);
        if (problems) assert.deepEqual(codesOf(policy), problems);
      });
    }
  });
}

function hostsOf({ senders }: SpfPolicy): string[] {
  return senders.filter(({ depth }) => depth === 0).map(({ host }) => host);
}

function codesOf({ problems }: SpfPolicy): string[] {
  return [...new Set(problems.map(({ code }) => code))].sort();
}

describe('check_host()', () => {
  it('refuses what is no address', () =>
    assert.throws(
      () => checkHost({ ip: '192.0.2', domain: 'a.test', sender: 'b@a.test' }, zoneLookups({})),
      RangeError,
    ));

  it('ends on any record without throwing', () =>
    holds(
      100,
      [fc.string({ unit: 'binary', maxLength: 200 }), fc.constantFrom('', 'include:', 'a:', 'exists:%{', 'exp=')],
      (text, start) => {
        const zone = zoneLookups({ 'a.test': [{ TXT: `v=spf1 ${start}${text}` }] });
        assert.ok(checkHost({ ip: '192.0.2.1', domain: 'a.test', sender: 'b@a.test' }, zone).result);
      },
    ));
});
