import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { readCveRecord } from './cve-record.ts';
import { isEpssColumns, readEpssHead, readEpssRow } from './epss.ts';
import { readKev } from './kev.ts';
import { readNvdRecord } from './nvd.ts';
import { readOsvRecord } from './osv.ts';
import { recognise } from './recognise.ts';

const root = path.join(import.meta.dirname, '../../../../vectors/advisories');

const readers: Record<string, (document: never) => unknown> = {
  nvd: readNvdRecord,
  'cve-record': readCveRecord,
  osv: readOsvRecord,
  kev: readKev,
  epss: ({ lines }: { lines: string[] }) => {
    const [head = '', columns = '', ...rows] = lines;
    assert.ok(isEpssColumns(columns.split(',')));
    return { head: readEpssHead(head), scores: rows.map((row) => readEpssRow(row.split(','))) };
  },
};

describe('documents of publishers are read as the vectors say', () => {
  for (const [kind, read] of Object.entries(readers)) {
    const files = globSync(`${root}/${kind}/*.json`);
    it(`there are vectors of ${kind}`, () => assert.ok(files.length > 0));
    for (const file of files) {
      const vector = JSON.parse(readFileSync(file, 'utf8'));
      const isWhole = kind !== 'nvd' && kind !== 'epss' && vector.read.ok !== false;
      it(`${kind}/${path.basename(file, '.json')}: ${vector.what}`, () => {
        assert.deepEqual(read(vector.document as never), vector.read);
        assert.equal(recognise(vector.document), isWhole ? kind : 'unknown');
      });
    }
  }
});
