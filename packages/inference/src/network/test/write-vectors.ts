// Writes vectors/network; a test compares the files with the code.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { networkVectors } from './vectors.ts';

const directory = path.join(import.meta.dirname, '../../../../../vectors/network');
mkdirSync(directory, { recursive: true });
for (const [name, value] of Object.entries(networkVectors()))
  writeFileSync(path.join(directory, name), `${JSON.stringify(value, null, 2)}\n`);
