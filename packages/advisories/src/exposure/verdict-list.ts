// The verdicts of advisories on one build of a product: verdict and reason of each, in one byte.
import type { Judgement, Reason } from '../judge/judge.ts';

/** Verdict and reason as one code; unaffected builds have no entry. */
export type VerdictCode = number;

const CODES = [
  { verdict: 'affected', reason: 'in_range' },
  { verdict: 'possible', reason: 'no_version' },
  { verdict: 'possible', reason: 'no_range' },
  { verdict: 'possible', reason: 'condition' },
  { verdict: 'possible', reason: 'backport' },
] as const satisfies readonly { readonly verdict: Judgement['verdict']; readonly reason: Reason }[];

export type Verdict = (typeof CODES)[number];

/** Undefined for unaffected. */
export function codeOf({ verdict, reason }: Judgement): VerdictCode | undefined {
  const code = CODES.findIndex((each) => each.verdict === verdict && each.reason === reason);
  return code === -1 ? undefined : code;
}

export const verdictOf = (code: VerdictCode): Verdict => CODES[code] as Verdict;
const AFFECTED: VerdictCode = 0;
export const isAffected = (code: VerdictCode): boolean => code === AFFECTED;

/** By number of the advisory: rows that are affected, and rows that are possibly affected. */
export interface RowCounts {
  readonly version: Uint32Array;
  readonly product: Uint32Array;
}

/** Sorted by the number of the advisory. */
export class VerdictList {
  #numbers = new Uint32Array(8);
  #codes = new Uint8Array(8);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  numberAt = (index: number): number => this.#numbers[index] as number;
  codeAt = (index: number): VerdictCode => this.#codes[index] as VerdictCode;

  /** Undefined if the advisory does not affect the build. */
  find(number: number): VerdictCode | undefined {
    const index = this.#indexOf(number);
    return index < this.#length && this.#numbers[index] === number ? this.#codes[index] : undefined;
  }

  /** `number` must be larger than all numbers in the list. */
  push(number: number, code: VerdictCode): void {
    if (this.#length === this.#numbers.length) this.#grow();
    this.#numbers[this.#length] = number;
    this.#codes[this.#length] = code;
    this.#length += 1;
  }

  delete(number: number): void {
    const index = this.#indexOf(number);
    if (index >= this.#length || this.#numbers[index] !== number) return;
    this.#numbers.copyWithin(index, index + 1, this.#length);
    this.#codes.copyWithin(index, index + 1, this.#length);
    this.#length -= 1;
  }

  /**
   * Adds `size` to the row count of each advisory in the list, by its number; with `of`, only where that is 1. Returns
   * whether any was affected, or possibly affected. One answer visits a quarter of a million advisories for a few hundred
   * builds, which is why this is a plain loop over arrays.
   */
  countInto(rows: RowCounts, size: number, of?: Uint8Array) {
    const numbers = this.#numbers;
    const codes = this.#codes;
    let hasVersion = false;
    let hasProduct = false;
    for (let index = 0; index < this.#length; index += 1) {
      const number = numbers[index] as number;
      if (of !== undefined && of[number] !== 1) continue;
      if (codes[index] === AFFECTED) {
        rows.version[number] = (rows.version[number] as number) + size;
        hasVersion = true;
      } else {
        rows.product[number] = (rows.product[number] as number) + size;
        hasProduct = true;
      }
    }
    return { hasVersion, hasProduct };
  }

  #indexOf(number: number): number {
    let low = 0;
    let high = this.#length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#numbers[middle] as number) < number) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #grow(): void {
    const numbers = new Uint32Array(this.#numbers.length * 2);
    numbers.set(this.#numbers);
    this.#numbers = numbers;
    const codes = new Uint8Array(this.#codes.length * 2);
    codes.set(this.#codes);
    this.#codes = codes;
  }
}
