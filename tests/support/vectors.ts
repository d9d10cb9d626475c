// Test vectors: files that programs in other languages can read, too.
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The JSON of a file in vectors/, of the type that the caller knows. */
export const vectorsIn = <Vectors>(file: string): Vectors =>
  JSON.parse(readFileSync(path.join(import.meta.dirname, '../../vectors', file), 'utf8'));
