// docs/detection.md has the table of categories that the code has, and every field of the format.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { KINDS } from '../kinds.ts';
import { setCategoryOf } from './categories.ts';
import { Technology, UNSEEN_FIELDS } from './technology.ts';

const page = readFileSync(path.join(import.meta.dirname, '../../../../docs/detection.md'), 'utf8');
const [, section = ''] = /\n## Community sets\n([\s\S]*?)\n## /.exec(page) ?? [];
/** One above the last public id. */
const IDS = Array.from({ length: 113 }, (_, id) => id);

describe('docs/detection.md on community sets', () => {
  it('has the categories of the code, and all that are public', () => {
    const rows = [...section.matchAll(/^\| ([^|]+) \| `([a-z_]+)` \| ([^|]+) \|$/gm)];
    const documented = rows.flatMap(([, kinds = '', category = '', names = '']) =>
      names
        .split('; ')
        .map((name) => [name, { category, kinds: [...kinds.matchAll(/`([a-z-]+)`/g)].map(([, kind]) => kind) }]),
    );
    const coded = IDS.flatMap((id) => setCategoryOf(id, new Map()) ?? []);
    assert.equal(coded.length, 109);
    assert.deepEqual(
      Object.fromEntries(documented),
      Object.fromEntries(coded.map(({ name, category, kinds }) => [name, { category, kinds }])),
    );
    for (const { kinds } of coded) for (const kind of kinds) assert.ok(KINDS.includes(kind), kind);
  });

  it('names every field of the format', () => {
    const passedOver = ['cats', 'website', 'cpe'];
    for (const field of [...Object.keys(Technology.shape), ...UNSEEN_FIELDS].filter(
      (each) => !passedOver.includes(each),
    )) {
      assert.ok(section.includes(`\`${field}\``), field);
    }
  });
});
