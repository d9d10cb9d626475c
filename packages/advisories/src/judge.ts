// Whether a seen product is affected by an advisory.
import type { Advisory, ProductKey, RangeSource } from './advisory.ts';

/** A product that detection saw at a domain. */
export interface SeenProduct {
  /** Every name that publishers know it by. */
  readonly keys: readonly ProductKey[];
  /** As the header or page showed it, `1.18.0`; null when none was shown. */
  readonly version: string | null;
  /** `ubuntu` where the version's maker was said to be a distribution, `win64` and the like where that was; lower case. */
  readonly platform: string | null;
}

export type Reason =
  /** In range, and everything else that the advisory asks for is known to hold. */
  | 'in_range'
  /** Surely in no affected range. */
  | 'out_of_range'
  /** The advisory does not name the product, or only as a place that another runs on. */
  | 'other_product'
  | 'no_version'
  /** The publishers give no range that can be compared. */
  | 'no_range'
  /** In range, but only together with something that was not seen. */
  | 'condition'
  /** In range, but a distribution mends old versions without a new number. */
  | 'backport';

export interface Judgement {
  /** `affected` only when a version was seen and is in range; `possible` when it cannot be told. */
  readonly verdict: 'affected' | 'possible' | 'unaffected';
  readonly reason: Reason;
  /** Whose ranges decided; null when none could. */
  readonly rangeSource: RangeSource | null;
  /** The ranges of this product in words, `>= 1.18.0, < 1.25.3`; null when there are none. */
  readonly range: string | null;
}

/** Pure; the advisory's claims are tried in the order of `RANGE_SOURCES`, and the first that decides is believed. */
export declare function judge(advisory: Pick<Advisory, 'claims'>, product: SeenProduct): Judgement;
