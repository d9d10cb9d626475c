import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Finding, type Posture, type PostureFactor, ROLE_LIST, type Role } from '@strata/detect';
import { fc, holds } from '../../../../tests/support/property.ts';
import { ownerOf, PROVIDERS } from '../test/random-domains.ts';
import { assessRisk, type RiskInput, riskLevel } from './risk.ts';

type Factor = PostureFactor['factor'];
const FACTORS = ['spf', 'dmarc', 'dnssec', 'caa', 'mta_sts', 'tls_rpt', 'tls'];

/** `dmarc fail 0 45` for each factor; only the factors are used. */
const posture = (...texts: readonly string[]): Posture => {
  const factors = texts.map((text) => {
    const [factor, finding, points, possible] = text.split(' ');
    return { factor, finding, points: Number(points), possible: Number(possible) };
  });
  return { factors } as unknown as Posture;
};

const service = (role: Role, provider: string, isFirm = true) => ({ role, provider, isFirm });
const factorsOf = (profile: ReturnType<typeof assessRisk>) =>
  profile.security.factors.concat(profile.vendorConcentration.factors);

/** The weights of docs/metrics.md. */
const WEIGHTS = {
  ...{ email_authentication: 0.25, email_transport: 0.05, web_encryption: 0.12, dns_integrity: 0.13 },
  ...{ known_vulnerabilities: 0.15, dns_redundancy: 0.08, single_owner: 0.14, market_concentration: 0.08 },
};
const PARTS: Readonly<Record<string, readonly Factor[]>> = {
  email_authentication: ['spf', 'dmarc'],
  email_transport: ['mta_sts', 'tls_rpt'],
  web_encryption: ['tls'],
  dns_integrity: ['dnssec', 'caa'],
};
const CRITICAL: readonly Role[] = ['dns', 'mailbox', 'gateway', 'forwarding', 'origin', 'edge'];

function risksByHand({ posture: { factors }, services, exposure, hhiOf }: RiskInput): Record<string, number | null> {
  const risks: Record<string, number | null> = {};
  for (const [name, parts] of Object.entries(PARTS)) {
    const measured = factors.filter(({ factor, finding }) => parts.includes(factor) && finding !== 'unmeasured');
    const possible = measured.reduce((sum, each) => sum + each.possible, 0);
    const missed = measured.reduce((sum, each) => sum + each.possible - each.points, 0);
    risks[name] = possible === 0 ? null : (100 * missed) / possible;
  }
  const firm = services.filter(({ isFirm }) => isFirm);
  const operators = new Set(firm.filter(({ role }) => role === 'dns').map(({ provider }) => ownerOf(provider)));
  risks.dns_redundancy = operators.size === 0 ? null : operators.size === 1 ? 60 : 0;
  const critical = firm.filter(({ role }) => CRITICAL.includes(role));
  const roles = [...new Set(critical.map(({ role }) => role))];
  const heldBy = (owner: string) =>
    new Set(critical.filter(({ provider }) => ownerOf(provider) === owner).map(({ role }) => role)).size;
  const max = Math.max(...PROVIDERS.map(heldBy));
  risks.single_owner = roles.length < 2 ? null : (100 * (max - 1)) / (roles.length - 1);
  const known = roles.flatMap((role) => hhiOf(role) ?? []);
  const mean = known.reduce((sum, hhi) => sum + hhi, 0) / known.length;
  risks.market_concentration = known.length === 0 ? null : Math.min(100, mean / 50);
  risks.known_vulnerabilities = exposureByHand(exposure);
  return risks;
}

function exposureByHand(exposure: RiskInput['exposure']): number | null {
  if (!exposure?.hasProduct) return null;
  const risks = { exploited: 100, critical: 80, high: 60, possiblyExploited: 50, other: 30 } as const;
  return Object.entries(risks).find(([name]) => exposure[name as keyof typeof risks] > 0)?.[1] ?? 0;
}

const finding = fc.constantFrom<Finding>('pass', 'partial', 'fail', 'unmeasured');
const exactly = (length: number) => ({ minLength: length, maxLength: length });
const counts = { exploited: fc.nat(1), critical: fc.nat(1), high: fc.nat(1), other: fc.nat(2) };
const inputs: fc.Arbitrary<RiskInput> = fc
  .record({
    factors: fc.array(fc.tuple(finding, fc.nat(30), fc.nat(30)), exactly(FACTORS.length)),
    services: fc.array(fc.tuple(fc.constantFrom(...ROLE_LIST), fc.constantFrom(...PROVIDERS), fc.boolean()), {
      maxLength: 12,
    }),
    exposure: fc.option(fc.record({ hasProduct: fc.boolean(), ...counts, possiblyExploited: fc.nat(1) })),
    hhis: fc.array(fc.option(fc.nat(10_000)), exactly(ROLE_LIST.length)),
  })
  .map(({ factors, services, exposure, hhis }) => ({
    posture: posture(...factors.map(([found, points, more], i) => `${FACTORS[i]} ${found} ${points} ${points + more}`)),
    services: services.map((each) => service(...each)),
    ownerOf,
    exposure,
    hhiOf: (role) => hhis[ROLE_LIST.indexOf(role)] ?? null,
  }));

it('the risk of a domain is the weighted mean of the factors that could be measured, each by its definition', () =>
  holds(300, [inputs], (input) => {
    const profile = assessRisk(input);
    const expected = risksByHand(input);
    const all = factorsOf(profile);
    assert.deepEqual(all.map(({ factor }) => factor).sort(), Object.keys(WEIGHTS).sort());
    for (const { factor, risk, weight, finding } of all) {
      const byHand = expected[factor] ?? null;
      if (risk === null || byHand === null) assert.equal(risk, byHand, factor);
      else assert.ok(Math.abs(risk - byHand) <= 0.5 && Number.isInteger(risk), `${factor}: ${risk}, ${byHand}`);
      assert.equal(weight, WEIGHTS[factor as keyof typeof WEIGHTS]);
      assert.match(finding, /^\S.*\.$/);
    }
    for (const part of [{ ...profile, factors: all }, profile.security, profile.vendorConcentration]) {
      const measured = part.factors.filter(({ risk }) => risk !== null);
      const weight = measured.reduce((sum, each) => sum + each.weight, 0);
      const mean = measured.reduce((sum, each) => sum + each.weight * (each.risk ?? 0), 0) / weight;
      if (measured.length === 0) assert.deepEqual([part.score, part.level], [null, null]);
      else {
        assert.ok(Math.abs((part.score ?? -1) - mean) <= 0.5 + 1e-9);
        assert.equal(part.level, riskLevel(part.score ?? -1));
      }
    }
  }));
// Dns and email depend on one owner each; a weak opinion is no second operator, and cirrus and delta are one firm.
it('the risk of a domain is as worked out by hand', () => {
  const firms = [service('dns', 'acme'), service('mailbox', 'cirrus'), service('edge', 'delta')];
  const unmeasured = ['dnssec unmeasured 0 10', 'caa unmeasured 0 5'];
  const profile = assessRisk({
    posture: posture('spf pass 25 25', 'dmarc fail 0 45', 'tls pass 10 10', ...unmeasured),
    services: [...firms, service('dns', 'ember', false)],
    ...{ ownerOf, exposure: null },
    hhiOf: (role) => (role === 'mailbox' ? 2_000 : role === 'dns' ? 3_000 : null),
  });
  const { security, vendorConcentration } = profile;
  assert.deepEqual([security.score, security.level], [43, 'medium']); // 16 / 0.37
  assert.deepEqual([vendorConcentration.score, vendorConcentration.level], [53, 'high']); // 15.8 / 0.3
  assert.deepEqual([profile.score, profile.level], [47, 'medium']); // 31.8 / 0.67
  const findings = new Set(factorsOf(profile).map(({ finding }) => finding));
  assert.ok(findings.isSupersetOf(new Set(['Missing or weak: DMARC.', 'cirrus holds 2 of 3 critical roles.'])));
});
it('the risk of a domain of which nothing is known is not known', () => {
  const profile = assessRisk({ posture: posture(), services: [], ownerOf, exposure: null, hhiOf: () => null });
  assert.deepEqual([profile.score, profile.level], [null, null]);
  for (const { risk } of profile.security.factors) assert.equal(risk, null);
});
