import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { GENERATED, typesOf } from './write-types.ts';

for (const generated of GENERATED)
  it(`the generated ${generated.target} is what ${generated.source} says; \`npm run openapi\` rewrites it`, () =>
    assert.equal(readFileSync(path.join(import.meta.dirname, generated.target), 'utf8'), typesOf(generated)));
