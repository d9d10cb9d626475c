// Texts as evidence: short ones whole, and of what a hostile zone floods us with the beginning.
import type { Lookup } from '@strata/detect';

/** Characters kept of one name's texts: several times the longest honest key or policy. */
const MAX_CHARACTERS = 8_192;

/** The texts up to a limit that no honest name below a domain reaches; what was cut is told. */
export function cutTexts(lookup: Lookup<string>): Lookup<string> {
  let room = MAX_CHARACTERS;
  const records: string[] = [];
  for (const record of lookup.records) {
    if (room === 0) break;
    records.push(record.slice(0, room));
    room -= records.at(-1)?.length ?? 0;
  }
  const isWhole = records.length === lookup.records.length && records.at(-1) === lookup.records.at(-1);
  return isWhole ? lookup : { ...lookup, records, detail: `cut after ${MAX_CHARACTERS} characters of text` };
}
