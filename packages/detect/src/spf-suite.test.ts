// The published test suite of RFC 7208 (openspf), run against check_host() and held against the analysis of records.
// It is not part of this project: docs/posture.md says where it is found. STRATA_SPF_SUITE is the path of its YAML file.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { checkHost } from './spf/check-host.ts';
import { readSpf } from './spf/policy.ts';
import { type Zone, zoneLookups } from './test/spf-zone.ts';

interface SuiteCase {
  readonly helo: string;
  readonly host: string;
  readonly mailfrom: string;
  readonly result: string | readonly string[];
  readonly explanation?: string;
}

interface Scenario {
  readonly description: string;
  readonly tests: Readonly<Record<string, SuiteCase>>;
  readonly zonedata: Zone;
}

/** What a record alone cannot tell; docs/posture.md has the same list. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'include-at-limit': 'the sender matches before the eleventh look-up, which another sender would meet',
  'void-over-limit': 'the void look-ups are of hosts of others, which are not looked up',
};

const file = process.env.STRATA_SPF_SUITE;
const skip = file ? false : 'STRATA_SPF_SUITE is not set: docs/posture.md says how to get the suite';

describe('the published SPF test suite', { skip }, () => {
  for (const { description, tests, zonedata } of file ? readScenarios(file) : []) {
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
          const addresses = [lookups.a(domain), lookups.aaaa(domain)];
          const { lookup, exchanges } = { lookup: lookups.txt, exchanges: lookups.mx(domain) };
          const policy = readSpf(domain, lookups.txt(domain), { lookup, addresses, exchanges });
          if (policy.result === 'permerror') assert.ok(allowed.includes('permerror'), JSON.stringify(policy.problems));
          else if (policy.result === 'none') assert.ok(allowed.includes('none') || allowed.includes('temperror'));
          else
            assert.ok(
              allowed.some((each) => each !== 'permerror' && each !== 'none'),
              'is valid',
            );
        });
      }
    });
  }
});

function readScenarios(path: string): Scenario[] {
  return parseAllDocuments(readFileSync(path, 'utf8')).map((document) => document.toJS() as Scenario);
}
