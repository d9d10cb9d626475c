import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { readNvdPage, readNvdRecord } from './nvd.ts';
import { recognise } from './recognise.ts';

const root = path.join(import.meta.dirname, '../../../../vectors/advisories/nvd');
const documentOf = (name: string) => JSON.parse(readFileSync(path.join(root, `${name}.json`), 'utf8')).document;
const log4shell = documentOf('log4shell');
const nginx = documentOf('nginx-resolver');

const timestamp = '2025-08-25T00:00:00.000';
const figures = { resultsPerPage: 2000, startIndex: 4000, totalResults: 310_000 };
const pageOf = (vulnerabilities: unknown) => {
  return { ...figures, timestamp, format: 'NVD_CVE', version: '2.0', vulnerabilities };
};
const withCve = (change: object) => ({ cve: { ...nginx.cve, ...change } });

const criterion = { vulnerable: true, criteria: 'cpe:2.3:a:f5:nginx:*:*:*:*:*:*:*:*' };
const configurationOf = (size: number) => ({
  nodes: [{ operator: 'OR', cpeMatch: Array.from({ length: size }, () => criterion) }],
});

describe('a page of NVD', () => {
  it('gives its figures and records, and what is wrong with one does not touch the others', () => {
    const changes = [{ published: 'yesterday' }, { id: 'CVE-1' }, { configurations: {} }];
    const broken = [null, {}, ...changes.map(withCve)];
    const page = pageOf([log4shell, ...broken, nginx]);
    assert.equal(recognise(page), 'nvd');
    const read = readNvdPage(page);
    assert.ok(read.ok);
    assert.partialDeepStrictEqual(read.page, { ...figures, skipped: 5 });
    assert.equal(read.page.records.map(({ id }) => id).join(), 'CVE-2021-44228,CVE-2021-23017');
    assert.deepEqual(read.page.problems.slice(2), [
      'CVE-2021-23017: cve.published: expected an ISO 8601 time',
      'CVE-1: cve.id: Invalid string: must match pattern /^CVE-\\d{4}-\\d{4,19}$/',
      'CVE-2021-23017: cve.configurations: expected an array of at most 20000 elements',
    ]);
  });

  it('that is none is refused as a whole', () => {
    const pages = [pageOf({}), { ...pageOf([]), version: '1.1' }, { ...pageOf([]), startIndex: -1 }];
    for (const other of [null, [], 'page', {}, ...pages]) assert.equal(readNvdPage(other).ok, false);
  });
});

describe('a record of NVD', () => {
  it('may have no configurations and no metrics: it is not enriched', () => {
    const { configurations, metrics, ...bare } = nginx.cve;
    const { record } = readNvdRecord({ cve: { ...bare, vulnStatus: 'Awaiting Analysis' } });
    assert.deepEqual([record?.claims, record?.cvss, record?.state], [[], [], 'published']);
  });
  it('keeps its claims when a scoring cannot be read', () => {
    const cvssMetricV31 = [null, { source: 'x' }, ...nginx.cve.metrics.cvssMetricV31];
    const { record } = readNvdRecord(withCve({ metrics: { cvssMetricV31, cvssMetricV2: 'none' } }));
    const scores = record?.cvss.map(({ by, version }) => `${by} ${version}`);
    assert.deepEqual([scores, record?.claims.length], [['nvd 3.1'], 1]);
  });
  it('says whose a scoring is', () => {
    const [metric] = nginx.cve.metrics.cvssMetricV31;
    const sources = ['nvd@nist.gov', 'f5sirt@f5.com', '134c704f-9b21-4f2e-91b3-4a353353bcc0', 'Other@Example.org'];
    const metrics = { cvssMetricV31: sources.map((source) => ({ ...metric, source })) };
    const { record } = readNvdRecord(withCve({ metrics }));
    assert.equal(record?.cvss.map(({ by }) => by).join(), 'nvd,cna,cisa-adp,other@example.org');
  });
  it('leaves out whole configurations beyond 5,000 criteria, and says so', () => {
    const configurations = [configurationOf(4_999), configurationOf(2)];
    const { record, problem } = readNvdRecord(withCve({ configurations }));
    assert.equal(record?.claims.length, 1);
    assert.equal(problem, 'CVE-2021-23017: too many criteria, some configurations are left out');
  });

  it('keeps what is negated and how nodes go together', () => {
    const node = { operator: 'OR', negate: true, cpeMatch: [criterion] };
    const { record } = readNvdRecord(withCve({ configurations: [{ operator: 'AND', negate: true, nodes: [node] }] }));
    const [claim] = record?.claims ?? [];
    assert.ok(claim?.kind === 'configuration');
    const [inner] = claim.root.children;
    assert.deepEqual([claim.root.operator, claim.root.isNegated], ['AND', true]);
    assert.ok(inner?.kind === 'node' && inner.isNegated);
  });

  it('is bounded by the narrower of two bounds on one side', () => {
    const rangeOf = (bounds: object) => {
      const match = { ...criterion, ...bounds };
      const configurations = [{ nodes: [{ operator: 'OR', negate: false, cpeMatch: [match] }] }];
      const [claim] = readNvdRecord(withCve({ configurations })).record?.claims ?? [];
      const [child] = claim?.kind === 'configuration' ? claim.root.children : [];
      return child?.kind === 'cpe' ? child.range : undefined;
    };
    for (const [versionEndIncluding, versionEndExcluding, version, isInclusive] of [
      ['1.5', '1.2', '1.2', false],
      ['1.2', '1.10', '1.2', true],
      ['1.2', '1.2', '1.2', false],
      [' ', '1.2', '1.2', false],
      ['1.2', ' ', '1.2', true],
    ] as const)
      assert.deepEqual(rangeOf({ versionEndIncluding, versionEndExcluding })?.to, { version, isInclusive });
    const start = rangeOf({ versionStartIncluding: '1.5', versionStartExcluding: '1.2' });
    assert.deepEqual(start, { from: { version: '1.5', isInclusive: true } });
  });

  it('cuts a long description, between characters', () => {
    const value = `${'a'.repeat(1_998)}${'😀'.repeat(100_000)}`;
    const { record } = readNvdRecord(withCve({ descriptions: [{ lang: 'en', value }] }));
    assert.equal(record?.summary, `${'a'.repeat(1_998)}…`);
  });
});
