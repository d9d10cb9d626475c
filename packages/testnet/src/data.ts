// Reads the data files of the simulated internet: tables with one JSON object a line.
import { readFileSync } from 'node:fs';
import path from 'node:path';

const directory = path.join(import.meta.dirname, '../data');

/** The rows of `data/NAME.jsonl`, in the order of the file. */
export function readRows<Row>(name: string): Row[] {
  const lines = readFileSync(path.join(directory, `${name}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n');
  return lines.map((line) => JSON.parse(line));
}
