// Companies of one owner, who has one account for all of them: `summit-yachts.com` and `summitlabs.io`.
import { type Mint, mintFor, randomFor } from '../random.ts';
import { firstWordOf } from './names.ts';

/** Share of first words whose companies have a common owner. */
const OWNED_SHARE = 0.4;

/** The names of the company with the ids and numbers of its owner's accounts; its own where it has no owner. */
export function ownerMintFor(seed: string, domain: string): Mint {
  const own = mintFor(seed, domain);
  const word = firstWordOf(domain);
  if (word === undefined || !randomFor(seed, word, 'owner').chance(OWNED_SHARE)) return own;
  const { number, hex, code } = mintFor(seed, `${word}-group`);
  return { ...own, number, hex, code };
}
