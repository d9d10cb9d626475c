import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sectorOf } from './sector.ts';

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
