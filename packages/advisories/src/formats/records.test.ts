import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { readCveRecord } from './cve/cve-record.ts';
import { readNvdHead, readNvdRecord } from './nvd.ts';
import { recognise } from './recognise.ts';

const root = path.join(import.meta.dirname, '../../../../vectors/advisories');
const documentOf = (name: string) => JSON.parse(readFileSync(path.join(root, `${name}.json`), 'utf8')).document;
const log4shell = documentOf('nvd/log4shell');
const nginx = documentOf('nvd/nginx-resolver');

const figures = { resultsPerPage: 2000, startIndex: 4000, totalResults: 310_000 };
const page = { ...figures, timestamp: '2025-08-25T00:00:00.000', format: 'NVD_CVE', version: '2.0' };
const withCve = (change: object) => ({ cve: { ...nginx.cve, ...change } });

const criterion = { vulnerable: true, criteria: 'cpe:2.3:a:f5:nginx:*:*:*:*:*:*:*:*' };

it('NVD gives pages of counts and records, where a problem of one record does not affect the rest', () => {
  const changes = [{ published: 'yesterday' }, { id: 'CVE-1' }, { configurations: {} }];
  const broken = [null, {}, ...changes.map(withCve)];
  const given = { ...page, vulnerabilities: [log4shell, ...broken, nginx] };
  assert.equal(recognise(given), 'nvd');
  const head = readNvdHead(given);
  assert.ok(head.ok);
  assert.partialDeepStrictEqual(head.page, figures);
  const read = head.page.vulnerabilities.map(readNvdRecord);
  const ids = read.flatMap(({ record }) => record?.id ?? []);
  assert.equal(ids.join(), 'CVE-2021-44228,CVE-2021-23017');
  assert.deepEqual(read.flatMap(({ problem }) => problem ?? []).slice(2), [
    'CVE-2021-23017: cve.published: expected an ISO 8601 time',
    'CVE-1: cve.id: Invalid string: must match pattern /^CVE-\\d{4}-\\d{4,19}$/',
    'CVE-2021-23017: cve.configurations: expected an array of at most 20000 elements',
  ]);
});
it('NVD refuses documents that are not pages', () => {
  const empty = { ...page, vulnerabilities: [] };
  const pages = [
    { ...page, vulnerabilities: {} },
    { ...empty, version: '1.1' },
    { ...empty, startIndex: -1 },
  ];
  for (const other of [null, [], 'page', {}, ...pages]) assert.equal(readNvdHead(other).ok, false);
});
it('NVD has records without configurations and metrics: they are not enriched', () => {
  const { configurations, metrics, ...bare } = nginx.cve;
  const { record } = readNvdRecord({ cve: { ...bare, vulnStatus: 'Awaiting Analysis' } });
  assert.deepEqual([record?.claims, record?.cvss, record?.state], [[], [], 'published']);
});
it('NVD keeps its claims when a scoring cannot be read, and says whose a scoring is', () => {
  const cvssMetricV31 = [null, { source: 'x' }, ...nginx.cve.metrics.cvssMetricV31];
  const { record } = readNvdRecord(withCve({ metrics: { cvssMetricV31, cvssMetricV2: 'none' } }));
  const scores = record?.cvss.map(({ by, version }) => `${by} ${version}`);
  assert.deepEqual([scores, record?.claims.length], [['nvd 3.1'], 1]);
  const [metric] = nginx.cve.metrics.cvssMetricV31;
  const sources = ['nvd@nist.gov', 'f5sirt@f5.com', '134c704f-9b21-4f2e-91b3-4a353353bcc0', 'Other@Example.org'];
  const metrics = { cvssMetricV31: sources.map((source) => ({ ...metric, source })) };
  const scored = readNvdRecord(withCve({ metrics })).record?.cvss.map(({ by }) => by);
  assert.equal(scored?.join(), 'nvd,cna,cisa-adp,other@example.org');
});
it('NVD leaves out complete configurations above 5,000 criteria, and reports it', () => {
  const configurations = [4_999, 2].map((size) => {
    return { nodes: [{ operator: 'OR', cpeMatch: Array.from({ length: size }, () => criterion) }] };
  });
  const { record, problem } = readNvdRecord(withCve({ configurations }));
  assert.equal(record?.claims.length, 1);
  assert.equal(problem, 'CVE-2021-23017: too many criteria, some configurations are left out');
});
it('NVD keeps what is negated and how nodes go together', () => {
  const node = { operator: 'OR', negate: true, cpeMatch: [criterion] };
  const { record } = readNvdRecord(withCve({ configurations: [{ operator: 'AND', negate: true, nodes: [node] }] }));
  const [claim] = record?.claims ?? [];
  assert.ok(claim?.kind === 'configuration');
  const children = [{ kind: 'node', isNegated: true }];
  assert.partialDeepStrictEqual(claim.root, { operator: 'AND', isNegated: true, children });
});
it('NVD is bounded by the narrower of two bounds on one side', () => {
  const rangeOf = (bounds: object) => {
    const match = { ...criterion, ...bounds };
    const configurations = [{ nodes: [{ operator: 'OR', negate: false, cpeMatch: [match] }] }];
    const [claim] = readNvdRecord(withCve({ configurations })).record?.claims ?? [];
    const [child] = claim?.kind === 'configuration' ? claim.root.children : [];
    return child?.kind === 'cpe' ? child.range : undefined;
  };
  for (const [versionEndIncluding, versionEndExcluding, version, isInclusive] of casesOf<
    [string, string, string, boolean][]
  >('advisories', 'ends of ranges'))
    assert.deepEqual(rangeOf({ versionEndIncluding, versionEndExcluding })?.to, { version, isInclusive });
  const start = rangeOf({ versionStartIncluding: '1.5', versionStartExcluding: '1.2' });
  assert.deepEqual(start, { from: { version: '1.5', isInclusive: true } });
});
it('NVD cuts a long description, between characters', () => {
  const value = `${'a'.repeat(1_998)}${'😀'.repeat(100_000)}`;
  const { record } = readNvdRecord(withCve({ descriptions: [{ lang: 'en', value }] }));
  assert.equal(record?.summary, `${'a'.repeat(1_998)}…`);
});

const php = documentOf('cve-record/php-cgi');
const [cisa] = php.containers.adp;

const withCna = (change: object, adp: unknown = []) => {
  return { ...php, containers: { cna: { ...php.containers.cna, ...change }, adp } };
};
const withMetadata = (change: object) => ({ ...php, cveMetadata: { ...php.cveMetadata, ...change } });
const versions = (...entries: object[]) =>
  entries.map((entry) => ({ status: 'affected', versionType: 'semver', ...entry }));

it('a record of the CVE List is of format 5, published or rejected, with an id', () => {
  const reserved = withMetadata({ state: 'RESERVED' });
  const metadata = [{ cveId: 'CVE-2024' }, { datePublished: '2024' }].map(withMetadata);
  for (const other of [{ ...php, dataVersion: '4.0' }, { ...php, dataType: 'CVE' }, reserved, ...metadata])
    assert.equal(readCveRecord(other).record, null);
  assert.match(readCveRecord(reserved).problem ?? '', /^CVE-2024-4577: cveMetadata\.state: /);
});
it('a record of the CVE List has its times from what there is', () => {
  const times = (change: object) => {
    const { record } = readCveRecord(withMetadata(change));
    return [record?.published.slice(0, 10), record?.modified.slice(0, 10)];
  };
  assert.deepEqual(times({}), ['2024-06-09', '2025-03-28']);
  assert.deepEqual(times({ dateUpdated: undefined }), ['2024-06-09', '2024-06-09']);
  assert.deepEqual(times({ datePublished: undefined, dateUpdated: undefined }), ['2025-03-28', '2025-03-28']);
});
it('a record of the CVE List is not affected by additional containers', () => {
  const expected = readCveRecord(withCna({})).record;
  const unreadable = [{ affected: 'none' }, { affected: [{ versions: 1 }], metrics: [null, 1] }];
  const bad = [null, 7, {}, ...unreadable.map((change) => ({ ...cisa, ...change }))];
  assert.deepEqual(readCveRecord(withCna({}, bad)).record, expected);
});
it('a record of the CVE List keeps to its CNA’s versions where there are any', () => {
  const products = (change: object) =>
    readCveRecord(withCna(change, [cisa])).record?.claims.map((claim) => claim.products[0]);
  assert.deepEqual(products({}), ['cna:php group/php']);
  const silent = [{ vendor: 'n/a', product: 'n/a', versions: [{ version: 'n/a', status: 'affected' }] }];
  assert.deepEqual(products({ affected: silent }), ['cna:php_group/php']);
});
it('a record of the CVE List names who scored', () => {
  const scoring = { cvssV3_1: { vectorString: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H', baseScore: 9.8 } };
  const { record } = readCveRecord(withCna({ metrics: [scoring] }, [{ ...cisa, metrics: [scoring, { other: {} }] }]));
  assert.equal(record?.cvss.map(({ by }) => by).join(), 'cna,cisa-adp');
});
it('a record of the CVE List has entries of one product as one claim, and commits alone beside them as none', () => {
  const named = { vendor: 'Linux', product: 'Linux', defaultStatus: 'unaffected' };
  const affected = [
    { ...named, versions: versions({ version: '1da177e', lessThan: '2c6c9d4', versionType: 'git' }) },
    { ...named, versions: versions({ version: '5.10', lessThan: '5.10.200' }) },
    { ...named, versions: versions({ version: '6.1', lessThan: '6.1.60' }) },
  ];
  const [claim, ...rest] = readCveRecord(withCna({ affected })).record?.claims ?? [];
  assert.ok(claim?.kind === 'product' && rest.length === 0);
  const ends = claim.affected.map(({ to }) => to?.version);
  assert.deepEqual(ends, ['5.10.200', '6.1.60']);
  assert.equal(claim.otherwise, 'unaffected');
});
it('a record of the CVE List keeps entries separate if fixed versions of one may be affected in another', () => {
  const entry = (lessThan: string) => ({
    ...{ vendor: 'a', product: 'b' },
    versions: versions({ version: '1.0', lessThan: '*', changes: [{ at: lessThan, status: 'unaffected' }] }),
  });
  assert.equal(readCveRecord(withCna({ affected: [entry('2.0'), entry('3.0')] })).record?.claims.length, 2);
});
it('a record of the CVE List leaves out entries above 5,000 versions, and reports it', () => {
  const many = versions(...Array.from({ length: 4_998 }, (_, i) => ({ version: `1.${i}` })));
  const affected = ['b', 'c'].map((product) => ({ vendor: 'a', product, versions: many }));
  const { record, problem } = readCveRecord(withCna({ affected }));
  assert.equal(record?.claims.flatMap(({ products }) => products).join(), 'cna:a/b');
  assert.equal(problem, 'CVE-2024-4577: too many versions or criteria, some are left out');
});
it('a record of the CVE List has GitHub’s advisory as an alias, and no other text', () => {
  const aliases = (advisory: unknown) => readCveRecord(withCna({ source: { advisory } })).record?.aliases;
  assert.deepEqual(aliases('GHSA-f82v-jwr5-mffw'), ['GHSA-F82V-JWR5-MFFW']);
  for (const other of ['PAN-2024', 'GHSA-1', '', null, {}]) assert.deepEqual(aliases(other), []);
});
