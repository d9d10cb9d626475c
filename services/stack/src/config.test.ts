import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SettingsError } from '@strata/http';
import { casesOf } from '../../../tests/support/vectors.ts';
import { readConfig } from './config.ts';

const CVE_API = 'https://api.github.com/repos/CVEProject/cvelistV5';

function refusalOf(env: Record<string, string>): string {
  try {
    readConfig(env);
  } catch (error) {
    assert.ok(error instanceof SettingsError);
    return error.message;
  }
  return 'taken';
}

it('the configuration has a working default for everything', () => {
  const defaults = { port: 8787, databaseUrl: 'sqlite:./data/strata.db', addressRanges: [], fingerprints: [] };
  const scans = { confirmAfterMs: 6 * 3_600_000, isOnDemand: true };
  assert.partialDeepStrictEqual(readConfig({}), { ...defaults, ...scans });
  assert.equal(readConfig({ STRATA_STACK_PORT: '' }).port, 8787, 'an empty variable is unset');
});
it('the configuration reads resolvers with and without a port, IPv4 and IPv6, over TCP', () => {
  assert.deepEqual(readConfig({ STRATA_RESOLVERS: '192.0.2.1, tcp://192.0.2.2:5353 [2001:db8::1]:54' }).resolvers, [
    { address: '192.0.2.1', port: 53 },
    { address: '192.0.2.2', port: 5353, transport: 'tcp' },
    { address: '2001:db8::1', port: 54 },
  ]);
  const forms = 'give addresses as 192.0.2.53, 192.0.2.53:5353 or [2001:db8::53]:53';
  for (const bad of ['dns.example', '192.0.2.1:99999', 'ITERATIVE', '300.1.2.3']) {
    const refusal = refusalOf({ STRATA_RESOLVERS: `192.0.2.1 ${bad}` });
    assert.equal(refusal, `STRATA_RESOLVERS: '${bad}' is not a resolver: ${forms}`);
  }
});
it('the configuration refuses the former mode `iterative`, with what to do instead', () => {
  for (const given of ['iterative', 'iterative,192.0.2.1'])
    assert.match(
      refusalOf({ STRATA_RESOLVERS: given }),
      /^STRATA_RESOLVERS: 'iterative' is no longer supported: run a recursive resolver .+docs\/operations\.md/,
    );
});
it('the configuration reads networks of both families and refuses what is not one, by its value', () => {
  const networks = ['10.1.0.0/16', '192.0.2.1', '2001:db8::/32'];
  assert.deepEqual(readConfig({ STRATA_ALLOW_ADDRESSES: networks.join(',') }).allowAddresses, networks);
  for (const bad of ['10.0.0.0/33', '10.0.0', 'example.com', '::1/129', '10.0.0.0/8/8', '10.0.0.0/'])
    for (const name of ['STRATA_TRUSTED_PROXIES', 'STRATA_ALLOW_ADDRESSES'])
      assert.match(refusalOf({ [name]: `10.0.0.1 ${bad}` }), new RegExp(`${name}.*'${bad}'`));
});
it('the configuration refuses numbers that are out of range or not plain numbers, and URLs that are not URLs', () => {
  const refused = casesOf<Record<string, string | string[]>>('stack', 'refused settings');
  for (const [name, values] of Object.entries(refused))
    for (const value of [values].flat())
      assert.match(refusalOf({ [name]: value }), new RegExp(`^${name}: (?!.*s3cret)`), value);
  assert.equal(refusalOf({ STRATA_STACK_PORT: 'http' }), 'STRATA_STACK_PORT: must be a number');
});
it('the configuration restricts scans of names that callers and feeds choose', () => {
  const ofFeeds = (scan: string, perDay = '500') =>
    readConfig({ STRATA_SCAN_OPTIONS: `mentioned=${scan},mentioned-per-day=${perDay}` }).feedScansPerDay;
  assert.deepEqual([ofFeeds(''), ofFeeds('off'), ofFeeds('on'), ofFeeds('on', '')], [0, 0, 500, 1_000]);
  const days = { STRATA_RETENTION_DAYS: 'on-demand=8, on-demand=' };
  const { retention, advisories } = readConfig({ ...days, STRATA_ADVISORY_MIRRORS: 'kev=https://kev.example/' });
  assert.partialDeepStrictEqual(retention, { onDemand: 8 * 86_400_000, scans: 90 * 86_400_000 });
  assert.partialDeepStrictEqual(advisories.urls, { kev: 'https://kev.example', cve: CVE_API });
  const former = { STRATA_ON_DEMAND_SUFFIX_PER_DAY: '0', STRATA_ON_DEMAND_ADDRESS_PER_DAY: '99' };
  assert.partialDeepStrictEqual(readConfig(former), { onDemandSuffixPerDay: 0, onDemandAddressPerDay: 20 });
  for (const item of casesOf<readonly string[]>('stack', 'refused retention'))
    assert.match(refusalOf({ STRATA_RETENTION_DAYS: item }), /^STRATA_RETENTION_DAYS: /, item);
});
it('the configuration refuses roles that do not exist, or have no PostgreSQL or nothing to do', () => {
  const scanner = { STRATA_ROLE: 'scanner', STRATA_DATABASE_URL: 'postgres://db.example/strata' };
  assert.equal(refusalOf({ ...scanner, STRATA_SCAN: 'on' }), 'taken');
  assert.match(refusalOf({ ...scanner, STRATA_SCAN: 'off' }), /nothing to do/);
  assert.match(refusalOf({ STRATA_ROLE: 'janitor' }), /^STRATA_ROLE: .* api, /);
  for (const STRATA_ROLE of ['api', 'scanner', 'scheduler'])
    assert.match(refusalOf({ STRATA_ROLE }), /^STRATA_ROLE: .* needs PostgreSQL/);
});
