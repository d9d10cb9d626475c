import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { detect } from './detect.ts';
import type { Page } from './evidence.ts';
import { loadCatalog } from './load-catalog.ts';
import { compileRulebook } from './rulebook.ts';
import { decideSector, type Sector, sectorOf } from './sector.ts';
import { type SectorListError, sectorListOf } from './sector-list.ts';
import { evidenceOf } from './test/evidence-of.ts';
import { testEntries, testRulebook } from './test/rulebook-of.ts';

describe('sectorOf', () => {
  const table: [domain: string, sector: string][] = [
    ['nasa.gov', 'government'],
    ['defra.gov.uk', 'government'],
    ['interieur.gouv.fr', 'government'],
    ['mof.go.jp', 'government'],
    ['army.mil', 'government'],
    ['mit.edu', 'education_research'],
    ['ox.ac.uk', 'education_research'],
    ['unimelb.edu.au', 'education_research'],
    ['trust.nhs.uk', 'health'],
    ['tce.ac.gov.br', 'government'],
    ['campinas.sp.gov.br', 'government'],
    ['health.qld.gov.au', 'government'],
    ['perth.wa.edu.au', 'education_research'],
    ['city.nagoya.lg.jp', 'government'],
    ['high.school.nz', 'education_research'],
    ['first.bank', 'finance_insurance'],
    ['example.com', 'unknown'],
    ['edu.example.com', 'unknown'],
    ['gov-news.com', 'unknown'],
    ['shop.go.it', 'unknown'],
    ['szkola.edu.pl', 'unknown'],
    ['ascension.ac', 'unknown'],
    ['me.github.io', 'unknown'],
    ['foo.notatld', 'unknown'],
  ];
  for (const [domain, sector] of table) {
    it(`of ${domain} is ${sector}`, () => assert.equal(sectorOf(domain), sector));
  }
});

describe('decideSector', () => {
  const pageWith = (...types: readonly string[]): Page => ({
    ...{ title: null, metas: {}, assets: [], markers: [], isTruncated: false, types },
  });
  const decide = (domain: string, page: Page | null, list: Record<string, Sector> = {}) =>
    decideSector(domain, { list: new Map(Object.entries(list)), page });

  it('goes by the operator’s list, then the suffix, then the page', () => {
    const hospital = pageWith('Organization', 'Hospital');
    assert.deepEqual(decide('ox.ac.uk', hospital, { 'ox.ac.uk': 'health' }), { sector: 'health', source: 'list' });
    assert.deepEqual(decide('ox.ac.uk', hospital), { sector: 'education_research', source: 'suffix' });
    assert.deepEqual(decide('example.com', hospital), { sector: 'health', source: 'page' });
  });

  it('is unknown, and told by nothing, without any of them', () => {
    const unknown = { sector: 'unknown', source: null };
    assert.deepEqual(decide('example.com', null), unknown);
    assert.deepEqual(decide('example.com', pageWith('Organization', '__proto__', 'constructor')), unknown);
  });

  it('is unknown where a page speaks of several', () => {
    assert.equal(decide('example.com', pageWith('Hospital', 'CollegeOrUniversity')).sector, 'unknown');
    assert.equal(decide('example.com', pageWith('Hospital', 'MedicalClinic')).sector, 'health');
  });
});

describe('sectorListOf', () => {
  it('reads rows, a heading before them or not', () => {
    const rows = [
      ['example.com', 'health'],
      ['WWW.Example.co.uk', ' media '],
    ];
    assert.deepEqual(
      [...sectorListOf(rows)],
      [
        ['example.com', 'health'],
        ['example.co.uk', 'media'],
      ],
    );
    assert.deepEqual(sectorListOf([['Domain', 'Sector'], ...rows]), sectorListOf(rows));
    assert.equal(sectorListOf([]).size, 0);
  });

  it('takes nothing of a list with wrong rows, and tells them all', () => {
    const rows = [
      ['example.com', 'health'],
      ['example.com', 'media'],
      ['nonsense', 'health'],
      ['a.com', 'x'],
      ['b.com'],
      ['c.com', 'media', ''],
    ];
    assert.throws(
      () => sectorListOf(rows),
      (error: SectorListError) => {
        assert.deepEqual(
          error.problems.map((problem) => problem.slice(0, 5)),
          ['row 2', 'row 3', 'row 4', 'row 5', 'row 6'],
        );
        return true;
      },
    );
  });

  it('makes another rulebook, under which a domain has another sector', () => {
    const sectors = sectorListOf([['example.com', 'health']]);
    const listed = compileRulebook(loadCatalog(testEntries), { sectors });
    assert.notEqual(listed.version, testRulebook.version);
    const { sector, sectorSource } = detect(evidenceOf(), listed);
    assert.deepEqual([sector, sectorSource], ['health', 'list']);
  });
});

describe('the page of another', () => {
  it('tells no sector', () => {
    const http = { url: 'https://other.test/', page: { types: ['Hospital'] } };
    assert.equal(detect(evidenceOf({ http }), testRulebook).sector, 'unknown');
    assert.equal(detect(evidenceOf({ http: { ...http, url: 'https://example.com/' } }), testRulebook).sector, 'health');
  });
});
