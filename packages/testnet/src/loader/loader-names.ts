// Names of a loaded world: two or three syllables, and a number in the rare case of a duplicate.
import { type Random, randomFor } from '../random.ts';

const ONSETS = 'b bl br c cl cr d dr f fl g gr h j k l m n p pl pr qu r s sh sl st t tr v w z'.split(' ');
const RIMES = 'a an ar e el en er i in ir o on or u um ax ex ix ox ea io ou ay'.split(' ');
/** Share of names that end in `.com`. */
const COM_SHARE = 0.4;
/** The other suffixes, common ones repeated. */
const OTHER_SUFFIXES = (
  'de de de de co.uk co.uk co.uk org org org net net net nl nl fr fr io io it es pl ch at be se dk fi no cz eu ie pt gr ' +
  'ca com.au co.jp com.br co.nz in mx us info biz gov edu ai dev app'
).split(' ');

/** Each call returns a new name. */
export function nameMaker(seed: string): (random: Random) => string {
  const taken = new Set<string>();
  const spare = randomFor(seed, 'loaded names');
  return (random) => {
    let label = '';
    for (let syllables = random.between(2, 3); syllables > 0; syllables -= 1)
      label += random.pick(ONSETS) + random.pick(RIMES);
    const suffix = random.chance(COM_SHARE) ? 'com' : random.pick(OTHER_SUFFIXES);
    let name = `${label}.${suffix}`;
    while (taken.has(name)) name = `${label}${spare.between(2, 9_999)}.${suffix}`;
    taken.add(name);
    return name;
  };
}
