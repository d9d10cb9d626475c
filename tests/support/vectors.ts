// Test vectors: files that programs in other languages can read, too.
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The JSON of a file in vectors/, of the type that the caller knows. */
export const vectorsIn = <Vectors>(file: string): Vectors =>
  JSON.parse(readFileSync(path.join(import.meta.dirname, '../../vectors', file), 'utf8'));

/** A table of inputs and expected outputs, by its name in a file of vectors/cases/. @throws Error if it is not there, or empty. */
export function casesOf<Cases>(file: string, name: string): Cases {
  const cases = vectorsIn<Readonly<Record<string, Cases>>>(`cases/${file}.json`)[name];
  if (cases === undefined || Object.keys(Object(cases)).length === 0) throw new Error(`no ${name} in ${file}.json`);
  return cases;
}
