// How far it is proved which model answers; docs/trust.md says what each level shows and what it does not.
import { z } from 'zod';

/** From the weakest to the strongest. */
const LEVELS = ['claimed', 'audited', 'pinned'] as const;

export const Verified = z.object({
  level: z.enum(LEVELS),
  /** One printable ASCII sentence without quotation marks. */
  reason: z.string(),
});
export type Verified = z.infer<typeof Verified>;

/** The weakest; undefined for none. */
export function weakest(all: Iterable<Verified>): Verified | undefined {
  let min: Verified | undefined;
  for (const each of all) {
    if (!min || LEVELS.indexOf(each.level) < LEVELS.indexOf(min.level)) min = each;
    if (min.level === LEVELS[0]) break;
  }
  return min;
}
